"""``enlace lessons``: corrections, which are used at once and trained on by night."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from app.checks import left_out
from app.commands.errors import LessonWithdrawn
from app.commands.forgotten import tell_forgotten
from app.commands.lessons_waiting import approve, contradicted, waiting
from app.commands.opening import open_session
from app.commands.options import ForGoodOption, JsonOption, MemberOption, YesOption, confirm, find, group, moment
from app.commands.output import harmless, remark, write, write_json, write_raw, write_table
from app.standing import adults_alone, own_lessons_alone
from app.training import start_training, training_rows

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.session import Session
    from memory.lesson_files import BadLine
    from memory.lessons import Lesson
    from memory.visibility import Visibility

LessonArgument = Annotated[str, typer.Argument(help="command.lessons.reference")]
PrivateOption = Annotated[bool, typer.Option("--private", help="command.lessons.private")]
# Stands for the standard input, or the standard output.
STREAM = Path("-")
MOST_TOLD: Final = 20  # bad lines of a file; more would push the first ones off the screen
FileArgument = Annotated[Path, typer.Argument(help="command.lessons.file")]


def register(commands: typer.Typer) -> None:
    """Add the group ``lessons``."""
    lessons = group("lessons")
    lessons.command("list", help="command.lessons.list")(list_lessons)
    lessons.command("add", help="command.lessons.add")(add)
    lessons.command("import", help="command.lessons.import")(import_lessons)
    lessons.command("export", help="command.lessons.export")(export)
    lessons.command("collect", help="command.lessons.collect")(collect)
    lessons.command("share", help="command.lessons.share")(share)
    lessons.command("withdraw", help="command.lessons.withdraw")(withdraw)
    lessons.command("waiting", help="command.lessons.waiting.help")(waiting)
    lessons.command("approve", help="command.lessons.waiting.approve")(approve)
    lessons.command("contradicted", help="command.lessons.contradicted.help")(contradicted)
    lessons.command("restore", help="command.lessons.restore")(restore)
    commands.add_typer(lessons)


def list_lessons(member: MemberOption = None, as_json: JsonOption = False) -> int:
    """The member's own lessons and the shared ones, the newest first."""
    with open_session(member=member) as session:
        lessons = session.memory.lessons.list()
        waits = session.household.approvals.waiting_ids()
        if as_json:
            write_json([_told(lesson, waits) for lesson in lessons])
            return 0
        words = session.catalogue
        if not lessons:
            write(words.text("command.lessons.none"))
            return 0
        names = ("number", "when", "seen_by", "source", "status", "question", "chosen")
        heads = [words.text(f"command.lessons.heads.{name}") for name in names]
        write_table(heads, [(n, *_row(session, lesson, waits)) for n, lesson in enumerate(lessons, 1)])
        return 0


def add(
    question: Annotated[str, typer.Option("--question", help="command.lessons.question")],
    chosen: Annotated[str, typer.Option("--chosen", help="command.lessons.chosen")],
    rejected: Annotated[str | None, typer.Option("--rejected", help="command.lessons.rejected")] = None,
    member: MemberOption = None,
    private: PrivateOption = False,
    as_json: JsonOption = False,
) -> int:
    """Teach the right answer to a question; the household's unless it is private."""
    from memory.lesson_files import already_there

    with open_session(member=member) as session:
        lessons = session.memory.lessons
        seen_by: Visibility = "private" if private else "shared"
        known = already_there(lessons, question, chosen, rejected or "", seen_by)
        messages = [{"role": "user", "content": question}]
        lesson = known or lessons.add(messages, chosen, rejected, visibility=seen_by, source="edit")
        waits = session.household.approvals.waiting_ids()
        if as_json:
            write_json(_told(lesson, waits))
        else:
            added = "added_waiting" if lesson.id in waits else f"added_{lesson.visibility}"
            said = "known" if known else added
            write(session.catalogue.text(f"command.lessons.{said}", question=lesson.question))
        return 0


def import_lessons(
    file: FileArgument,
    member: MemberOption = None,
    private: PrivateOption = False,
    skip_bad: Annotated[Path | None, typer.Option("--skip-bad", help="command.lessons.skip_bad")] = None,
) -> int:
    """Add the lessons of a JSON Lines file, all of them or none; or all but the bad lines, which are kept."""
    from memory.errors import LessonLinesWrong
    from memory.lesson_files import import_jsonl

    with open_session(member=member) as session:
        source = Path("/dev/stdin") if file == STREAM else file
        words = session.catalogue
        try:
            done = import_jsonl(session.memory.lessons, source, shared=not private, bad_to=skip_bad)
        except LessonLinesWrong as wrong:
            _tell_bad_lines(words, wrong.bad)
            raise
        if done.bad:
            _tell_bad_lines(words, done.bad)
            remark(words.count("command.lessons.skipped", len(done.bad), path=skip_bad))
        write(words.count("command.lessons.imported", done.added, known=done.known))
        return 0


def _tell_bad_lines(words: Catalogue, lines: Sequence[BadLine]) -> None:
    """Each line that is no lesson with its number and why, up to a screenful."""
    for line in lines[:MOST_TOLD]:
        remark(words.text(f"command.lessons.bad.{line.reason}", line=line.line, **line.facts))
    if len(lines) > MOST_TOLD:
        remark(words.text("command.lessons.bad.more", number=len(lines) - MOST_TOLD))


