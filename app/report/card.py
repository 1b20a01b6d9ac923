"""The morning card: what a member is told of a training that came to its verdict while nobody looked.

It tells of shared lessons and of the member's own alone, and of none that was taken back since.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from app.report.reading import read_story
from app.report.story import Answer
from memory.runs import run_folder

if TYPE_CHECKING:
    from app.report.cost import Drawn
    from app.session import Session
    from memory.lessons import Lesson
    from memory.moves import Move
    from memory.runs import Run

EXAMPLES: Final = 3
_JUDGED: Final = ("shipped", "held")
_CONTRADICTED: Final = "contradicted"


@dataclass(frozen=True)
class Card:
    """``learned``: what no training before it was promoted with, the newest first; ``lessons``: how many in all.

    ``examples``: EXAMPLES answers at most, what has become right first. ``back``: what one key goes back to, "" for a
    member's answers without an adapter of their own; None where nothing can be undone. ``gone``: the move by which its
    snapshot was gone back from by itself. ``seconds``: None where it is not known; ``paused``: those beside.
    ``contradicted``: questions that members answer in different ways, which it therefore did not train.
    """

    run: Run
    learned: tuple[Lesson, ...]
    lessons: int
    examples: tuple[Answer, ...]
    verdict: Mapping[str, Any]
    seconds: float | None
    paused: float
    drawn: Drawn | None
    contradicted: int
    current: str
    back: str | None
    gone: Move | None

    def as_json(self) -> dict[str, Any]:
        """For other programs."""
        return {
            "learned": [{"id": each.id, "question": each.question, "chosen": each.chosen} for each in self.learned],
            "lessons": self.lessons,
            "examples": [asdict(each) for each in self.examples],
            "verdict": dict(self.verdict),
            "seconds": self.seconds,
            "paused": self.paused,
            "energy": self.drawn and asdict(self.drawn),
            "contradicted": self.contradicted,
            "back": self.back,
            "gone_back": self.gone and asdict(self.gone),
        }


def has_card(run: Run) -> bool:
    """Whether it came to a verdict."""
    return run.state in _JUDGED


def latest_judged(session: Session) -> Run | None:
    """The last run that came to a verdict, of those that the member may be told of."""
    return next(filter(has_card, session.household.runs.list(session.member.id)), None)


def card_of(session: Session, run: Run) -> Card:
    """What to tell the session's member of a run that came to a verdict; it must be one that they may be told of."""
    household, memory = session.household, session.memory
    runs, private = household.runs, run.member is not None
    given = memory.private.lessons(run.id) if private else runs.lessons(run.id)
    story = read_story(run_folder(session.home, run), run)
    left_out = {str(facts.get("id")) for facts in story.dropped}
    # What was taken back since is not active, or not where the run found it.
    visible = "private" if private else "shared"
    lessons = [
        each
        for each in memory.lessons.list(status="active")
        if each.id in given - left_out and each.visibility == visible and each.source != "thumb"
    ]
    before = next(runs.shipped_before(run), None)
    known: frozenset[str] = frozenset()
    if before is not None:
        known = memory.private.lessons(before.id) if private else runs.lessons(before.id)
    learned = [each for each in lessons if each.id not in known]
    current, back = _private_way(session, run) if private else _family_way(session, run)
    return Card(
        run,
        tuple(learned),
        len(lessons),
        _examples(story.answers, [*learned, *(each for each in lessons if each.id in known)], len(learned)),
        story.verdict,
        story.seconds,
        story.paused,
        story.drawn,
        len({facts.get("question") for facts in story.dropped if facts.get("reason") == _CONTRADICTED}),
        current,
        back,
        next((move for move in household.snapshots.history() if move.evidence and move.previous == run.snapshot), None),
    )


def _examples(answers: Iterable[Answer], lessons: list[Lesson], new: int) -> tuple[Answer, ...]:
    """One answer to each of some lessons, which are given the new ones first."""
    place = {lesson.id: number for number, lesson in enumerate(lessons)}

    def rank(answer: Answer) -> tuple[bool, bool, bool, int, bool]:
        turned = answer.after_right and not answer.before_right
        number = place[answer.lesson]
        return (not turned, not answer.after_right, number >= new, number, answer.held_out)

    chosen: dict[str, Answer] = {}
    for answer in sorted((each for each in answers if each.lesson in place), key=rank):
        chosen.setdefault(answer.lesson, answer)
    return tuple(chosen.values())[:EXAMPLES]


def _family_way(session: Session, run: Run) -> tuple[str, str | None]:
    """What answers now, and where a rollback would go if that is what this run made."""
    from configs.errors import EnlaceError

    snapshots = session.household.snapshots
    current = session.snapshot().id
    back = None
    if run.snapshot == current:
        with contextlib.suppress(EnlaceError):
            back = snapshots.rollback_target().id
    return current, back


def _private_way(session: Session, run: Run) -> tuple[str, str | None]:
    own = session.memory.private.current()
    back = (own.previous or "") if own is not None and own.id == run.snapshot else None
    return own.id if own else "", back
