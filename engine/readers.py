"""Who reads something that another thread is going to free."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from engine.errors import EngineStopping


class Readers:
    """Any number of threads read side by side; ``close`` waits for them and lets no more in."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._reading = 0
        self._closed = False

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """What is read stays until this is left. Raises EngineStopping where it is gone already."""
        with self._changed:
            if self._closed:
                raise EngineStopping
            self._reading += 1
        try:
            yield
        finally:
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Returns when nobody reads any more."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._reading)
