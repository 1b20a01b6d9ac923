"""Lines that many documents have: headers, ways to other pages, licences. Counted in a fixed amount of memory.

A count-min sketch (Cormode and Muthukrishnan 2005): several rows of counters, of which the smallest says no less than
how often a line was counted, and seldom more.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from trainer.corpus.shuffled import keyed

COLUMNS: Final = 1 << 20
# Odd numbers by which a line's code is multiplied, one a row; the upper bits say which of its counters is the line's.
_TIMES: Final = np.array([[keyed("row", row) | 1] for row in range(4)], dtype=np.uint64)
_SHIFT: Final = np.uint64(64 - COLUMNS.bit_length() + 1)
_MOST: Final = np.iinfo(np.uint8).max


class RepeatedLines:
    """``most``: documents that a line may stand in before it is left out (0: it never is)."""

    def __init__(self, most: int, counts: npt.NDArray[np.uint8] | None = None) -> None:
        self._most = min(most, int(_MOST) - 1)
        self.counts = np.zeros((len(_TIMES), COLUMNS), dtype=np.uint8) if counts is None else counts

    def without(self, text: str) -> str:
        """``text`` without the lines that stood in more documents before; its own lines are counted, each once."""
        if not self._most:
            return text
        lines = text.split("\n")
        distinct = [line for line in dict.fromkeys(lines) if line]
        if not distinct:
            return text
        codes = np.array([keyed(line) for line in distinct], dtype=np.uint64)
        columns = (codes * _TIMES) >> _SHIFT
        rows = np.arange(len(_TIMES))[:, None]
        before = self.counts[rows, columns].min(axis=0)
        self.counts[rows, columns] = np.minimum(self.counts[rows, columns], _MOST - 1) + 1
        often = {line for line, count in zip(distinct, before, strict=True) if count >= self._most}
        return "\n".join(line for line in lines if line not in often).strip() if often else text
