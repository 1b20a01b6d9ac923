"""The morning card as an entry of the transcript: what was learned, before and now, and by which numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.checks import told_override
from app.interface.entries import Entry
from app.interface.markdown.lines import Look, Span
from app.interface.times import clock_time, day_and_time
from app.report.card_words import aftermath, brief, gate_line, headline, named, to_decide, when

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.catalogue import Catalogue
    from app.report.card import Card

Row = tuple[Span, ...]
_BLANK: Row = (Span(""),)


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
    held = card.run.state == "held"
    # Why nothing came of it is what matters most; of what came, the answers are.
    parts = [_examples(card, words), _others(card, words)]
    parts.insert(0 if held else len(parts), _gate(card, words))
    for part in parts:
        yield from part
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
    for line in [*lessons, *([more] if more else [])]:
        yield (Span("  "), Span(line, Look.DIM))


def _gate(card: Card, words: Catalogue) -> Iterator[Row]:
    if checks := card.verdict.get("checks"):
        yield _BLANK
        look = Look.WARNING if card.run.state == "held" else Look.DIM
        yield (Span(words.text("card.gate") + "  ", Look.STRONG), Span(gate_line(words, checks), look))


def _keys(card: Card, words: Catalogue) -> Iterator[Span]:
    """At the top, where they are seen on a small terminal too."""
    if card.back is not None:
        own = "_private" if card.run.member is not None else ""
        yield Span(words.text(f"card.undo{own}", back=card.back), Look.ACCENT, "screen.undo")
        yield Span(" · ", Look.DIM)
    yield Span(words.text("card.more_here"), Look.DIM, "screen.learning")


def _said(name: str, said: str, look: Look, *, right: bool) -> Row:
    sign = Span("✓ ", Look.SUCCESS) if right else Span("✗ ", Look.WARNING)
    return (Span("  "), Span(f"{name} ", Look.DIM), sign, Span(brief(said), look))
