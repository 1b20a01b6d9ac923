"""Files are whole or not there, whoever writes them and whatever comes in between."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from configs.disk import put_in_place, write_whole


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder."""
    made = tmp_path / "folder"
    made.mkdir()
    return made


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("lasting", [False, True])
def test_a_file_takes_the_place_of_the_one_before_and_is_its_owners_alone(
    folder: Path, alone: bool, lasting: bool
) -> None:
    path = folder / "file.json"
    path.write_bytes(b"before")
    path.chmod(0o644)
    write_whole(path, b"[1,", b" 2]", alone=alone, lasting=lasting)
    assert path.read_bytes() == b"[1, 2]"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(folder.iterdir()) == [path]


@pytest.mark.parametrize("alone", [False, True])
def test_what_cannot_be_written_to_its_end_leaves_what_was_there_and_nothing_beside_it(
    folder: Path, alone: bool
) -> None:
    path = folder / "file.json"
    path.write_bytes(b"before")

    def write_half() -> None:
        with put_in_place(path, alone=alone) as aside:
            aside.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "no room")

    with pytest.raises(OSError, match="no room"):
        write_half()
    assert path.read_bytes() == b"before"
    assert list(folder.iterdir()) == [path]


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("alone", [False, True])
def test_a_link_stays_one_and_what_it_leads_to_is_written_also_where_nothing_is_there_yet(
    folder: Path, tmp_path: Path, there: bool, alone: bool
) -> None:
    kept = tmp_path / "elsewhere" / "kept.json"
    kept.parent.mkdir()
    if there:
        kept.write_bytes(b"before")
    (folder / "file.json").symlink_to(kept)
    write_whole(folder / "file.json", b"after", alone=alone)
    assert (folder / "file.json").is_symlink()
    assert kept.read_bytes() == b"after"
    assert (os.listdir(folder), os.listdir(kept.parent)) == (["file.json"], ["kept.json"])


def test_what_a_killed_process_left_is_written_over_where_nobody_else_writes(folder: Path) -> None:
    path = folder / "checkpoint.bin"
    (folder / "checkpoint.bin.part").write_bytes(b"half of an earlier one, which was longer")
    write_whole(path, b"whole", alone=True)
    assert path.read_bytes() == b"whole"
    assert list(folder.iterdir()) == [path]


def test_two_who_write_the_same_file_at_a_time_do_not_mix(folder: Path) -> None:
    path, begun = folder / "file.json", threading.Barrier(2)

    def write(content: bytes) -> None:
        begun.wait()
        for _ in range(100):
            write_whole(path, content, lasting=False)
            assert path.read_bytes() in contents

    contents = [letter * 50_000 for letter in (b"a", b"b")]
    failed: list[object] = []
    hook, threading.excepthook = threading.excepthook, lambda told: failed.append(told.exc_value)
    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    try:
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        threading.excepthook = hook
    assert failed == []
    assert os.listdir(folder) == ["file.json"]
