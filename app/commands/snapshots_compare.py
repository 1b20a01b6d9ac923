"""``enlace snapshots compare``: two snapshots side by side on the family's own corrections, and by their gates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.checks import check_bound, check_name, check_value
from app.commands.opening import open_session
from app.commands.options import JsonOption, LimitOption, MemberOption
from app.commands.output import remark, write, write_json, write_table

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.comparing import Compared
    from app.session import Session
    from memory.lessons import Lesson
    from memory.snapshots import Snapshot

Two = tuple["Snapshot", "Snapshot"]


def compare(
    first: Annotated[str, typer.Argument(help="command.snapshots.compare.first")] = "previous",
    second: Annotated[str, typer.Argument(help="command.snapshots.compare.second")] = "current",
    limit: LimitOption = 20,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Ask two snapshots what the family corrected, and say which one fits; what answers stays as it is."""
    from app.comparing import corrections

    with open_session(member=member) as session:
        session.snapshot()
        snapshots = session.household.snapshots
        two = snapshots.whole(snapshots.named(first).id), snapshots.whole(snapshots.named(second).id)
        lessons = corrections(session)[:limit]
        if as_json:
            found = asyncio.run(_ask(session, two, lessons, lambda compared: None))
            write_json(_as_json(two, found))
            return 0
        words = session.catalogue
        _write_checks(words, two)
        if not lessons:
            write(words.text("command.snapshots.compare.no_corrections"))
            return 0
        remark(words.count("command.snapshots.compare.asking", len(lessons)))
        found = asyncio.run(_ask(session, two, lessons, lambda compared: _write_compared(words, two, compared)))
        _write_sum(words, two, found)
        return 0


@dataclass
class _Found:
    """What was compared; ``too_long``: how many questions the model cannot read."""

    compared: list[Compared] = field(default_factory=list)
    too_long: int = 0

    def fitting(self, which: int) -> int:
        """How many answers of the first (0) or the second (1) snapshot fit."""
        return sum(compared.fits[which] for compared in self.compared)


async def _ask(session: Session, two: Two, lessons: Sequence[Lesson], tell: Callable[[Compared], None]) -> _Found:
    from app.comparing import Comparison

    comparison, found = Comparison(session.engine, two, session.settings), _Found()
    for lesson in lessons:
        compared = await comparison.of(lesson)
        if compared is None:
            found.too_long += 1
        else:
            found.compared.append(compared)
            tell(compared)
    return found


def _write_checks(words: Catalogue, two: Two) -> None:
    checks = _checks(two)
    if not checks:
        write(words.text("command.snapshots.compare.no_gate"))
        return
    heads = [words.text(f"command.train.heads.{name}") for name in ("check", "bound")]
    rows = [
        (check_name(words, name), check_bound(next(each for each in pair if each)), *map(check_value, pair))
        for name, pair in checks.items()
    ]
    write_table([*heads, *(snapshot.id for snapshot in two)], rows)


def _checks(two: Two) -> dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """By name what the gate measured of each of them; empty where it did not."""
    one, other = ({str(each["name"]): each for each in (snapshot.gate or {}).get("checks", [])} for snapshot in two)
    return {name: (one.get(name, {}), other.get(name, {})) for name in {**one, **other}}


def _write_compared(words: Catalogue, two: Two, compared: Compared) -> None:
    lesson = compared.lesson
    whose = "own" if lesson.visibility == "private" else "shared"
    write(words.text(f"command.snapshots.compare.{whose}", question=lesson.question))
    write(words.text("command.snapshots.compare.correction", chosen=lesson.chosen))
    for snapshot, answer, fits in zip(two, compared.answers, compared.fits, strict=True):
        key = "fits" if fits else "fits_not"
        write(words.text(f"command.snapshots.compare.{key}", snapshot=snapshot.id, answer=" ".join(answer.split())))


def _write_sum(words: Catalogue, two: Two, found: _Found) -> None:
    asked = len(found.compared)
    for which, snapshot in enumerate(two):
        facts = {"snapshot": snapshot.id, "fitting": found.fitting(which)}
        write(words.count("command.snapshots.compare.sum", asked, **facts))
    if found.too_long:
        write(words.count("command.snapshots.compare.too_long", found.too_long))


def _as_json(two: Two, found: _Found) -> dict[str, Any]:
    """Whatever there is of both is in the order of ``snapshots``."""
    lessons = [
        {
            "lesson": each.lesson.id,
            "visibility": each.lesson.visibility,
            "question": each.lesson.question,
            "correction": each.lesson.chosen,
            "answers": each.answers,
            "fits": each.fits,
        }
        for each in found.compared
    ]
    return {
        "snapshots": [snapshot.id for snapshot in two],
        "checks": _checks(two),
        "lessons": lessons,
        "fitting": [found.fitting(which) for which in range(len(two))],
        "too_long": found.too_long,
    }
