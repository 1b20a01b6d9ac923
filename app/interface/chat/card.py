"""The morning card as an entry of the transcript: what was learned, before and now, and by which numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.checks import told_override
from app.interface.entries import Entry
from app.interface.markdown.lines import Look, Span
from app.interface.times import clock_time, day_and_time
from app.report.card_words import aftermath, brief, gate_words, headline, named, to_decide, when

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.catalogue import Catalogue
    from app.report.card import Card
    from app.report.card_words import CheckRow

Row = tuple[Span, ...]
_BLANK: Row = (Span(""),)
_INDENT = Span("  ")


def card_entry(card: Card, words: Catalogue, name: str) -> Entry:
    """The card, told to the member called ``name``; its text, for whoever copies it, is the headline."""
    title = [Span(words.text("screen.assistant"), Look.STRONG | Look.ACCENT)]
    if card.current:
        title.append(Span(f" · {card.current}", Look.DIM))
    ended = card.run.ended_at or card.run.started_at
    entry = Entry(f"card {card.run.id}", tuple(title), clock_time(ended), headline(words, card, name), markdown=False)
    entry.notes = tuple(_rows(card, words))
    return entry


def _rows(card: Card, words: Catalogue) -> Iterator[Row]:
    yield (Span(when(words, card, day_and_time), Look.DIM),)
    if since := aftermath(words, card):
        yield (Span(f"⚠ {since}", Look.WARNING),)
    if override := card.verdict.get("override"):
        yield (Span(f"⚠ {words.text('training.overridden', **told_override(override))}", Look.WARNING),)
    if differ := to_decide(words, card):
        yield (Span(f"≠ {differ}", Look.WARNING, "screen.learning"),)
    yield tuple(_keys(card, words))
    total, rows = gate_words(words, card.verdict.get("checks") or ())
    held = card.run.state == "held"
    # Why nothing came of it is what matters most; of what came, the answers are.
    if held and rows:
        yield from _gate(words, total, [row for row in rows if not row.passes])
        rows, total = [row for row in rows if row.passes], words.text("card.within")
    yield from _examples(card, words)
    yield from _others(card, words)
    if rows:
        yield from _gate(words, total, rows)
    yield _BLANK


def _examples(card: Card, words: Catalogue) -> Iterator[Row]:
    names = words.text("card.before"), words.text("card.tried" if card.run.state == "held" else "card.after")
    cells = max(map(len, names))
    for each in card.examples:
        yield _BLANK
        yield (Span(brief(each.question), Look.STRONG),)
        yield _said(f"{names[0]:<{cells}}", each.before, Look.DIM, right=each.before_right)
        yield _said(f"{names[1]:<{cells}}", each.after, Look.PLAIN, right=each.after_right)


def _others(card: Card, words: Catalogue) -> Iterator[Row]:
    heading, lessons, more = named(words, card)
    if lessons:
        yield _BLANK
        yield (Span(heading, Look.STRONG),)
    for question, chosen in lessons:
        yield (_INDENT, Span(f"{question} "), Span(f"→ {chosen}", Look.DIM))
    if more:
        yield (_INDENT, Span(more, Look.DIM))


def _gate(words: Catalogue, total: str, rows: Iterable[CheckRow]) -> Iterator[Row]:
    yield _BLANK
    yield (Span(f"{words.text('card.gate')}  ", Look.STRONG), Span(total, Look.DIM))
    for row in rows:
        numbers = f"{row.name}  {row.value}  {row.bound}"
        if row.passes:
            yield (_INDENT, Span("✓ ", Look.SUCCESS), Span(numbers, Look.DIM))
        else:
            yield (_INDENT, Span(f"✗ {numbers}  {words.text('card.fails')}", Look.WARNING))


def _keys(card: Card, words: Catalogue) -> Iterator[Span]:
    """At the top, where they are seen on a small terminal too."""
    if card.back is not None:
        own = "_private" if card.run.member is not None else ""
        yield Span(words.text(f"card.undo{own}", back=card.back), Look.ACCENT, "screen.undo")
        yield Span(" · ", Look.DIM)
    yield Span(words.text("card.more_here"), Look.DIM, "screen.learning")


def _said(name: str, said: str, look: Look, *, right: bool) -> Row:
    sign = Span("✓ ", Look.SUCCESS) if right else Span("✗ ", Look.WARNING)
    return (_INDENT, Span(f"{name} ", Look.DIM), sign, Span(brief(said), look))
