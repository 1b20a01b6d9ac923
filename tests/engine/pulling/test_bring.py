"""A file of the family's own comes into the home whole and checked, copied or linked, and never over another."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import Settings
from engine.errors import ModelBroken
from engine.fingerprint import file_sha256
from engine.pulling import bring as bringing
from engine.pulling.bring import bring
from engine.pulling.errors import (
    LinkImpossible,
    ModelExists,
    ModelNameWrong,
    ModelUnwritable,
    NoModelFile,
    NoRoomForModel,
)
from engine.pulling.events import Checking, Event, Pulled
from tests.engine.pulling.hub import small_model


class Bringer:
    def __init__(self, home: Home, settings: Settings) -> None:
        self.home, self.settings, self.events = home, settings.engine, list[Event]()

    def __call__(self, path: Path, name: str | None = None, *, link: bool = False) -> Pulled:
        return asyncio.run(bring(self.home, path, self.settings, self.events.append, name=name, link=link))

    def files(self) -> list[str]:
        return sorted(path.name for path in self.home.models.iterdir() if path.name != "hashes.json")


@pytest.fixture
def bringer(home: Home, settings: Settings) -> Bringer:
    return Bringer(home, settings)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "Mi modelo.gguf"
    small_model(path)
    return path


def test_a_copy_is_named_after_its_file_and_its_checksum_is_known(bringer: Bringer, own: Path) -> None:
    brought = bringer(own)
    assert (brought.name, bringer.files()) == ("Mi-modelo", ["Mi-modelo.gguf"])
    assert brought.path.read_bytes() == own.read_bytes()
    assert brought.sha256 == file_sha256(bringer.home, brought.path)
    assert not brought.path.samefile(own)
    assert isinstance(bringer.events[-1], Checking)


def test_a_link_takes_no_room(bringer: Bringer, own: Path) -> None:
    assert bringer(own, "linked", link=True).path.samefile(own)
    assert bringer.files() == ["linked.gguf"]


def test_a_link_to_a_link_leads_to_the_file(bringer: Bringer, own: Path, tmp_path: Path) -> None:
    (tmp_path / "short.gguf").symlink_to(own)
    brought = bringer(tmp_path / "short.gguf", link=True)
    assert brought.path.samefile(own)
    assert not brought.path.is_symlink()


def test_a_link_to_a_disk_that_is_not_there_is_not_replaced(bringer: Bringer, own: Path, tmp_path: Path) -> None:
    place = bringer.home.models / "away.gguf"
    place.symlink_to(tmp_path / "unplugged" / "away.gguf")
    for link in (True, False):
        with pytest.raises(ModelExists):
            bringer(own, "away", link=link)
    assert place.is_symlink()


@pytest.mark.parametrize("link", [True, False])
def test_what_is_no_model_never_comes_in(bringer: Bringer, own: Path, tmp_path: Path, link: bool) -> None:
    (tmp_path / "text.gguf").write_text("I am a text.\n" * 99)
    (tmp_path / "short.gguf").write_bytes(own.read_bytes()[:-9])
    small_model(tmp_path / "adapter.gguf", kind="adapter")
    os.mkfifo(tmp_path / "pipe.gguf")
    for name in ("text.gguf", "short.gguf", "adapter.gguf", "pipe.gguf", "."):
        with pytest.raises(ModelBroken) as caught:
            bringer(tmp_path / name, "new", link=link)
        assert str(tmp_path / name) == caught.value.facts["path"]
    with pytest.raises(NoModelFile):
        bringer(tmp_path / "missing.gguf", "new", link=link)
    assert bringer.files() == []


def test_the_same_file_again_is_no_error_and_another_of_that_name_is(
    bringer: Bringer, own: Path, tmp_path: Path
) -> None:
    bringer(own, "one")
    assert bringer(own, "one").already
    assert bringer(own, "one", link=True).already
    small_model(tmp_path / "other.gguf", seed=5)
    with pytest.raises(ModelExists):
        bringer(tmp_path / "other.gguf", "one")
    with pytest.raises(ModelExists):
        bringer(own, "smollm2-135m")


def test_a_name_that_leads_elsewhere_is_refused(bringer: Bringer, own: Path) -> None:
    with pytest.raises(ModelNameWrong):
        bringer(own, "../elsewhere")


def test_a_file_on_another_disk_is_told_to_be_copied(bringer: Bringer) -> None:
    memory = Path("/dev/shm")  # noqa: S108 - another file system, on purpose
    if not memory.is_dir() or memory.stat().st_dev == bringer.home.models.stat().st_dev:
        pytest.skip("there is no other file system here")
    path = memory / f"enlace-{os.getpid()}.gguf"
    try:
        small_model(path)
        with pytest.raises(LinkImpossible):
            bringer(path, "linked", link=True)
        assert bringer(path, "linked").name == "linked"
    finally:
        path.unlink(missing_ok=True)


def test_a_file_that_changes_while_it_is_copied_is_not_taken(
    bringer: Bringer, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bringing, "BLOCK", 1 << 20)

    def meddle(event: Event) -> None:
        with own.open("ab") as file:
            file.write(b"more")

    with pytest.raises(ModelUnwritable):
        asyncio.run(bring(bringer.home, own, bringer.settings, meddle))
    assert bringer.files() == []


def test_a_full_disk_is_told_before_anything_is_copied(bringer: Bringer, own: Path) -> None:
    pull = bringer.settings.pull.model_copy(update={"disk_reserve_mb": 1 << 30})
    bringer.settings = bringer.settings.model_copy(update={"pull": pull})
    with pytest.raises(NoRoomForModel):
        bringer(own)
    assert bringer.files() == []
