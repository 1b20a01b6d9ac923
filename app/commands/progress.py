"""How far something is that takes its time: one line that is painted again, on a terminal alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.commands.output import remark, repaint

if TYPE_CHECKING:
    from app.catalogue import Catalogue


@contextmanager
def progress(words: Catalogue, key: str) -> Iterator[Callable[[int, int], None]]:
    """Give what is to be told how much is done, and of how much; ``key``: the text, with ``{percent}``.

    Anywhere but on a terminal the end is what counts.
    """
    shown = -1

    def tell(done: int, total: int) -> None:
        nonlocal shown
        percent = 100 * done // max(1, total)
        if sys.stderr.isatty() and percent > shown:
            shown = percent
            repaint(words.text(key, percent=percent))

    try:
        yield tell
    finally:
        if shown >= 0:
            remark("")
