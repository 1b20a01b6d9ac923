"""How a download is shown: one line that is painted again on a terminal, a line from time to time anywhere else."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from app.bytes_text import size_text
from app.commands.output import remark, repaint, width
from app.reasons import in_words

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from configs.sections.pulling import PullSettings
    from engine.pulling.events import Event, Moved

_BAR: Final = 24
_MINUTE, _HOUR = 60, 3600


class DownloadView:
    """Tells on the standard error what ``engine.pulling`` tells of the model ``name``."""

    def __init__(
        self, words: Catalogue, name: str, settings: PullSettings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._words, self._name, self._settings, self._clock = words, name, settings, clock
        self._paints = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._painted, self._told = False, -settings.line_s

    def __call__(self, event: Event) -> None:
        from engine.pulling.events import Checking, Moved, Restarted, Retrying, Waiting

        match event:
            case Moved():
                self._show(self._moved(event), event.done / event.total if event.total else None)
            case Checking(done, total):
                self._show(self._text("checking", percent=_percent(done, total)), done / max(1, total))
            case Waiting():
                self._say(self._text("waiting"))
            case Retrying(reason, wait_s):
                self._say(self._text("retrying", reason=in_words(reason, self._words), seconds=max(1, round(wait_s))))
            case Restarted(reason):
                self._say(self._text(reason))

    def end(self) -> None:
        """Leave the last line as it stands."""
        if self._painted:
            remark("")
            self._painted = False

    def _moved(self, event: Moved) -> str:
        rate = size_text(self._words, event.rate)
        done = size_text(self._words, event.done)
        if event.total is None:
            return self._text("unknown", done=done, rate=rate)
        facts = {
            "percent": _percent(event.done, event.total),
            "done": done,
            "total": size_text(self._words, event.total),
        }
        if event.left is None:
            return self._text("begun", **facts)
        return self._text("known", rate=rate, left=self._left(event.left), **facts)

    def _left(self, seconds: float) -> str:
        whole = round(seconds)
        if whole < _MINUTE:
            return self._text("seconds", seconds=whole)
        if whole < _HOUR:
            return self._text("minutes", minutes=-(-whole // _MINUTE))
        return self._text("hours", hours=whole // _HOUR, minutes=whole % _HOUR // _MINUTE)

    def _show(self, text: str, share: float | None) -> None:
        if self._paints:
            self._painted = True
            repaint(_with_bar(text, share, shutil.get_terminal_size().columns - 1))
        elif self._clock() - self._told >= self._settings.line_s or share == 1:
            self._told = self._clock()
            remark(text)

    def _say(self, text: str) -> None:
        self.end()
        remark(text)

    def _text(self, key: str, **facts: object) -> str:
        return self._words.text(f"command.models.progress.{key}", **{"name": self._name, **facts})


def _with_bar(text: str, share: float | None, room: int) -> str:
    """``text`` behind a bar that is ``share`` full, where there is room for both; never longer than ``room``."""
    if share is not None and width(text) + _BAR + 1 <= room:
        full = round(share * _BAR)
        return "▓" * full + "░" * (_BAR - full) + " " + text
    return text[:room]


def _percent(done: int, total: int) -> int:
    return 100 * done // total if total else 100
