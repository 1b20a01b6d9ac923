"""``enlace trainer schedule``: real unit files in the user's own folder; only systemctl has a double."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from app.user_timer import _quoted
from configs.home import Home
from tests.app.conftest import Run

# Writes down what it is asked, and answers as a manager that is there does.
SYSTEMCTL = """#!/bin/sh
echo "$@" >> "{asked}"
{more}
exit 0
"""


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    return tmp_path / "asked"


def systemctl(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: Path, more: str = "") -> None:
    """From now on this is what there is of systemd."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "systemctl").write_text(SYSTEMCTL.format(asked=asked, more=more))
    (folder / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def units(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "user" / ".config" / "systemd" / "user"
    return {path.suffix: path.read_text() for path in folder.glob("enlace-*")}


def test_it_is_written_kept_told_and_taken_away(
    here: Run, home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: Path
) -> None:
    systemctl(monkeypatch, tmp_path, asked)
    assert "schedule install" in here("trainer", "schedule").out
    installed = here("trainer", "schedule", "install")
    assert installed.code == 0, installed.err
    written = units(tmp_path)
    assert set(written) == {".service", ".timer"}
    assert f'"-m" "trainer.night" "once" "--home" "{home.root}"' in written[".service"]
    assert "OnUnitInactiveSec=600" in written[".timer"]
    wanted = [line for line in asked.read_text().splitlines() if "is-active" not in line]
    assert wanted[:2] == ["--user show-environment", "--user daemon-reload"]
    assert wanted[2].startswith("--user enable --now enlace-")
    told = json.loads(here("trainer", "schedule", "status", "--json").out)
    assert (told["installed"], told["active"]) == (True, True)
    assert json.loads(here("train", "status", "--json").out)["night"]["timer"] is True

    assert "no training by itself" in here("trainer", "schedule", "remove").out
    assert units(tmp_path) == {}
    assert "disable --now" in asked.read_text()
    assert here("trainer", "schedule", "remove").code == 0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here to read the units")
def test_systemd_reads_the_units_without_a_word(
    here: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: Path
) -> None:
    systemctl(monkeypatch, tmp_path, asked)
    assert here("trainer", "schedule", "install", ENLACE_HOME=str(tmp_path / 'a "home" of 5% $x')).code == 0
    files = sorted((tmp_path / "user" / ".config" / "systemd" / "user").glob("enlace-*"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    read = subprocess.run(["systemd-analyze", "verify", "--user", *files], capture_output=True, text=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")


def test_a_word_keeps_what_systemd_would_take_for_its_own() -> None:
    assert _quoted('5% of "$x"\\') == '"5%% of \\"$$x\\"\\\\"'


def test_two_homes_of_one_user_have_a_timer_each(
    here: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: Path
) -> None:
    systemctl(monkeypatch, tmp_path, asked)
    for name in ("one", "two"):
        assert here("trainer", "schedule", "install", ENLACE_HOME=str(tmp_path / name)).code == 0
    assert len(list((tmp_path / "user" / ".config" / "systemd" / "user").glob("*.timer"))) == 2


def test_where_there_is_no_systemd_it_says_what_to_do_instead_and_writes_nothing(
    here: Run, home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for more in ("", "echo 'Failed to connect to bus'; exit 1"):
        if more:
            systemctl(monkeypatch, tmp_path, asked, more)
        ran = here("trainer", "schedule", "install")
        assert ran.code == 1
        assert ran.out.startswith("*/10 * * * * cd ")
        assert f"-m trainer.night once --home {home.root}" in ran.out
        assert "crontab -e" in ran.err
        assert "enlace trainer run" in ran.err
        assert units(tmp_path) == {}


def test_a_timer_that_systemd_refuses_is_not_left_lying_about(
    here: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: Path
) -> None:
    refuses = 'case "$2" in enable) echo "Unit is masked."; exit 1;; esac'
    systemctl(monkeypatch, tmp_path, asked, refuses)
    ran = here("trainer", "schedule", "install")
    assert ran.code == 1
    assert "Unit is masked." in ran.err
    assert units(tmp_path) == {}
