"""A program in a real terminal: started on a pty, read from, typed to, ended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from benchmarks.errors import MeasurementFailed
from benchmarks.processes import end_group

ROWS, COLUMNS = 40, 120
_CONTROL = re.compile(rb"\x1b\[[0-9;:?<=>!$]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|\x1b[=>78]")
# Enough of the end of what was drawn to hold a whole screen with its colours.
KEPT_BYTES = 1 << 18


class Terminal:
    """A context manager: the program runs on a terminal of 120 × 40 until the block ends."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self._arguments = list(arguments)
        self._environment = dict(environment) | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._drawn = b""

    def __enter__(self) -> Self:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._started = time.perf_counter()
        try:
            self._process = subprocess.Popen(
                self._arguments,
                env=self._environment,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
            )
        finally:
            os.close(slave)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end_group(self._process)
        self._process.wait()
        os.close(self._master)

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_for(self, text: str, timeout: float) -> float:
        """Seconds from the start of the program until ``text`` stands on the screen. Raises MeasurementFailed."""
        wanted = text.encode()
        while (left := self._started + timeout - time.perf_counter()) > 0:
            if not self.read(left):
                break
            now = time.perf_counter()
            if wanted in _CONTROL.sub(b"", self._drawn):
                return now - self._started
        raise MeasurementFailed(f"`{' '.join(self._arguments)}` did not draw “{text}”. It drew: {self.shown()[-600:]}")

    def read(self, timeout: float) -> bool:
        """Read what is drawn within ``timeout`` seconds, waiting for the first of it. False at the program's end."""
        if not select.select([self._master], [], [], max(timeout, 0))[0]:
            return True
        try:
            piece = os.read(self._master, 1 << 16)
        except OSError:
            return False
        self._drawn = (self._drawn + piece)[-KEPT_BYTES:]
        return bool(piece)

    def type(self, text: str) -> None:
        """Press keys."""
        with contextlib.suppress(OSError):
            os.write(self._master, text.encode())

    def shown(self) -> str:
        """The last texts that were drawn, without colours and positions."""
        return _CONTROL.sub(b"", self._drawn).decode(errors="replace")
