"""Which files of a home are in a backup, while the home changes, and under which names."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.backup.aside import aside
from app.backup.errors import HomeUnreadable
from app.backup.gathering import _Source
from configs.home import Home
from tests.app.backup.conftest import Family, names, restore, verify
from trainer.night.markers import Markers


def test_links_to_files_and_folders_elsewhere_are_followed(family: Family, tmp_path: Path) -> None:
    family.home.models.rename(tmp_path / "big-disk")
    family.home.models.symlink_to(tmp_path / "big-disk")
    (tmp_path / "big-disk" / "again").symlink_to(tmp_path / "big-disk")
    family.home.config_file.rename(tmp_path / "mine.yaml")
    family.home.config_file.symlink_to(tmp_path / "mine.yaml")
    kept = names(family.create(tmp_path / "casa.tar").file)
    assert {"models/casa.gguf", "config.yaml"} <= kept
    assert not [name for name in kept if name.startswith("models/again")]


def test_what_was_a_removed_members_is_in_no_backup(family: Family, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(family.home.family_db)) as opened, opened:
        opened.execute("UPDATE members SET removed_at = 1 WHERE id = ?", (family.ana,))
    assert not [name for name in names(family.create(tmp_path / "casa.tar").file) if family.ana in name]


def test_a_training_that_a_process_has_claimed_is_one_that_is_due_in_the_copy(family: Family, tmp_path: Path) -> None:
    markers = Markers(family.home.night, 60, time.monotonic)
    assert markers.claim(markers.write(1.0, 5, "r0001")) is not None
    kept = names(family.create(tmp_path / "casa.tar").file)
    assert {name for name in kept if name.startswith("night/")} == {"night/0001.pending"}
    restore(Home(tmp_path / "new"), tmp_path / "casa.tar")
    due = Markers(tmp_path / "new" / "night", 60, time.monotonic).open()
    assert due is not None
    assert (due.state, due.pairs, due.judged) == ("pending", 5, "r0001")
    # Given back while the folder is listed.
    (family.home.night / "0001.pending").write_bytes(b"{}")
    assert verify(family.create(tmp_path / "again.tar").file)


def test_a_folder_that_is_removed_while_the_home_is_listed_keeps_no_backup_from_being_made(
    family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, scandir = family.home.runs / "gone", os.scandir
    gone.mkdir()

    def vanishes(folder: Path) -> Iterator[os.DirEntry[str]]:
        if folder == gone:
            gone.rmdir()
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", vanishes)
    assert family.create(tmp_path / "casa.tar").files
    assert not gone.exists()


def test_a_file_that_never_gives_as_much_as_it_promises_is_damaged_and_not_tried_for_ever(
    family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, tries = _Source.read, []

    def ends(source: _Source, size: int) -> bytes:
        if source.file.name != str(family.home.config_file):
            return read(source, size)
        tries.append(size)
        assert len(tries) < 100
        return b""

    monkeypatch.setattr(_Source, "read", ends)
    made = family.create(tmp_path / "casa.tar", skip_damaged=True)
    assert [(each.path, each.why) for each in made.without] == [("config.yaml", "damaged")]
    assert len(tries) == 3


def test_what_cannot_be_read_of_the_home_is_not_told_of_the_backup(
    family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, found = family.home.member_db(family.ana), Path.stat

    def refuses(asked: Path, **how: bool) -> os.stat_result:
        if asked == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return found(asked, **how)

    monkeypatch.setattr(Path, "stat", refuses)
    with pytest.raises(HomeUnreadable) as refused:
        family.create(tmp_path / "casa.tar")
    assert refused.value.facts["path"] == str(path)


def test_a_folder_that_is_cleared_away_before_it_is_held_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock, folder = fcntl.flock, tmp_path / "disk"
    folder.mkdir()
    cleared: list[Path] = []

    def late(handle: int, how: int) -> None:
        if not cleared:
            cleared.extend(folder.iterdir())
            cleared[0].rmdir()
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with aside(folder, "casa.tar") as work:
        (work / "backup").write_bytes(b"words")
        assert [work] != cleared
    assert list(folder.iterdir()) == []
