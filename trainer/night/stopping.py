"""A wish to stop, made in a signal handler, and a wait that it cuts short."""

from __future__ import annotations

import select
import socket


class Stopping:
    """``wait`` returns at once when ``stop`` was called, also from a signal handler in the midst of it."""

    def __init__(self) -> None:
        self.wished = False
        self._heard, self._said = socket.socketpair()
        self._said.setblocking(False)

    def stop(self) -> None:
        """Have whatever waits come to its end."""
        if not self.wished:
            self.wished = True
            self._said.send(b"\0")

    def wait(self, seconds: float) -> None:
        """Return after ``seconds``, or when somebody wishes to stop."""
        # select goes on after a handler (PEP 475), and then finds what it said.
        select.select([self._heard], [], [], max(0.0, seconds))

    def close(self) -> None:
        self._heard.close()
        self._said.close()
