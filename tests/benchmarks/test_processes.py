from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmarks.errors import MeasurementFailed
from benchmarks.processes import run

PYTHON = sys.executable


def test_a_command_is_timed_to_its_exit_and_its_output_kept() -> None:
    finished = run([PYTHON, "-c", "import time; time.sleep(0.3); print('done')"], os.environ, timeout=30)
    assert finished.output == "done\n"
    assert 0.3 <= finished.seconds < 30


def test_the_peak_memory_of_the_process_is_seen() -> None:
    script = "block = bytearray(150_000_000); block[::4096] = b'x' * len(block[::4096])"
    assert run([PYTHON, "-c", script], os.environ, timeout=30).peak_bytes > 150_000_000


def test_the_peak_memory_of_children_is_added_to_their_parents() -> None:
    child = "import time; block = bytearray(100_000_000); block[::4096] = b'x' * len(block[::4096]); time.sleep(1.5)"
    script = (
        "import subprocess, sys\n"
        f"pair = [subprocess.Popen([sys.executable, '-c', {child!r}]) for _ in range(2)]\n"
        "[each.wait() for each in pair]\n"
    )
    assert run([PYTHON, "-c", script], os.environ, timeout=60).peak_bytes > 200_000_000


def test_a_failing_command_is_told_with_its_last_words() -> None:
    with pytest.raises(MeasurementFailed, match=r"code 3: no model here"):
        run([PYTHON, "-c", "import sys; sys.stderr.write('no model here'); sys.exit(3)"], os.environ, timeout=30)


def test_an_exit_code_that_was_asked_for_is_no_failure() -> None:
    assert run([PYTHON, "-c", "import sys; print(1); sys.exit(3)"], os.environ, timeout=30, accepted=(0, 3)).output


def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    script = (
        "import pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(mark)!r}).write_text(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    with pytest.raises(MeasurementFailed, match="did not end in the time"):
        run([PYTHON, "-c", script], os.environ, timeout=3)
    child = int(mark.read_text())
    deadline = time.monotonic() + 20
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.05)
