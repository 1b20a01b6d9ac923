"""A process that was left running goes on by itself, and is gone when it has ended."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psutil

from configs.detached import leave_running, start_detached

CODE = "import os, sys; print(os.getsid(0), flush=True); sys.stdin.read(); os.read(int(sys.argv[1]), 1)"


def test_it_has_a_session_of_its_own_and_nothing_is_left_of_it_once_it_has_ended(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    with (tmp_path / "said").open("wb") as output:
        command = [sys.executable, "-c", CODE, str(ours)]
        process = start_detached(command, folder=tmp_path, environ=os.environ, output=output, handles=[ours])
    leave_running(process)
    deadline = time.monotonic() + 60
    while not (said := (tmp_path / "said").read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert int(said) == process.pid
    assert psutil.pid_exists(process.pid)
    os.write(theirs, b".")
    while psutil.pid_exists(process.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not psutil.pid_exists(process.pid)
    os.close(ours)
    os.close(theirs)
