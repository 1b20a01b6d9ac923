"""Set-up: it refuses what cannot work in a sentence, and never takes half an environment for a whole one."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from scripts import set_up
from tests.project import ROOT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of what set-up reads, in a folder without an environment."""
    for name in ("Makefile", *set_up.MADE_FROM):
        (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / "clone" / name)
    return tmp_path / "clone"


@pytest.fixture
def environment(copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set-up's own paths, moved into the copy."""
    monkeypatch.setattr(set_up, "ROOT", copy)
    for name, path in {
        "VENV": ".venv",
        "STAMP": ".venv/done",
        "UNFINISHED": "unfinished",
        "LOCK": "lock",
    }.items():
        monkeypatch.setattr(set_up, name, copy / path)
    (copy / ".venv").mkdir()
    return copy


def test_without_a_new_enough_python_make_says_so_and_makes_nothing(copy: Path) -> None:
    tried = subprocess.run(["make", "PYTHON=", "setup"], cwd=copy, capture_output=True, text=True, check=False)
    assert tried.returncode != 0
    assert "Enlace needs Python 3.11 or later" in tried.stderr
    assert not (copy / ".venv").exists()


def test_without_a_compiler_set_up_says_so_and_makes_nothing(copy: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    tried = subprocess.run(
        [sys.executable, "scripts/set_up.py"],
        cwd=copy,
        env={"PATH": str(empty)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert tried.returncode == 1
    assert "There is no C compiler on this machine" in tried.stderr
    assert "Traceback" not in tried.stderr
    assert not (copy / ".venv").exists()


def test_a_finished_environment_is_whole_until_what_it_is_made_from_changes(environment: Path) -> None:
    wanted = set_up.fingerprint()
    set_up.STAMP.write_text(wanted + "\n", encoding="utf-8")
    assert set_up.is_whole(wanted)
    with (environment / "requirements.lock").open("a", encoding="utf-8") as lock:
        lock.write("one-more==1.0\n")
    assert not set_up.is_whole(set_up.fingerprint())


def test_an_environment_whose_set_up_was_interrupted_is_not_whole(environment: Path) -> None:
    wanted = set_up.fingerprint()
    set_up.STAMP.write_text(wanted + "\n", encoding="utf-8")
    set_up.UNFINISHED.touch()
    assert not set_up.is_whole(wanted)


def test_an_environment_without_a_stamp_is_not_whole(environment: Path) -> None:
    assert not set_up.is_whole(set_up.fingerprint())


def test_an_environment_that_was_moved_is_not_whole(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = set_up.fingerprint()
    monkeypatch.setattr(set_up, "VENV", environment / "elsewhere")
    assert set_up.fingerprint() != wanted


def test_an_environment_whose_processor_became_another_is_not_whole(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = environment / "cpuinfo"
    monkeypatch.setattr(set_up, "CPUINFO", told)
    told.write_text("processor\t: 0\nflags\t\t: sse2 avx2 avx512f\n", encoding="utf-8")
    wanted = set_up.fingerprint()
    told.write_text("processor\t: 0\nflags\t\t: avx2 sse2\n", encoding="utf-8")
    assert set_up.fingerprint() != wanted
    told.write_text("processor\t: 1\nflags\t\t: avx512f avx2 sse2\n", encoding="utf-8")
    assert set_up.fingerprint() == wanted


def test_an_engine_that_dies_of_its_instructions_is_compiled_anew_and_not_taken_from_the_cache(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (environment / ".venv" / "bin").mkdir()
    (environment / ".venv" / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.setattr(set_up, "LOG", environment / "log")
    mark = environment / "compiled anew"
    dies = f"import os, pathlib\npathlib.Path({str(mark)!r}).exists() or os.kill(os.getpid(), {signal.SIGILL.value})\n"
    (environment / "scripts" / "one_token.py").write_text(dies, encoding="utf-8")
    ran: list[list[str]] = []

    def note(what: str, command: Sequence[str]) -> None:
        ran.append(list(command))
        if "--no-cache-dir" in command:
            mark.touch()

    monkeypatch.setattr(set_up, "run_logged", note)
    set_up.install()
    compiled = [command for command in ran if "--no-cache-dir" in command]
    assert [command[-1].partition("==")[0] for command in compiled] == ["llama-cpp-python"]

    mark.unlink()
    monkeypatch.setattr(set_up, "run_logged", lambda what, command: None)
    with pytest.raises(set_up.SetUpFailed, match="does not run on this machine"):
        set_up.install()


def test_make_alone_names_every_target(copy: Path) -> None:
    said = subprocess.run(["make"], cwd=copy, capture_output=True, text=True, check=True).stdout
    for target in ("run", "test", "check", "soak", "setup", "lock"):
        assert f"make {target}" in said
