"""``enlace lessons waiting|approve|contradicted``: what children and guests have shared and nobody has let be trained
yet, and what members answer in different ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption, find, moment
from app.commands.output import write, write_json, write_table
from app.standing import admin_alone

if TYPE_CHECKING:
    from app.session import Session


def waiting(member: MemberOption = None, as_json: JsonOption = False) -> int:
    """The shared lessons that are not trained yet, because a child or a guest shared them; the newest first."""
    with open_session(member=member) as session:
        _prove(session)
        household, words = session.household, session.catalogue
        lessons = household.approvals.waiting()
        if as_json:
            write_json([{**vars(lesson), "question": lesson.question} for lesson in lessons])
            return 0
        if not lessons:
            write(words.text("command.lessons.waiting.none"))
            return 0
        names = {member.id: member.name for member in household.members.list()}
        heads = [words.text(f"command.lessons.heads.{name}") for name in ("number", "when")]
        heads += [words.text("command.memory.heads.who")]
        heads += [words.text(f"command.lessons.heads.{name}") for name in ("question", "chosen")]
        rows = [
            (n, moment(each.created_at), names.get(each.member, "—"), each.question, each.chosen)
            for n, each in enumerate(lessons, 1)
        ]
        write_table(heads, rows)
        return 0


def approve(
    reference: Annotated[str, typer.Argument(help="command.lessons.waiting.reference")], member: MemberOption = None
) -> int:
    """Let a lesson that waits be trained. Raises AdminAlone and LessonNotWaiting."""
    from memory.errors import LessonNotWaiting

    with open_session(member=member) as session:
        admin_alone(session)
        approvals = session.household.approvals
        lesson = find(approvals.waiting(), reference, lambda each: each.id, lambda wrong: LessonNotWaiting(id=wrong))
        approvals.approve(lesson.id, session.member.name)
        write(session.catalogue.text("command.lessons.waiting.approved", question=lesson.question))
        return 0


def contradicted(member: MemberOption = None, as_json: JsonOption = False) -> int:
    """What members answer in different ways, each with its number in ``enlace lessons list``."""
    from app.deciding import contradictions

    with open_session(member=member) as session:
        _prove(session)
        household, words = session.household, session.catalogue
        found = contradictions(session)
        if as_json:
            write_json(
                [
                    {"question": e.question, "trained": e.trained, "sides": [list(map(vars, s)) for s in e.sides]}
                    for e in found
                ]
            )
            return 0
        if not found:
            write(words.text("command.lessons.contradicted.none"))
            return 0
        names = {each.id: each.name for each in household.members.list()}
        numbers = {each.id: number for number, each in enumerate(session.memory.lessons.list(), 1)}
        heads = [words.text(f"command.lessons.heads.{name}") for name in ("number", "when")]
        heads += [words.text("command.memory.heads.who"), words.text("command.lessons.heads.chosen")]
        for each in found:
            write(each.question)
            lessons = [lesson for side in each.sides for lesson in side]
            rows = [
                (numbers.get(lesson.id, "—"), moment(lesson.created_at), names.get(lesson.member, "—"), lesson.chosen)
                for lesson in lessons
            ]
            write_table(heads, rows)
            write("")
        write(words.text("command.lessons.contradicted.how"))
        return 0


def _prove(session: Session) -> None:
    """What members said is told to one of them alone, also where there is none of it. Raises SecretNeeded."""
    _ = session.member