def export(
    file: FileArgument,
    member: MemberOption = None,
    form: Annotated[
        Literal["preference", "supervised", "training"], typer.Option("--form", help="command.lessons.form")
    ] = "preference",
) -> int:
    """Write the active lessons as JSON Lines, or what the next training makes of the shared ones."""
    from memory.lesson_files import as_jsonl, export_jsonl
    from memory.whole_files import write_new

    with open_session(member=member) as session:
        words = session.catalogue
        if form == "training":
            rows, dropped = training_rows(session)
            for each in dropped:
                remark(left_out(words, each))
            if file == STREAM:
                write_raw(harmless(rows))
            else:
                write_new(file, rows)
                write(words.count("command.lessons.exported_rows", rows.count("\n"), path=file))
            return 0
        lessons = session.memory.lessons.list(status="active")
        if file == STREAM:
            text, done = as_jsonl(lessons, form)
            write_raw(harmless(text))
        else:
            done = export_jsonl(lessons, file, form)
            write(words.count("command.lessons.exported", done.written, path=file))
        if done.left_out:
            remark(words.count("command.lessons.left_out", done.left_out))
        return 0


def collect(repository: Annotated[Path, typer.Argument(help="command.lessons.repository")], file: FileArgument) -> int:
    """Write pairs from a git repository; nothing is learned of them until somebody imports them."""
    from memory.repository import Asking, pairs_of, read_commits
    from memory.whole_files import write_new

    with open_session() as session:
        words, settings = session.catalogue, session.settings.memory.repository
        asking = Asking(*(words.text(f"command.lessons.asking.{kind}") for kind in ("message", "edit", "review")))
        pairs = pairs_of(read_commits(repository, settings), asking, settings)
        text = "".join(pair.as_line() + "\n" for pair in pairs)
        if file == STREAM:
            write_raw(harmless(text))
        else:
            write_new(file, text)
            write(words.count("command.lessons.collected", len(pairs), path=file))
        return 0


def share(reference: LessonArgument, member: MemberOption = None) -> int:
    """Let the household and the training see a lesson. Raises LessonWithdrawn."""
    with open_session(member=member) as session:
        found = _find(session, reference)
        if found.status == "withdrawn":
            raise LessonWithdrawn(question=found.question)
        lesson = session.memory.lessons.share(found.id)
        waits = lesson.id in session.household.approvals.waiting_ids()
        write(
            session.catalogue.text(
                f"command.lessons.{'added_waiting' if waits else 'shared'}", question=lesson.question
            )
        )
        return 0


def withdraw(
    reference: LessonArgument,
    retrain: Annotated[bool, typer.Option("--retrain", help="command.lessons.retrain")] = False,
    member: MemberOption = None,
    for_good: ForGoodOption = False,
    yes: YesOption = False,
) -> int:
    """Take a lesson out of recall, of the trainings to come, and of what past ones wrote; or remove it for good."""
    from app.commands.training_view import watch
    from app.withdrawing import forget_in_runs, what_still_knows

    with open_session(member=member) as session:
        found = _find(session, reference)
        own_lessons_alone(session, found)
        if retrain and found.visibility == "shared":
            adults_alone(session)
        if for_good:
            from app.forgetting import forget_lessons

            confirm(session.catalogue.text("command.lessons.sure_for_good", question=found.question), yes=yes)
            tell_forgotten(session, forget_lessons(session, [found.id]), found.question)
        else:
            session.memory.lessons.withdraw(found.id)
            forget_in_runs(session, found.id)
            said = "withdrawn_before" if found.status == "withdrawn" else "withdrawn"
            write(session.catalogue.text(f"command.lessons.{said}", question=found.question))
            for sentence in what_still_knows(session, found.id):
                write(sentence)
        if retrain:
            run = start_training(session, mine=found.visibility == "private")
            return watch(session, run.id, as_json=False)
        return 0


def restore(reference: LessonArgument, member: MemberOption = None) -> int:
    """Take a withdrawal back."""
    with open_session(member=member) as session:
        found = _find(session, reference)
        own_lessons_alone(session, found)
        lesson = session.memory.lessons.restore(found.id)
        write(session.catalogue.text("command.lessons.restored", question=lesson.question))
        return 0


def _find(session: Session, reference: str) -> Lesson:
    from memory.errors import LessonUnknown

    lessons = session.memory.lessons.list()
    return find(lessons, reference, lambda entry: entry.id, lambda wrong: LessonUnknown(id=wrong))


def _told(lesson: Lesson, waits: Collection[str]) -> dict[str, Any]:
    """A lesson as JSON; ``waiting``: whether it answers nobody but whoever shared it until it is approved."""
    return {**vars(lesson), "question": lesson.question, "waiting": lesson.id in waits}


def _row(session: Session, lesson: Lesson, waits: Collection[str]) -> tuple[str, ...]:
    words = session.catalogue
    state = "waiting" if lesson.id in waits else lesson.status
    # What waits answers whoever shared it alone.
    seen_by = words.text(f"command.{lesson.visibility}")
    if lesson.id in waits:
        seen_by = session.household.members.get(lesson.member).name
    return (
        moment(lesson.created_at),
        seen_by,
        words.text(f"command.lessons.sources.{lesson.source}"),
        words.text(f"command.lessons.states.{state}"),
        lesson.question,
        lesson.chosen,
    )
