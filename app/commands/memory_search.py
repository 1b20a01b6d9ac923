"""``enlace memory search``: what a member's memory holds of a question: facts, and the messages that are evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, LimitOption, MemberOption, moment
from app.commands.output import write, write_json, write_table

if TYPE_CHECKING:
    from app.session import Session
    from memory.chats import Hit
    from memory.facts import Fact


def search(
    text: Annotated[str, typer.Argument(help="command.memory.words")],
    member: MemberOption = None,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> int:
    """Facts that come to mind or hold the words, and messages that hold most of what is asked: the best first."""
    from memory.candidates import fused

    with open_session(member=member) as session:
        memory = session.memory
        facts = {found.fact.id: found.fact for found in memory.recall.find(text, memory.member).facts}
        facts |= {fact.id: fact for fact in memory.facts.search(text, limit)}
        hits = {hit.message.id: hit for hit in memory.chats.evidence(text, limit)}
        # By place, since a fact's likeness and a message's share of the question are no numbers of one kind.
        legs = [{name: -float(place) for place, name in enumerate(leg)} for leg in (facts, hits)]
        scores = fused(legs, session.settings.memory.recall.meaning.fuse_after)
        best = sorted(scores, key=lambda name: scores[name], reverse=True)[:limit]
        _show(session, [facts.get(name) or hits[name] for name in best], scores, as_json=as_json)
        return 0


def hit_as_json(hit: Hit) -> dict[str, Any]:
    """A message that was found, as commands print it."""
    return {
        "id": hit.message.id,
        "conversation": hit.conversation.id,
        "title": hit.conversation.title,
        "role": hit.message.role,
        "snippet": hit.snippet,
        "score": hit.score,
        "created_at": hit.message.created_at,
    }


def _show(session: Session, found: list[Fact | Hit], scores: dict[str, float], *, as_json: bool) -> None:
    from memory.chats import Hit

    words = session.catalogue
    names = {member.id: member.name for member in session.household.members.list()}
    if as_json:
        write_json(
            [
                {"kind": "message", **hit_as_json(each), "score": scores[each.message.id]}
                if isinstance(each, Hit)
                else {"kind": "fact", **vars(each), "said_by_name": names.get(each.said_by), "score": scores[each.id]}
                for each in found
            ]
        )
        return
    if not found:
        write(words.text("command.found.none"))
        return
    heads = [words.text(f"command.found.heads.{head}") for head in ("when", "who", "where", "text")]
    rows = []
    for each in found:
        if isinstance(each, Hit):
            who = words.text("command.chats.you") if each.message.role == "user" else "Enlace"
            rows.append((moment(each.message.created_at), who, each.conversation.title, each.snippet))
        else:
            who, seen_by = names.get(each.said_by, "?"), words.text(f"command.{each.visibility}")
            rows.append((moment(each.created_at), who, f"{words.text('command.found.fact')} · {seen_by}", each.text))
    write_table(heads, rows)
