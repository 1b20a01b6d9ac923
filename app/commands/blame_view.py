"""The search for the lesson for which a training was held: how it goes, and what it found, with what to do about it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.checks import check_name
from app.commands.output import remark, write, write_json, write_table
from app.commands.training_view import TrainingDetached, View
from app.errors_text import explain
from app.report.blame_story import BlameStory, Trial, read_blame
from app.report.wording import duration, number
from app.training import failure_of
from memory.errors import LessonUnknown
from memory.runlog import read
from memory.suspects import Suspect

if TYPE_CHECKING:
    from app.session import Session
    from memory.runs import Run


def watch_blame(session: Session, run: Run, *, as_json: bool) -> int:
    """Follow a search to its end; the exit code. Raises TrainingDetached on Ctrl-C."""
    progress = _Progress(session, run, quiet=as_json)
    try:
        while session.household.runs.get(run.id).state == "running":
            progress.look()
            time.sleep(session.settings.interface.training_seconds)
    except KeyboardInterrupt as interrupted:
        progress.end()
        raise TrainingDetached from interrupted
    progress.end()
    return show_blame(session, session.household.runs.get(run.id), as_json=as_json)


def show_blame(session: Session, run: Run, *, as_json: bool, also: Mapping[str, Any] | None = None) -> int:
    """What a search has found out so far; 1 where it failed. ``also`` goes into the JSON."""
    story = read_blame(session.home.runs / run.id, run)
    if as_json:
        write_json({**_as_json(session, story), **(also or {})})
    else:
        _show(session, story)
    if story.failure:
        remark(str(explain(failure_of(session.home, story.failure), session.catalogue)))
    return 1 if run.state == "failed" else 0


class _Progress:
    """What is shown while a search goes on: each training by what it leaves out, and how far it is."""

    def __init__(self, session: Session, run: Run, *, quiet: bool) -> None:
        self._session = session
        self._run = run
        self._folder = session.home.runs / run.id
        self._quiet = quiet
        self._offset = 0
        self._trial = self._folder
        self._trial_offset = 0
        self._view = View(session, run, quiet=quiet)

    def look(self) -> None:
        """Show what is new."""
        events, self._offset = read(self._folder, self._offset)
        for event in events:
            facts = event.facts or {}
            if event.kind == "trial_started":
                self.end()
                self._trial, self._trial_offset = self._folder / str(facts["folder"]), 0
                self._view = View(self._session, self._run, quiet=self._quiet)
                if not self._quiet:
                    without = _questions(self._session, facts["without"])
                    write(self._session.catalogue.text("command.blame.trying", without=without))
            elif event.kind == "trial_done" and not self._quiet:
                self.end()
                write(_outcome(self._session, tuple(facts["reasons"])))
        if self._trial != self._folder:
            told, self._trial_offset = read(self._trial, self._trial_offset)
            for event in told:
                self._view.draw(event)

    def end(self) -> None:
        """Leave the line that is painted over and over."""
        self._view.end_line()


def _show(session: Session, story: BlameStory) -> None:
    words = session.catalogue
    state = words.text(f"command.train.states.{story.run.state}")
    write(f"{story.run.id} · {state} · {words.text('command.blame.subject', run=story.blamed)}")
    if story.taken_up:
        write(words.text("command.blame.taken_up", run=story.taken_up))
    if story.reasons:
        write(words.text("command.blame.reasons", reasons=_reasons(session, story.reasons)))
    if story.suspects:
        write("\n" + words.text("command.blame.suspects"))
        names = ("lesson", "missed", "nats", "share", "against")
        heads = [words.text(f"command.blame.heads.{name}") for name in names]
        write_table(heads, [_suspect(session, each) for each in story.suspects])
    if story.trials:
        write("\n" + words.text("command.blame.trials"))
        heads = [words.text(f"command.blame.heads.{name}") for name in ("without", "outcome", "took")]
        write_table(heads, [_trial(session, each) for each in story.trials])
    if story.run.state == "done":
        _conclusion(session, story)


def _conclusion(session: Session, story: BlameStory) -> None:
    words = session.catalogue
    write("")
    if not story.lessons:
        write(words.text(f"command.blame.{'nothing' if story.complete else 'no_time'}", run=story.blamed))
        return
    write(words.count("command.blame.found", len(story.lessons)))
    for lesson in story.lessons:
        told = _lesson(session, lesson)
        if told["member"]:
            write(words.text("command.blame.lesson", **told))
        write(f"  {told['command']}")
    if not story.complete:
        write(words.text("command.blame.perhaps_fewer", run=story.blamed))
    write(words.text("command.blame.then"))


def _as_json(session: Session, story: BlameStory) -> dict[str, Any]:
    return {
        "run": story.run.id,
        "state": story.run.state,
        "blamed": story.blamed,
        "reasons": list(story.reasons),
        "complete": story.complete,
        "lessons": [_lesson(session, lesson) for lesson in story.lessons],
        "suspects": [vars(each) for each in story.suspects],
        "trials": [vars(each) for each in story.trials],
        "failure": dict(story.failure),
    }


def _lesson(session: Session, lesson_id: str) -> dict[str, str]:
    """Whose a lesson is and what it says, where this member may see it, and the command that takes it back."""
    told = {"lesson": lesson_id, "member": "", "question": "", "chosen": ""}
    try:
        lesson = session.memory.lessons.get(lesson_id)
        told |= {"question": lesson.question, "chosen": lesson.chosen}
        told["member"] = next((m.name for m in session.household.members.list() if m.id == lesson.member), "—")
    except LessonUnknown:
        # Private again, or gone with its member.
        told["question"] = lesson_id
    return {**told, "command": f"enlace lessons withdraw {lesson_id}"}


def _suspect(session: Session, each: Suspect) -> tuple[str, ...]:
    missed = f"{each.missed + each.wrong} / {each.asked + 1}"
    share = "—" if each.share is None else f"{each.share:.0%}"
    against = _questions(session, [each.against]) if each.against else "—"
    return (_questions(session, [each.lesson]), missed, number(each.nats), share, against)


def _trial(session: Session, each: Trial) -> tuple[str, ...]:
    return (_questions(session, each.without), _outcome(session, each.reasons), duration(each.seconds))


def _outcome(session: Session, reasons: Sequence[str]) -> str:
    words = session.catalogue
    if not reasons:
        return words.text("command.blame.passes")
    return words.text("command.blame.held", reasons=_reasons(session, reasons))


def _reasons(session: Session, reasons: Sequence[str]) -> str:
    return "; ".join(check_name(session.catalogue, reason) for reason in reasons)


def _questions(session: Session, lessons: Sequence[str]) -> str:
    return ", ".join(f"“{_lesson(session, lesson)['question']}”" for lesson in lessons)
