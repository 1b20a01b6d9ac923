"""How a morning card is put into words, the same on the screen and on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from app.checks import check_bound, check_name, check_value
from app.probation_text import gone
from app.report.wording import energy, took
from app.terminal_text import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.catalogue import Catalogue
    from app.report.card import Card
    from memory.lessons import Lesson

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


def named(words: Catalogue, card: Card) -> tuple[str, list[str], str]:
    """What the new lessons beside the examples are called together, some of them, and how many more there are."""
    shown = {each.lesson for each in card.examples}
    others = [lesson for lesson in card.learned if lesson.id not in shown]
    rest = len(others) - _NAMED
    more = words.count("card.more", rest) if rest > 0 else ""
    heading = words.text("card.to_learn" if card.run.state == "held" else "card.learned")
    return heading, [_pair(words, each) for each in others[:_NAMED]], more


def gate_line(words: Catalogue, checks: Sequence[Mapping[str, Any]]) -> str:
    """How many checks passed, then each number beside its bound, those first that fail and say so."""
    checks = sorted(checks, key=lambda check: bool(check.get("ok")))
    passed = sum(bool(check.get("ok")) for check in checks)
    parts = []
    for check in checks:
        fails = "" if check.get("ok") else f" ✗ {words.text('card.fails')}"
        # Without a blank, so that no row ends between a sign and its number.
        bound = check_bound(check).replace(" ", "")
        value = check_value(check).replace(" ", "")
        parts.append(f"{check_name(words, str(check.get('name', '?')))} {value} ({bound}){fails}")
    return f"{words.count('card.passed', len(checks), passed=passed)}: {' · '.join(parts)}"


def brief(text: str) -> str:
    """What somebody said, clean, on one line, and cut where it is long."""
    line = " ".join(clean(text).split())
    return line if len(line) <= _CHARACTERS else line[: _CHARACTERS - 1].rstrip() + "…"


def _pair(words: Catalogue, lesson: Lesson) -> str:
    return words.text("card.pair", question=brief(lesson.question), chosen=brief(lesson.chosen))
