"""The signs of life of the decoding thread, taken where it raises and lowers the busy flag."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from engine.busy import BusyFlag


class Heartbeat(BusyFlag):
    """A busy flag that counts the steps. The decoding thread raises it at each step, and lowers it to rest.

    ``on_step`` is called by the decoding thread at each of these moments. Every other thread may read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.steps = 0
        self.resting = True
        self.ended = False
        self.thread: threading.Thread | None = None
        self.on_step: Callable[[], None] = _nothing

    def set(self) -> None:
        """A step begins."""
        super().set()
        self.steps += 1
        self.resting = False
        self.on_step()

    def clear(self) -> None:
        """Nothing is left to do."""
        super().clear()
        self.thread = threading.current_thread()
        self.resting = True
        self.on_step()

    def close(self) -> None:
        """The decoding thread ends in good order."""
        super().close()
        self.ended = True

    @property
    def died(self) -> bool:
        """Whether the decoding thread has gone without having been told to."""
        return self.thread is not None and not self.thread.is_alive() and not self.ended


def _nothing() -> None:
    """Nobody listens."""
