"""A training as one picture: how it ended, its curves, and every check of the gate beside its bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.catalogue import Catalogue
from app.checks import check_bound, check_name, check_value
from app.report.drawing import Drawing, running_mean, ticks
from app.report.story import Series, Story
from app.report.wording import curve_name, duration, heading, number, size

WIDTH: Final = 760
_EDGE: Final = 28
_GAP: Final = 20
_PANEL_WIDTH: Final = (WIDTH - 2 * _EDGE - _GAP) / 2
_PANEL_HEIGHT: Final = 172
_AXIS: Final = 44
_PLOT_TOP: Final = 34
_PLOT_BOTTOM: Final = 24
_TILE_HEIGHT: Final = 66
_ROW: Final = 27
_BAR_LEFT: Final = 412
_BAR_WIDTH: Final = 150
# Of all the steps, on each side: enough to see through the noise of single batches, too few to hide a turn.
_SMOOTHED: Final = 1 / 30


def picture(story: Story, words: Catalogue) -> str | None:
    """The SVG; None where there is neither a step nor a check to show."""
    curves = [*_curves(story), *([story.rate] if story.rate else [])]
    checks = story.verdict.get("checks") or ()
    if not curves and not checks:
        return None
    title = words.text("report.title", run=heading(words, story))
    drawing = Drawing(WIDTH, title=title, description=words.text("report.description"))
    drawing.text(_EDGE, 44, heading(words, story), size=22, bold=True)
    y = _tiles(drawing, story, words, 64)
    for place, series in enumerate(curves):
        left = _EDGE + (place % 2) * (_PANEL_WIDTH + _GAP)
        _panel(drawing, series, words, left, y + (place // 2) * (_PANEL_HEIGHT + _GAP))
    y += -(-len(curves) // 2) * (_PANEL_HEIGHT + _GAP)
    if checks:
        y = _gate(drawing, checks, words, y + 8)
    return drawing.svg(y + 8)


def _curves(story: Story) -> Sequence[Series]:
    """The objectives; their total too where it adds something to them."""
    return story.curves[1:] if len(story.curves) == 2 else story.curves


def _tiles(drawing: Drawing, story: Story, words: Catalogue, y: float) -> float:
    """The numbers that somebody looks for first; the next free line."""
    right, asked = story.right(held_out=False)
    otherwise, asked_otherwise = story.right(held_out=True)
    tiles = [
        (f"{right} / {asked}" if asked else "", "right"),
        (f"{otherwise} / {asked_otherwise}" if asked_otherwise else "", "right_otherwise"),
        (duration(story.seconds) if story.seconds is not None else "", "took"),
        (size(story.peak_bytes) if story.peak_bytes else "", "peak"),
    ]
    shown = [(value, name) for value, name in tiles if value]
    if not shown:
        return y + 8
    width = (WIDTH - 2 * _EDGE - _GAP * (len(tiles) - 1)) / len(tiles)
    for place, (value, name) in enumerate(shown):
        left = _EDGE + place * (width + _GAP)
        drawing.box(left, y, width, _TILE_HEIGHT, "surface", radius=6)
        drawing.text(left + 14, y + 31, value, size=20, bold=True)
        drawing.text(left + 14, y + 52, words.text(f"report.summary.{name}"), size=12, colour="dim")
    return y + _TILE_HEIGHT + _GAP


def _panel(drawing: Drawing, series: Series, words: Catalogue, left: float, top: float) -> None:
    """One curve under its name: every step faintly, and what it comes to in full."""
    marks = ticks(min(series.values), max(series.values))
    x0, x1 = left + _AXIS, left + _PANEL_WIDTH
    y0, y1 = top + _PANEL_HEIGHT - _PLOT_BOTTOM, top + _PLOT_TOP
    last = max(series.steps[-1], series.steps[0] + 1)

    def place(step: float, value: float) -> tuple[float, float]:
        across = (step - series.steps[0]) / (last - series.steps[0])
        up = (value - marks[0]) / (marks[-1] - marks[0])
        return x0 + across * (x1 - x0), y0 - up * (y0 - y1)

    drawing.text(left, top + 16, curve_name(words, series.name), bold=True)
    ends = f"{number(series.values[0])} → {number(series.values[-1])}"
    drawing.text(x1, top + 16, ends, colour="dim", anchor="end")
    for mark in marks:
        _, y = place(series.steps[0], mark)
        drawing.line([(x0, y), (x1, y)], "rule", thickness=0.5 if mark else 1)
        drawing.text(x0 - 7, y + 4, f"{mark:g}", size=11, colour="dim", anchor="end")
    drawing.text(x0, y0 + 17, str(series.steps[0]), size=11, colour="dim")
    drawing.text(x1, y0 + 17, words.text("report.step", step=series.steps[-1]), size=11, colour="dim", anchor="end")
    # The rate is as it was set: there is no noise in it.
    around = 0 if series.name == "learning_rate" else round(len(series.values) * _SMOOTHED)
    if around:
        each = list(map(place, series.steps, series.values))
        drawing.line(each, "accent", faint=True)
    smooth = running_mean(series.values, around)
    drawing.line(list(map(place, series.steps, smooth)), "accent", thickness=2)


def _gate(drawing: Drawing, checks: Sequence[Mapping[str, Any]], words: Catalogue, top: float) -> float:
    """A row for each check, with a bar up to its value and a mark at its bound; the next free line."""
    drawing.text(_EDGE, top + 16, words.text("report.gate"), size=15, bold=True)
    y = top + 34
    for check in checks:
        ok = bool(check.get("ok"))
        colour = "good" if ok else "bad"
        drawing.text(_EDGE, y + 14, "✓" if ok else "✗", colour=colour, bold=True)
        drawing.text(_EDGE + 20, y + 14, check_name(words, str(check.get("name", "?"))))
        _bar(drawing, check, colour, y + 4)
        drawing.text(WIDTH - _EDGE - 72, y + 14, check_value(check), colour=colour, bold=True, anchor="end")
        drawing.text(WIDTH - _EDGE, y + 14, check_bound(check), colour="dim", anchor="end")
        y += _ROW
    return y


def _bar(drawing: Drawing, check: Mapping[str, Any], colour: str, y: float) -> None:
    value, bound = check.get("value"), check.get("bound")
    drawing.box(_BAR_LEFT, y, _BAR_WIDTH, 12, "raised", radius=3)
    if not isinstance(bound, int | float) or bound <= 0:
        return
    # A share ends at 1; of what may not be passed, the bound stands where it can be seen from both sides.
    full = 1.0 if check.get("at_least") else bound * 1.5
    if isinstance(value, int | float):
        drawing.box(_BAR_LEFT, y, _BAR_WIDTH * min(1.0, max(0.0, value / full)), 12, colour, radius=3)
    at = _BAR_LEFT + _BAR_WIDTH * min(1.0, bound / full)
    # On a ground of its own, so that it is seen on the bar as well.
    drawing.box(at - 2.5, y - 3, 5, 18, "ground")
    drawing.line([(at, y - 3), (at, y + 15)], "text", thickness=1.5)
