"""``enlace train report``: what a training did, with small curves; the whole of it is left in its folder."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.checks import left_out
from app.commands.opening import open_session
from app.commands.options import JsonOption, MemberOption
from app.commands.output import write, write_json, write_table
from app.commands.verdict import write_checks
from app.curve import curve
from app.errors_text import explain
from app.report.wording import (
    STAGE,
    TRIED,
    curve_name,
    heading,
    number,
    stage_cells,
    summary,
    tried,
    warning,
)
from app.training import NoRun, failure_of

if TYPE_CHECKING:
    from app.report.story import Series, Story
    from app.session import Session

_CURVE_CELLS: Final = 48
_CURVE_ROWS: Final = 3
_AXIS: Final = "  │"


def report(
    run_id: Annotated[str | None, typer.Argument(metavar="[RUN]", help="command.train.run")] = None,
    member: MemberOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write the report of a training, the last one by default, and show what is in it."""
    from app.commands.blame_view import show_blame
    from app.report.files import leave_report
    from memory.runs import BLAME

    with open_session(member=member) as session:
        runs = session.household.runs
        run = runs.seen(run_id, session.member.id) if run_id else runs.latest(session.member.id)
        if run is None:
            raise NoRun
        if run.kind == BLAME:
            return show_blame(session, run, as_json=as_json)
        story, path = leave_report(session.home, run, session.catalogue)
        if as_json:
            write_json({**asdict(story), "page": str(path)})
            return 0
        _show(session, story)
        write("\n" + session.catalogue.text("report.written", path=path))
        return 0


def _show(session: Session, story: Story) -> None:
    words = session.catalogue
    write(heading(words, story))
    write(" · ".join(f"{name} {value}" for name, value in summary(words, story)))
    for series in [*story.curves, *([story.rate] if story.rate else [])]:
        _show_curve(curve_name(words, series.name), series)
    for name in story.warnings:
        write("\n" + warning(words, name))
    if story.verdict:
        write("")
        write_checks(words, story.verdict)
    missed = [answer for answer in story.answers if not answer.after_right]
    if missed:
        write("\n" + words.text("report.not_learned"))
        write_table(_heads(session, "question", "said"), [(each.question, each.after) for each in missed])
    if story.dropped:
        write("")
        for each in story.dropped:
            write(left_out(words, each))
    if story.trials:
        write("\n" + words.text("report.trials_are"))
        write_table(_heads(session, *TRIED), [tried(words, each) for each in story.trials])
    if story.stages:
        write("")
        stages = [stage_cells(words, each) for each in story.stages]
        write_table(_heads(session, *STAGE), stages)
    if story.withdrawn:
        write("\n" + words.text("report.withdrawn", number=story.withdrawn))
    if story.failure:
        write("\n" + str(explain(failure_of(session.home, story.failure), words)))


def _show_curve(name: str, series: Series) -> None:
    write(f"\n{name}  {number(series.values[0])} → {number(series.values[-1])}")
    for row in curve(series.values, _CURVE_CELLS, _CURVE_ROWS):
        write(f"{_AXIS}{row}")


def _heads(session: Session, *names: str) -> list[str]:
    return [session.catalogue.text(f"report.heads.{name}") for name in names]
