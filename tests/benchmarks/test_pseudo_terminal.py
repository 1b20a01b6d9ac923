from __future__ import annotations

import os
import sys
import time

import psutil
import pytest

from benchmarks.errors import MeasurementFailed
from benchmarks.pseudo_terminal import Terminal


def test_the_time_until_a_text_is_drawn_is_measured_through_its_colours() -> None:
    script = (
        "import time; time.sleep(0.4); print('\\x1b[7mE\\x1b[0m\\x1b[38;2;1;2;3mscribe\\x1b[0m aquí'); time.sleep(30)"
    )
    with Terminal([sys.executable, "-c", script], os.environ) as terminal:
        assert 0.4 <= terminal.wait_for("Escribe aquí", 30) < 30


def test_the_program_sees_a_terminal_of_its_own_size_and_the_keys_that_are_typed() -> None:
    script = "import os, sys; print('size', *os.get_terminal_size()); print('got', input()[::-1], sys.stdin.isatty())"
    with Terminal([sys.executable, "-c", script], os.environ) as terminal:
        terminal.wait_for("size 120 40", 30)
        terminal.type("abc\r")
        terminal.wait_for("got cba True", 30)


def test_a_program_that_ends_without_drawing_it_is_told_with_what_it_drew() -> None:
    with (
        Terminal([sys.executable, "-c", "print('no screen here')"], os.environ) as terminal,
        pytest.raises(MeasurementFailed, match="no screen here"),
    ):
        terminal.wait_for("Escribe", 30)


def test_the_program_is_ended_with_the_block() -> None:
    with Terminal(
        [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"], os.environ
    ) as terminal:
        terminal.wait_for("up", 30)
        pid = terminal.pid
    deadline = time.monotonic() + 20
    while psutil.pid_exists(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)
