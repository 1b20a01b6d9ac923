"""A picture written as SVG by hand: shapes and texts whose colours follow the reader's light or dark setting.

https://www.w3.org/TR/SVG11/ and ``prefers-color-scheme`` of https://www.w3.org/TR/mediaqueries-5/. Nothing in it is
fetched, and nothing in it runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from typing import Final

from app.interface.themes import DARK, LIGHT, Colours
from app.terminal_text import clean

Point = tuple[float, float]

_FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
_NICE: Final = (1.0, 2.0, 2.5, 5.0, 10.0)


class Drawing:
    """Shapes in the order in which they are painted; ``svg`` is the whole picture.

    A ``colour`` is the name of one in the themes. Lengths are in pixels, from the top left.
    """

    def __init__(self, width: int, *, title: str, description: str) -> None:
        self._width = width
        self._title = title
        self._description = description
        self._parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: int = 13,
        colour: str = "text",
        bold: bool = False,
        anchor: str = "start",
    ) -> None:
        """One line; ``y`` is its base line."""
        weight = ' font-weight="600"' if bold else ""
        place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{weight}'
        self._parts.append(f'<text class="f-{colour}" {place}>{_escaped(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, colour: str, *, radius: float = 0) -> None:
        """A filled rectangle."""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{height:.1f}" rx="{radius:.1f}"'
        self._parts.append(f'<rect class="f-{colour}" {place}/>')

    def line(
        self, points: Sequence[Point], colour: str, *, thickness: float = 1.0, faint: bool = False, dashed: bool = False
    ) -> None:
        """A line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        look = f'stroke-width="{thickness:g}"' + (' stroke-opacity="0.35"' if faint else "")
        look += ' stroke-dasharray="3 3"' if dashed else ""
        self._parts.append(f'<polyline class="s-{colour}" fill="none" stroke-linejoin="round" {look} points="{path}"/>')

    def svg(self, height: float) -> str:
        """The picture, ``height`` pixels tall."""
        size = f'width="{self._width}" height="{height:.0f}" viewBox="0 0 {self._width} {height:.0f}"'
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{_FONT}">',
                f"<title>{_escaped(self._title)}</title>",
                f"<desc>{_escaped(self._description)}</desc>",
                f"<style>{_rules(LIGHT)} @media (prefers-color-scheme: dark) {{ {_rules(DARK)} }}</style>",
                f'<rect class="f-ground" width="{self._width}" height="{height:.0f}"/>',
                *self._parts,
                "</svg>\n",
            )
        )


def ticks(lowest: float, highest: float, most: int = 4) -> list[float]:
    """Round numbers evenly apart, 0 among them, that reach from ``lowest`` to ``highest``; about ``most`` steps."""
    low, high = min(0.0, lowest), max(0.0, highest)
    if low == high:
        return [0.0, 1.0]
    rough = (high - low) / most
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * nice for nice in _NICE if size * nice >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * number for number in range(first, last + 1)]


def running_mean(values: Sequence[float], around: int) -> list[float]:
    """Each value's mean with its ``around`` neighbours on each side, fewer at the ends."""
    means = []
    for place in range(len(values)):
        near = values[max(0, place - around) : place + around + 1]
        means.append(sum(near) / len(near))
    return means


def _rules(colours: Colours) -> str:
    named = asdict(colours).items()
    return " ".join(f".f-{name} {{ fill: {value} }} .s-{name} {{ stroke: {value} }}" for name, value in named)


def _escaped(text: str) -> str:
    return escape(" ".join(clean(text).split()))
