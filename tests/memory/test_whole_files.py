"""What a member exports: theirs alone to read, and never half of it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from memory.errors import FileInTheWay, FileNotWritten
from memory.whole_files import write_new, write_whole


def test_an_exported_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    write_whole(tmp_path / "chats.md", "¿Qué?")
    assert stat.S_IMODE((tmp_path / "chats.md").stat().st_mode) == 0o600
    assert (tmp_path / "chats.md").read_text(encoding="utf-8") == "¿Qué?"


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    folder = tmp_path / "exported"
    (folder / "chats.md").mkdir(parents=True)
    with pytest.raises(FileNotWritten):
        write_whole(folder / "chats.md", "¿Qué?")
    assert [path.name for path in folder.iterdir()] == ["chats.md"]


def test_a_file_that_somebody_names_takes_the_place_of_nothing(tmp_path: Path) -> None:
    write_new(tmp_path / "chats.md", "¿Qué?")
    (tmp_path / "link.md").symlink_to("elsewhere.md")
    for there in ("chats.md", "link.md"):
        with pytest.raises(FileInTheWay):
            write_new(tmp_path / there, "")
    assert (tmp_path / "chats.md").read_text(encoding="utf-8") == "¿Qué?"
    assert (tmp_path / "link.md").is_symlink()
