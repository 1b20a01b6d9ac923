"""Where an error that nobody foresaw is written down, and who can read it."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from app.unexpected import note_unexpected
from configs.home import Home


def test_its_log_is_for_the_owner_s_eyes_alone(home: Home) -> None:
    note_unexpected(ValueError("something said"), os.environ)
    (log,) = home.logs.iterdir()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    note_unexpected(ValueError("something else"), os.environ)
    assert log.read_text(encoding="utf-8").count("ValueError: something") == 2


def test_a_link_that_lies_in_the_temporary_folder_is_not_followed(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.logs.rmdir()
    folder, victim = tmp_path / "temporary", tmp_path / "victim"
    folder.mkdir()
    victim.write_text("mine")
    (folder / "command.log").symlink_to(victim)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert note_unexpected(ValueError("something said"), os.environ).facts["log"] == "-"
    assert victim.read_text() == "mine"
