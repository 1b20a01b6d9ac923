"""How a morning card is put into words, the same on the screen and on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from app.checks import check_bound, check_name, check_value
from app.probation_text import gone
from app.report.wording import energy, took
from app.terminal_text import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.catalogue import Catalogue
    from app.report.card import Card

# What was learned is named up to here; the rest is counted.
_NAMED: Final = 5
# A question or an answer is cut here: a card is read at a glance.
_CHARACTERS: Final = 120


def headline(words: Catalogue, card: Card, name: str) -> str:
    """What has come of it, in a sentence to the member called ``name``."""
    own = "_private" if card.run.member is not None else ""
    facts = {"name": clean(name), "snapshot": clean(card.run.snapshot or ""), "current": clean(card.current)}
    if card.run.state == "held":
        return words.text(f"card.held{own}", **facts)
    if not card.learned:
        return words.text(f"card.again{own}", **facts)
    # What made way for another since is told as past.
    past = "" if own or card.run.snapshot == card.current else "_past"
    return words.count(f"card.shipped{own or past}", len(card.learned), **facts)


def aftermath(words: Catalogue, card: Card) -> str:
    """What has become of it since; empty where it answers, or never did."""
    if card.gone is not None:
        return gone(words, card.gone)
    if card.run.state == "held" or card.run.member is not None or card.run.snapshot == card.current:
        return ""
    return words.text("card.left", snapshot=clean(card.run.snapshot or ""), current=clean(card.current))


def to_decide(words: Catalogue, card: Card) -> str:
    """That members answer in different ways, and where that is decided; empty where they do not."""
    return words.count("card.contradicted", card.contradicted) if card.contradicted else ""


def when(words: Catalogue, card: Card, day_and_time: Callable[[float], str]) -> str:
    """When it began, how long it took and how much energy, and what it is called."""
    parts = [day_and_time(card.run.started_at), words.text("card.took", took=took(words, card.seconds, card.paused))]
    if card.drawn is not None and card.drawn.joules:
        parts.append(energy(words, card.drawn))
    return " · ".join([*parts, card.run.id])


def named(words: Catalogue, card: Card) -> tuple[str, list[tuple[str, str]], str]:
    """What the new lessons beside the examples are called together, some of them with their answers, and how many more
    there are.
    """
    shown = {each.lesson for each in card.examples}
    others = [lesson for lesson in card.learned if lesson.id not in shown]
    rest = len(others) - _NAMED
    more = words.count("card.more", rest) if rest > 0 else ""
    heading = words.text("card.to_learn" if card.run.state == "held" else "card.learned")
    return heading, [(brief(each.question), brief(each.chosen)) for each in others[:_NAMED]], more


@dataclass(frozen=True)
class CheckRow:
    """One of the gate's numbers, beside its bound, in columns of the same width."""

    name: str
    value: str
    bound: str
    passes: bool


def gate_words(words: Catalogue, checks: Sequence[Mapping[str, Any]]) -> tuple[str, list[CheckRow]]:
    """How many checks passed, and each of them, those first that did not."""
    passed = sum(bool(check.get("ok")) for check in checks)
    cells = [
        (check_name(words, str(check.get("name", "?"))), check_value(check), check_bound(check), bool(check.get("ok")))
        for check in sorted(checks, key=lambda check: bool(check.get("ok")))
    ]
    width = max((len(name) for name, *_ in cells), default=0)
    values = _by_the_point([value for _, value, *_ in cells])
    rows = [
        CheckRow(f"{name:<{width}}", value, bound, ok)
        for (name, _, bound, ok), value in zip(cells, values, strict=True)
    ]
    return words.count("card.passed", len(checks), passed=passed), rows


def _by_the_point(numbers: Sequence[str]) -> list[str]:
    """Numbers of one column, so that they stand with their points below each other."""
    parts = [number.partition(".") for number in numbers]
    before, after = (max((len(part[side]) for part in parts), default=0) for side in (0, 2))
    return [f"{whole:>{before}}{point or ' '}{rest:<{after}}" for whole, point, rest in parts]


def brief(text: str) -> str:
    """What somebody said, clean, on one line, and cut where it is long."""
    line = " ".join(clean(text).split())
    return line if len(line) <= _CHARACTERS else line[: _CHARACTERS - 1].rstrip() + "…"
