"""The making of a model of one's own as it goes: one line that is painted again, and a line for what happens."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from app.bytes_text import size_text
from app.commands.output import write, write_raw
from app.commands.own_model_results import write_corpus, write_counted, write_report
from app.curve import curve
from app.reasons import in_words
from app.report.wording import about
from app.terminal_text import clean

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.own_model import Told

_MILLION: Final = 1e6
_BAR: Final = 24
_CURVE: Final = (60, 8)  # columns and rows
# What is told last of all, and is what is asked for.
RESULTS: Final = {"corpus_done": write_corpus, "tokenizer_counted": write_counted, "preflight": write_report}


def write_event(told: Told) -> None:
    """As one line of JSON."""
    write(json.dumps({"kind": told.kind, "fraction": told.fraction, "facts": dict(told.facts)}, ensure_ascii=False))


def write_result(words: Catalogue, told: Told) -> None:
    """What was asked for, in words."""
    RESULTS[told.kind](words, told.facts)


class MakingView:
    """What is told, for people. How far it is, is shown on a terminal alone."""

    def __init__(self, words: Catalogue) -> None:
        self._words = words
        self._live = sys.stdout.isatty()
        self._open = False
        self._losses: list[float] = []

    def draw(self, told: Told) -> None:
        """Show it. What has no words is for programs."""
        if told.kind == "step":
            self._losses.append(float(told.facts["loss"]))
            self._paint(self._step(told))
        elif told.fraction is not None and told.kind.endswith("_progress"):
            self._paint(f"{_bar(told.fraction)}  {self._said(told)}")
        elif self._words.has(f"command.own.events.{told.kind}"):
            self._end_line()
            write(self._said(told))

    def end(self) -> None:
        """The curve of the loss, where there was one, on a terminal."""
        self._end_line()
        if self._live and len(self._losses) > 1:
            write(self._words.text("command.own.curve", first=self._losses[0], last=self._losses[-1]))
            for row in curve(self._losses, *_CURVE):
                write(row)

    def _said(self, told: Told) -> str:
        shown = dict(told.facts)
        shown["million"] = shown.get("parameters", 0) / _MILLION
        shown["size"] = size_text(self._words, shown.get("bytes", 0))
        if "reason" in shown:
            shown["reason"] = in_words(str(shown["reason"]), self._words)
        return self._words.text(f"command.own.events.{told.kind}").format_map(shown)

    def _step(self, told: Told) -> str:
        facts = told.facts
        speed = float(facts["tokens_per_second"])
        left = (facts["steps"] - facts["step"]) * facts["tokens"] / facts["step"] / speed if speed else 0.0
        return self._words.text(
            "command.own.step",
            bar=_bar(told.fraction or 0.0),
            step=facts["step"],
            steps=facts["steps"],
            loss=f"{facts['loss']:.3f}",
            speed=f"{speed:.3g}",
            left=about(left),
        )

    def _paint(self, line: str) -> None:
        if self._live:
            write_raw(f"\r\x1b[2K{clean(line)}")
            self._open = True

    def _end_line(self) -> None:
        if self._open:
            write_raw("\n")
            self._open = False


def _bar(fraction: float) -> str:
    done = round(fraction * _BAR)
    return f"{'▓' * done}{'░' * (_BAR - done)} {fraction:.0%}"
