"""``enlace models bench``: the table, what is kept, the way back, and an end in the middle that leaves nothing."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.session import Session
from configs.home import Home
from engine.answers import EngineStatus
from engine.fingerprint import file_sha256
from engine.forms import bench
from engine.forms.records import folder, read_form
from tests.app.conftest import Run
from tests.engine.forms.conftest import measured_before, stopwatch
from tests.project import ROOT

# No neighbours of the settings are tried.
CONFIG = "engine: {context_size: 1024, slots: 2, threads: 1, form: {rounds: 1, thread_shares: [1.0], chunks: []}}\n"


@pytest.fixture
def measured(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forms are really written and served; their speeds and losses are told."""
    home.config_file.write_text(CONFIG)
    told = stopwatch(measured_before, q8_0=150, q4_0=120)
    monkeypatch.setattr(bench, "Bench", functools.partial(bench.Bench, carry_out=told))


def test_a_running_engine_serves_the_chosen_form_and_goes_back(here: Run, home: Home, measured: None) -> None:
    with Session(os.environ) as session:
        before = asyncio.run(session.engine.start())
        ran = here("models", "bench", "--json")
        assert ran.code == 0, ran.err
        told = json.loads(ran.out)
        assert (told["model"], told["form"], told["kept"], told["gain"]) == ("smollm2-135m", "q8_0", True, 1.5)
        assert {row["form"] for row in told["rows"]} == {"as pulled", "q8_0", "q4_0"}
        status = asyncio.run(session.engine.status())
        assert isinstance(before, EngineStatus)
        assert isinstance(status, EngineStatus)
        assert (before.form, status.form, status.pid, status.snapshot) == ("as pulled", "q8_0", before.pid, "v0")
        assert "q8_0" in here("models", "list").out
        assert json.loads(here("models", "list", "--json").out)[0]["form"] == "q8_0"
        assert here("models", "bench", "--forget").code == 0
        status = asyncio.run(session.engine.status())
        assert isinstance(status, EngineStatus)
        assert (status.form, status.pid) == ("as pulled", before.pid)
        assert json.loads(here("models", "bench", "--forget", "--json").out) == {
            "model": "smollm2-135m",
            "forgotten": False,
        }


@pytest.mark.parametrize(("lang", "chosen"), [("es_ES.UTF-8", "elegida"), ("en_GB.UTF-8", "chosen")])
def test_the_table_is_shown_in_the_readers_language_and_a_dry_run_keeps_nothing(
    here: Run, home: Home, starter: Path, measured: None, lang: str, chosen: str
) -> None:
    ran = here("models", "bench", "--dry-run", lang=lang)
    assert ran.code == 0, ran.err
    (line,) = [line for line in ran.out.splitlines() if chosen in line]
    assert line.split()[0] == "q8_0"
    assert read_form(home, file_sha256(home, starter)) is None


def test_ctrl_c_ends_a_measurement_and_leaves_nothing(home: Home, starter: Path) -> None:
    home.config_file.write_text(CONFIG)
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "models", "bench"],
        cwd=ROOT,
        env={**os.environ, "LANG": "en_GB.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    place = folder(home, file_sha256(home, starter))
    deadline = time.monotonic() + 60
    while not list(place.glob("bench-*/q8_0.gguf")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "The measurement was stopped." in err
    assert "Traceback" not in err
    assert [path.name for path in place.iterdir()] == ["bench.lock"]


def test_a_model_that_is_not_there_is_told_by_name(here: Run) -> None:
    ran = here("models", "bench", "nothing-like-it")
    assert ran.code == 1
    assert "nothing-like-it" in ran.err
