"""A curve drawn with Braille characters: two by four dots in each cell."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

_BLANK: Final = 0x2800
# Dot numbers of a Braille cell by column and row, as bits (Unicode, block "Braille Patterns").
_DOTS: Final = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


def curve(values: Sequence[float], width: int, height: int) -> list[str]:
    """``height`` rows of ``width`` cells that show ``values`` from left to right, the highest at the top.

    More values than dots are averaged; fewer are spread over the width. No values give blank rows.
    """
    cells = [[_BLANK] * width for _ in range(height)]
    points = _resampled(values, width * 2)
    if points:
        low, high = min(points), max(points)
        span = (high - low) or 1.0
        rows = height * 4 - 1
        levels = [round((high - value) / span * rows) if high > low else rows // 2 for value in points]
        for x, level in enumerate(levels):
            before = levels[x - 1] if x else level
            for y in range(min(before, level), max(before, level) + 1):
                # The rise between two points belongs to the later one, so that the line has no gaps.
                cells[y // 4][x // 2] |= _DOTS[x % 2][y % 4]
    return ["".join(chr(cell) for cell in row) for row in cells]


def _resampled(values: Sequence[float], count: int) -> list[float]:
    if len(values) < 2 or count < 2:
        return [values[0]] * count if values else []
    if len(values) <= count:
        last = len(values) - 1
        places = [x * last / (count - 1) for x in range(count)]
        return [values[int(at)] + (values[min(int(at) + 1, last)] - values[int(at)]) * (at - int(at)) for at in places]
    edges = [round(x * len(values) / count) for x in range(count + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in itertools.pairwise(edges)]
