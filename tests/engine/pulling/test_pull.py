"""A model that is pulled is whole, right and in place once; what was interrupted goes on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from engine.fingerprint import file_sha256
from engine.offers import Offer
from engine.pulling.errors import (
    ModelExists,
    NoRoomForModel,
    PullDamaged,
)
from engine.pulling.events import Checking, Moved, Pulled, Waiting
from engine.pulling.pull import pull
from engine.pulling.source import Source, source_of
from tests.engine.pulling.conftest import Puller, in_place
from tests.engine.pulling.hub import REPOSITORY, Hub, running, small_model


def test_a_model_is_fetched_in_parts_at_once_and_checked_against_the_hubs_checksum(
    puller: Puller, hub: Hub, model: bytes
) -> None:
    pulled = puller()
    assert in_place(puller, model)
    assert (pulled.sha256, pulled.verified, pulled.already, pulled.size) == (hub.sha256, True, False, len(model))
    assert len({asked.range for asked in hub.asked if asked.path.startswith("/cdn")}) == 1 + -(-len(model) // (1 << 20))
    assert hub.sent <= len(model) + 1
    assert file_sha256(puller.home, pulled.path) == hub.sha256
    moved = puller.told(Moved)
    assert isinstance(moved[-1], Moved)
    assert (moved[-1].done, moved[-1].total) == (len(model), len(model))


def test_an_interrupted_pull_goes_on_where_it_was(puller: Puller, hub: Hub, model: bytes) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(puller.pull())
        while hub.sent < 2_000_000:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    hub.bytes_per_s = 4_000_000
    asyncio.run(cancelled())
    assert puller.files() == ["model.gguf.part", "model.gguf.part.json"]
    kept = sum(
        end - start for start, end in json.loads((puller.home.models / "model.gguf.part.json").read_text())["spans"]
    )
    assert kept > 1_000_000
    hub.sent, hub.bytes_per_s = 0, None
    pulled = puller()
    assert in_place(puller, model)
    assert pulled.resumed == kept
    assert hub.sent <= len(model) - kept + 8 * 65536  # the connections that broke off may still count


@pytest.mark.parametrize("journal", ["", "{", "[]", '{"file": {}, "spans": [[0, 5]]}', None])
def test_a_part_without_a_sound_journal_is_not_trusted(puller: Puller, model: bytes, journal: str | None) -> None:
    (puller.home.models / "model.gguf.part").write_bytes(b"x" * len(model))
    if journal is not None:
        (puller.home.models / "model.gguf.part.json").write_text(journal)
    puller()
    assert in_place(puller, model)


def test_two_pulls_of_one_model_fetch_it_once(puller: Puller, hub: Hub, model: bytes) -> None:
    async def both() -> tuple[Pulled, Pulled]:
        return await asyncio.gather(puller.pull(), puller.pull())

    hub.bytes_per_s = 20_000_000
    first, second = asyncio.run(both())
    assert in_place(puller, model)
    assert sorted([first.already, second.already]) == [False, True]
    assert Waiting() in puller.events
    assert hub.sent <= len(model) + 2


def test_a_disk_that_is_too_full_is_told_before_anything_is_fetched(puller: Puller, hub: Hub) -> None:
    with pytest.raises(NoRoomForModel) as caught:
        puller(disk_reserve_mb=1 << 30)
    assert caught.value.facts["needed_mb"] > caught.value.facts["available_mb"]  # type: ignore[operator]
    assert hub.sent <= 1


def test_a_checksum_that_a_person_gives_is_held_to(puller: Puller, hub: Hub, model: bytes) -> None:
    hub.linked = False
    with pytest.raises(PullDamaged):
        puller(Source("model", hub.url, sha256="0" * 64))
    assert puller.files() == []
    assert puller(Source("model", hub.url, sha256=hub.sha256)).verified
    assert in_place(puller, model)


def test_the_same_model_again_is_fetched_no_second_time_and_another_of_that_name_is_refused(
    puller: Puller, hub: Hub, other: bytes
) -> None:
    puller()
    hub.sent = 0
    assert puller().already
    assert hub.sent <= 1
    assert puller(Source("model", hub.url, len(hub.content), hub.sha256)).already
    hub.content = other
    with pytest.raises(ModelExists):
        puller()


def test_a_link_to_a_disk_that_is_not_there_is_not_replaced(puller: Puller, hub: Hub, tmp_path: Path) -> None:
    place = puller.home.models / "model.gguf"
    place.symlink_to(tmp_path / "unplugged" / "model.gguf")
    with pytest.raises(ModelExists):
        puller()
    assert place.is_symlink()


def test_the_hubs_token_goes_to_the_hub_alone(puller: Puller, hub: Hub, model: bytes) -> None:
    with running(Hub(content=model, redirects=False, linked=False)) as elsewhere:
        hub.location = f"{elsewhere.address}/file"
        settings = puller.settings().model_copy(update={"hub_token": "secret"})
        asyncio.run(pull(puller.home, Source("model", hub.url), settings, puller.events.append))
    assert {asked.authorization for asked in hub.asked} == {"Bearer secret"}
    assert {asked.authorization for asked in elsewhere.asked} == {None}


def test_a_name_of_the_catalogue_leads_to_the_hub_of_the_settings(puller: Puller, hub: Hub, model: bytes) -> None:
    offer = Offer(
        name="small", title="Small", repository=REPOSITORY, revision="main", file="model.gguf", bytes=len(model),
        sha256=hub.sha256, licence="Apache-2.0", languages=("es",), context_length=128, cache_bytes_per_token=256,
    )  # fmt: skip
    pulled = puller(source_of("small", (offer,), puller.settings()))
    assert (pulled.name, pulled.verified) == ("small", True)
    assert hub.asked[0].path == f"/{REPOSITORY}/resolve/main/model.gguf"


@pytest.mark.parametrize("ranges", [True, False])
def test_the_checksum_of_a_long_file_is_right_though_it_is_begun_anew_on_the_way(
    puller: Puller, hub: Hub, tmp_path: Path, ranges: bool
) -> None:
    hub.content = small_model(tmp_path / "long.gguf", megabytes=40)
    hub.ranges = hub.claims_ranges = ranges
    hub.drops, hub.drop_after, hub.bytes_per_s = 1, 35_000_000 if not ranges else 500_000, 80_000_000
    pulled = puller(part_mb=4, progress_s=0.01)
    assert pulled.verified
    assert in_place(puller, hub.content)
    assert len(puller.told(Checking)) <= 2  # the rest was taken in on the way
