"""The quiet line above the composer: what has just happened, and how to take it back."""

from __future__ import annotations

from rich.text import Text
from textual.timer import Timer
from textual.widgets import Static


class Notice(Static):
    """Shows one sentence for a while; a problem carries a sign and stays until the next sentence."""

    def __init__(self, seconds: float, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, markup=False)
        self._seconds = seconds
        self._timer: Timer | None = None
        self.sentence = ""

    def say(self, sentence: str, *, problem: bool = False, undo: str = "") -> None:
        """Show ``sentence`` (clean); ``undo`` names the key that takes it back."""
        self.sentence = sentence
        text = Text("⚠ " if problem else "", style="bold")
        text.append(sentence, style="not bold")
        if undo:
            text.append(f" · {undo}", style="bold")
        self.update(text)
        self.add_class("shown")
        self._stop()
        if not problem:
            self._timer = self.set_timer(self._seconds, self.clear)

    def clear(self) -> None:
        """Nothing to say."""
        self._stop()
        self.sentence = ""
        self.remove_class("shown")

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
