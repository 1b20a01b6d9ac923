"""The making of a model of one's own, in words, as the trainer tells it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from app.bytes_text import size_text
from app.commands.output import remark, write, write_raw, write_table
from app.curve import curve
from app.reasons import in_words
from app.report.cost import drawn_of
from app.report.wording import about, energy
from app.terminal_text import clean

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.own_model import Told

_MILLION: Final = 1e6
_BAR: Final = 24
_CURVE: Final = (60, 8)  # columns and rows


def write_trial(words: Catalogue, facts: Mapping[str, Any]) -> None:
    """What is being tried, for whoever waits."""
    remark(words.text("command.own.trial", **facts))


def write_report(words: Catalogue, report: Mapping[str, Any]) -> None:
    """What the whole run would take, a line each."""
    drawn = drawn_of(report["energy"])
    rows = {
        "parameters": f"{report['parameters'] / _MILLION:.4g} M",
        "steps": str(report["steps"]),
        "memory": words.text(
            "command.own.of", part=size_text(words, report["peak_bytes"]), whole=size_text(words, report["limit_bytes"])
        ),
        "speed": f"{report['tokens_per_second']:.3g} tokens/s",
        "time": about(report["seconds"]),
        "energy": energy(words, drawn) if drawn else "—",
        "price": f"{report['price']:.2f}",
        "skipped": f"{report['skipped']:.0%}",
        "largest": words.text(
            f"command.own.{'tried' if report['largest_tried'] else 'reckoned'}", largest=report["largest_micro_batch"]
        ),
        "checkpoint": size_text(words, report["checkpoint_bytes"]),
    }
    heads = (words.text("command.own.rows.run"), report["run"])
    write_table(heads, [[words.text(f"command.own.rows.{name}"), value] for name, value in rows.items()])
    write(words.text("command.own.fits", run=report["run"]))


class PretrainingView:
    """A line that is painted again with each step, on a terminal; and a line for whatever else happens."""

    def __init__(self, words: Catalogue) -> None:
        self._words = words
        self._live = sys.stdout.isatty()
        self._open = False
        self._losses: list[float] = []

    def draw(self, told: Told) -> None:
        """Show it. What has no words is for programs."""
        facts = told.facts
        if told.kind == "step":
            self._losses.append(float(facts["loss"]))
            if self._live:
                write_raw(f"\r\x1b[2K{clean(self._line(told))}")
                self._open = True
            return
        key = f"command.own.events.{told.kind}"
        if self._words.has(key):
            self._end_line()
            shown = {**facts, "million": facts.get("parameters", 0) / _MILLION}
            if "reason" in facts:
                shown["reason"] = in_words(str(facts["reason"]), self._words)
            write(self._words.text(key).format_map(shown))

    def end(self) -> None:
        """The curve of the loss, on a terminal."""
        self._end_line()
        if self._live and len(self._losses) > 1:
            write(self._words.text("command.own.curve", first=self._losses[0], last=self._losses[-1]))
            for row in curve(self._losses, *_CURVE):
                write(row)

    def _line(self, told: Told) -> str:
        fraction, facts = told.fraction or 0.0, told.facts
        done = round(fraction * _BAR)
        speed = float(facts["tokens_per_second"])
        left = (facts["steps"] - facts["step"]) * facts["tokens"] / facts["step"] / speed if speed else 0.0
        return self._words.text(
            "command.own.step",
            bar="▓" * done + "░" * (_BAR - done),
            percent=f"{fraction:.0%}",
            step=facts["step"],
            steps=facts["steps"],
            loss=f"{facts['loss']:.3f}",
            speed=f"{speed:.3g}",
            left=about(left),
        )

    def _end_line(self) -> None:
        if self._open:
            write_raw("\n")
            self._open = False
