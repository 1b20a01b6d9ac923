"""The terminal as Textual drives it, and as it goes away: a closed window must not keep the program from leaving."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp


class Outlet:
    """A terminal to write to. Once it is gone, what is written is dropped.

    Textual writes in a thread behind a queue of 30 places. An error ends that thread, and the event loop, which
    still draws, then waits for a place in the queue for ever.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.gone = False

    def write(self, text: str) -> int:
        if not self.gone:
            try:
                return self._file.write(text)
            except OSError:
                self.gone = True
        return len(text)

    def flush(self) -> None:
        if not self.gone:
            try:
                self._file.flush()
            except OSError:
                self.gone = True

    def fileno(self) -> int:
        return self._file.fileno()


class TerminalDriver(LinuxDriver):
    """Textual's own driver; when the terminal is closed, the program leaves."""

    _app: EnlaceApp

    def __init__(self, app: EnlaceApp, **options: Any) -> None:
        super().__init__(app, **options)
        if sys.__stderr__ is not None:
            self._file = Outlet(sys.__stderr__)  # type: ignore[assignment]

    def run_input_thread(self) -> None:
        """Read keys until the end, or until there is nobody at the keyboard any more."""
        try:
            super().run_input_thread()
        except OSError:
            self._app.call_later(self._app.leave)
