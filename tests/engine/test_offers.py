"""The catalogue says of each model what is true of it, and recommends what this machine holds, in Spanish first."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from configs.settings import Settings
from engine.catalogue import STARTER
from engine.fingerprint import file_sha256
from engine.fit import MB
from engine.gguf import check_gguf
from engine.offers import Offer, memory_needed, needs, offers, recommended
from engine.pulling.errors import AddressWrong, ChecksumWrong, ModelNameWrong, ModelUnknown
from engine.pulling.source import checked_name, name_of, shown, source_of

GB = 10**9


def test_the_starter_is_in_the_catalogue_as_it_is(starter: Path, settings: Settings, home: object) -> None:
    offer = next(offer for offer in offers() if offer.name == STARTER)
    summary = check_gguf(starter)
    assert (offer.bytes, offer.context_length) == (summary.file_size, summary.context_length)
    assert offer.cache_bytes_per_token == summary.cache_bytes_per_token
    assert offer.sha256 == file_sha256(home, starter)  # type: ignore[arg-type]
    assert offer.address(settings.engine.hub) is None


def test_every_model_of_the_catalogue_has_a_name_a_licence_and_a_place_of_its_own(settings: Settings) -> None:
    known = offers()
    assert len({offer.name for offer in known}) == len(known) > 10
    addresses = [address for offer in known if (address := offer.address(settings.engine.hub))]
    assert len(set(addresses)) == len(known) - 1
    assert all(address.startswith("https://huggingface.co/") for address in addresses)
    # A checksum is of one file only: where it is known, the revision is one that cannot move.
    assert all(len(offer.revision or "") == 40 for offer in known if offer.sha256 and not offer.package)


@pytest.mark.parametrize(
    "change", [{"package": "x"}, {"file": "../x"}, {"sha256": "abc"}, {"bytes": 0}, {"languages": ()}, {"size": 3}]
)
def test_an_entry_that_cannot_be_is_refused(change: dict[str, object]) -> None:
    sound = next(offer for offer in offers() if not offer.package).model_dump()
    Offer.model_validate(sound)
    with pytest.raises(ValidationError):
        Offer.model_validate(sound | change)


@pytest.mark.parametrize(
    ("memory", "gpu_layers", "name"),
    [
        (3 * GB, 0, "qwen3-0.6b"),
        (4 * GB, 0, "qwen3-1.7b"),
        (6 * GB, 0, "qwen3-4b"),
        (64 * GB, 0, "qwen3-4b"),
        (10 * GB, -1, "qwen3-8b"),
        (64 * GB, -1, "qwen3-14b"),
        (None, -1, "qwen3-14b"),
    ],
)
def test_the_recommended_model_fits_and_speaks_spanish(
    settings: Settings, memory: int | None, gpu_layers: int, name: str
) -> None:
    engine = settings.engine.model_copy(update={"gpu_layers": gpu_layers})
    qwen = [offer for offer in offers() if offer.name.startswith("qwen3") or offer.package]
    best = recommended(qwen, memory, engine, ("es", "en"))
    assert best is not None
    assert (best.name, "es" in best.languages) == (name, True)
    assert memory is None or needs(best, engine) <= memory


def test_where_no_spanish_one_fits_the_best_other_one_is_recommended_and_where_nothing_fits_none(
    settings: Settings,
) -> None:
    best = recommended(offers(), GB, settings.engine, ("es",))
    assert best is not None
    assert best.name == STARTER
    assert recommended(offers(), 100 * MB, settings.engine, ("es",)) is None


def test_the_memory_of_a_model_counts_the_caches_of_all_slots(settings: Settings) -> None:
    engine = settings.engine
    cached = 10 * min(engine.context_size, 1000) * engine.slots
    assert memory_needed(5, 10, 1000, engine) == 5 + cached + engine.memory_reserve_mb * MB


def test_an_address_is_taken_as_a_browser_shows_it_and_named_after_its_file(settings: Settings) -> None:
    address = "https://huggingface.co/Qwen/Qwen3-4B-GGUF/blob/main/Qwen3-4B%20Q4.gguf?download=true#top"
    source = source_of(address, offers(), settings.engine)
    assert source.address == "https://huggingface.co/Qwen/Qwen3-4B-GGUF/resolve/main/Qwen3-4B%20Q4.gguf?download=true"
    assert (source.name, source.size, source.sha256) == ("Qwen3-4B-Q4", None, None)
    assert source_of(address, offers(), settings.engine, name="mía", sha256="A" * 64).sha256 == "a" * 64


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host/x.gguf",
        "file:///etc/x.gguf",
        "https:///x.gguf",
        "https://host/x.bin",
        "https://host:999999/x.gguf",
        "https://host/model-00001-of-00003.gguf",
        "https://[::1/x.gguf",
    ],
)
def test_an_address_that_is_no_models_is_refused(settings: Settings, address: str) -> None:
    with pytest.raises(AddressWrong):
        source_of(address, offers(), settings.engine)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "-x", "a b", "x\0", "ñ" * 60])
def test_a_name_that_could_lead_elsewhere_is_refused(settings: Settings, name: str) -> None:
    with pytest.raises(ModelNameWrong):
        checked_name(name)


def test_names_of_any_language_are_kept_in_one_form() -> None:
    assert checked_name("an\u0303o") == "año"
    assert name_of("/home/ana/Mi modelo  bueno.GGUF") == "Mi-modelo-bueno"


def test_what_is_neither_a_name_nor_an_address_is_told_with_the_names_there_are(settings: Settings) -> None:
    with pytest.raises(ModelUnknown) as caught:
        source_of("qwen99", offers(), settings.engine)
    assert "qwen3-4b" in str(caught.value.facts["known"])
    with pytest.raises(ChecksumWrong):
        source_of("qwen3-4b", offers(), settings.engine, sha256="xyz")


def test_keys_and_passwords_of_an_address_are_not_shown() -> None:
    assert shown("https://me:secret@host:8443/x.gguf?token=secret#secret") == "https://host:8443/x.gguf"
    assert "secret" not in shown("https://me:secret@host:99999999/x.gguf?token=secret")
