"""The morning card on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.options import moment
from app.commands.output import write
from app.commands.verdict import write_checks
from app.report.card_words import aftermath, brief, headline, named, to_decide, when

if TYPE_CHECKING:
    from app.report.card import Card
    from app.session import Session


def write_card(session: Session, card: Card) -> None:
    """What was learned, before and after, the gate's numbers, and the way back."""
    words = session.catalogue
    write(headline(words, card, session.member.name))
    if since := aftermath(words, card):
        write(since)
    write(when(words, card, moment))
    if differ := to_decide(words, card):
        write(differ)
    if card.examples:
        write(f"\n{words.text('card.examples')}:")
    after = words.text("card.tried" if card.run.state == "held" else "card.after")
    for each in card.examples:
        write(f"  {brief(each.question)}")
        for name, said, right in (
            (words.text("card.before"), each.before, each.before_right),
            (after, each.after, each.after_right),
        ):
            write(f"    {name} {'✓' if right else '✗'} {brief(said)}")
    heading, lessons, more = named(words, card)
    if lessons:
        write(f"\n{heading}:")
    for question, chosen in lessons:
        write(f"  {words.text('card.pair', question=question, chosen=chosen)}")
    if more:
        write(f"  {more}")
    if card.verdict:
        write("")
        write_checks(words, card.verdict)
    if card.back is not None:
        own = "_private" if card.run.member is not None else ""
        write("\n" + words.text(f"card.rollback{own}", back=card.back))
