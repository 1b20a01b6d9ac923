"""How a measurement of forms is shown: one line that is painted again on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from app.commands.forms_text import form_text
from app.commands.output import remark, repaint

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from engine.forms.bench import Told

_BAR: Final = 24


class BenchView:
    """Tells on the standard error what ``engine.forms.bench`` tells; ``line_s``: seconds between two lines."""

    def __init__(self, words: Catalogue, line_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._words, self._line_s, self._clock = words, line_s, clock
        self._paints = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._painted, self._told = False, -line_s

    def __call__(self, told: Told) -> None:
        doing = self._words.text(f"command.forms.doing.{told.what}", form=form_text(self._words, told.form))
        share = told.done / told.tasks
        if self._paints:
            self._painted = True
            full = round(share * _BAR)
            line = f"{'▓' * full}{'░' * (_BAR - full)} {share:4.0%} {doing}"
            repaint(line[: shutil.get_terminal_size().columns - 1])
        elif self._clock() - self._told >= self._line_s:
            self._told = self._clock()
            remark(f"{share:4.0%} {doing}")

    def end(self) -> None:
        """Leave the last line as it stands."""
        if self._painted:
            remark("")
            self._painted = False
