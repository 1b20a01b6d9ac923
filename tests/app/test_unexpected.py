"""Where an error that nobody foresaw is written down, and who can read it."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from app.catalogue import Catalogue
from app.errors_text import explain
from app.unexpected import note_unexpected
from configs.home import Home


def test_its_log_is_for_the_owner_s_eyes_alone(home: Home) -> None:
    note_unexpected(ValueError("something said"), os.environ)
    (log,) = home.logs.iterdir()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    note_unexpected(ValueError("something else"), os.environ)
    assert log.read_text(encoding="utf-8").count("ValueError: something") == 2


def test_without_a_home_it_is_a_new_file_under_a_name_that_nobody_foresees(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.logs.rmdir()
    folder, victim = tmp_path / "temporary", tmp_path / "victim"
    folder.mkdir()
    victim.write_text("mine")
    (folder / "command.log").symlink_to(victim)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    told = {note_unexpected(ValueError("something said"), os.environ).facts["log"] for _ in range(2)}
    kept = {str(path) for path in folder.iterdir() if not path.is_symlink()}
    assert (told, len(kept)) == (kept, 2)
    for path in map(Path, kept):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "ValueError: something said" in path.read_text(encoding="utf-8")
    assert victim.read_text() == "mine"


def test_where_no_log_can_be_written_that_is_said(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.logs.rmdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    explained = explain(note_unexpected(ValueError("something said"), os.environ), Catalogue("en"))
    assert "ValueError" in explained.what
    assert "could not be kept" in explained.next
