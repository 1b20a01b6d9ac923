"""A real terminal with `enlace` in it, as a person has it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

from app.session import Session
from app.terminal_text import StreamCleaner
from configs.home import Home
from tests.project import ROOT

WITHIN = 100.0


class Terminal:
    """A terminal of 120 by 36 with ``enlace`` in it. ``seen`` is the text drawn so far, control sequences left out."""

    def __init__(self, home: Home, *, first: bool = False) -> None:
        """``first``: nobody has ever been in this home; else somebody has."""
        if not first:
            with Session({"ENLACE_HOME": str(home.root)}) as session:
                session.household.members.default()
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
        environ = {**os.environ, "ENLACE_HOME": str(home.root), "LANG": "es_ES.UTF-8", "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            env=environ,
            start_new_session=True,
            preexec_fn=_own_the_terminal,
        )
        os.close(slave)
        self._cleaner = StreamCleaner()
        self._bytes = b""
        self.seen = ""

    def read(self, seconds: float = 0.05) -> None:
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self._bytes += os.read(self.master, 65536)
            except OSError:
                # How Linux says that nobody is at the other end any more.
                return
            whole = self._bytes.decode(errors="ignore")
            self._bytes = b""
            self.seen += self._cleaner.feed(whole)

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + WITHIN
        while text not in self.seen:
            assert time.monotonic() < deadline, f"no {text!r} in {self.seen[-2000:]!r}"
            self.read()

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def close(self) -> None:
        """Close the terminal, as a window is closed."""
        os.close(self.master)
        self.master = -1


def _own_the_terminal() -> None:
    # The session's controlling terminal, so that closing it reaches the program as a hang-up.
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
