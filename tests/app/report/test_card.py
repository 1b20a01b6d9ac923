"""The morning card: what a member is told of a training, and what they are not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from app.report.card import Card, card_of, latest_judged
from app.session import Session
from memory.lessons import Lesson
from memory.runs import LESSONS, PRIVATE, Run, run_folder
from tests.app.conftest import Run as RunCommand
from tests.app.report.conftest import CHECKS, Runs, answer


@dataclass
class Nights:
    """Trainings in a session's home."""

    session: Session

    def taught(self, question: str, chosen: str, visibility: str = "shared") -> Lesson:
        return self.session.memory.lessons.add(
            [{"role": "user", "content": question}],
            chosen,
            "I do not know.",
            visibility=visibility,  # type: ignore[arg-type]
        )

    def trained(self, *lessons: Lesson, answers: list[dict[str, Any]] | None = None, ship: bool = True) -> Run:
        """A run of the family's that was promoted, or held."""
        session, runs = self.session, Runs(self.session)
        base = session.snapshot()
        found = answers or [answer(each.question, each.chosen, right=True) | {"lesson": each.id} for each in lessons]
        held = runs.judged(found)
        session.household.runs.give(held.id, [each.id for each in lessons])
        if not ship:
            return held
        made = session.household.snapshots.create(
            base.base_name, base.base_sha256, adapters=(), parent=base.id, run=held.id, reason="training", gate=None
        )
        session.household.snapshots.promote(made.id, "Ana", f"run {held.id}")
        return session.household.runs.finish(held.id, "shipped", snapshot=made.id)

    def card(self, run: Run) -> Card:
        return card_of(self.session, run)


@pytest.fixture
def nights(session: Session) -> Nights:
    return Nights(session)


def test_it_tells_what_is_new_since_the_training_before(nights: Nights) -> None:
    dog, cat = nights.taught("The dog?", "Toby."), nights.taught("The cat?", "Mia.")
    nights.trained(dog)
    second = nights.card(nights.trained(dog, cat))
    assert [each.question for each in second.learned] == ["The cat?"]
    assert (second.lessons, second.current, second.back) == (2, "v2", "v1")
    assert nights.card(nights.trained(dog, cat)).learned == ()


def test_three_questions_show_what_has_become_right_first_and_each_lesson_once(nights: Nights) -> None:
    lessons = [nights.taught(f"Question {number}?", f"Answer {number}.") for number in range(5)]
    answers = []
    for number, lesson in enumerate(lessons):
        about = {"lesson": lesson.id, "before_right": number == 4}
        right = number != 3
        answers.append(answer(f"In other words {number}?", "x", right=right, held_out=True) | about)
        answers.append(answer(lesson.question, "x", right=right) | about)
    told = nights.card(nights.trained(*lessons, answers=answers)).examples
    # The fourth was not learned, the fifth was right before.
    assert [each.question for each in told] == ["Question 2?", "Question 1?", "Question 0?"]


def test_what_was_taken_back_since_is_not_told(nights: Nights) -> None:
    kept, hidden, gone = (nights.taught(f"{name}?", f"{name}.") for name in ("Kept", "Hidden", "Gone"))
    run = nights.trained(kept, hidden, gone)
    lessons = nights.session.memory.lessons
    lessons.unshare(hidden.id)
    lessons.withdraw(gone.id)
    card = nights.card(run)
    assert [each.question for each in card.learned] == ["Kept?"]
    assert [each.question for each in card.examples] == ["Kept?"]
    assert not {"Hidden", "Gone"} & set(json.dumps(card.as_json()).replace("?", " ").replace('"', " ").split())


def test_another_members_own_training_is_nobody_elses(nights: Nights, session: Session) -> None:
    assert session.member.name != "Luis"
    other = session.household.members.add("Luis", "en")
    theirs = session.household.member(other.id)
    lesson = theirs.lessons.add([{"role": "user", "content": "My secret?"}], "Kaspar.", "I do not know.")
    run = session.household.runs.create(PRIVATE, member=other.id)
    theirs.private.give(run.id, [lesson.id])
    folder = run_folder(session.home, run) / "evaluate"
    folder.mkdir(parents=True)
    told = answer(lesson.question, lesson.chosen, right=True) | {"lesson": lesson.id}
    (folder / "measures.json").write_text(json.dumps({"answers": [told]}))
    run = session.household.runs.finish(run.id, "held")
    assert latest_judged(session) is None
    with Session(session.environ, member="Luis") as own:
        assert latest_judged(own) == run
        card = card_of(own, run)
        assert [each.question for each in card.learned] == ["My secret?"]
        assert [each.question for each in card.examples] == ["My secret?"]
    # A run of the family's that it was given to by mistake would not tell it either.
    family = session.household.runs.create(LESSONS)
    session.household.runs.give(family.id, [lesson.id])
    assert card_of(session, session.household.runs.finish(family.id, "held")).learned == ()


def test_the_history_tells_of_the_last_one_and_of_any_other(here: RunCommand, nights: Nights) -> None:
    dog = nights.taught("The dog?", "Toby.")
    first = nights.trained(dog)
    second = nights.trained(dog, nights.taught("The cat?", "Mia."), ship=False)
    told = here("train", "history").out
    assert f"{first.id} " in told
    assert "the training did not pass the gate: nothing has changed, and v1 still answers" in told
    assert "  The cat?\n    before ✗ I do not know.\n    tried ✓ Mia." in told
    assert "0.8" in told
    assert "enlace snapshots rollback" not in told
    told = here("train", "history", first.id).out
    assert second.id not in told
    assert "I learned 1 thing, and v1 answers now." in told
    assert "To go back to v0: enlace snapshots rollback" in told
    rows = json.loads(here("train", "history", "--json").out)
    assert [row["card"]["learned"][0]["question"] for row in rows] == ["The cat?", "The dog?"]
    assert rows[0]["card"]["verdict"]["checks"] == CHECKS


def test_what_went_by_itself_since_says_so(here: RunCommand, nights: Nights, session: Session) -> None:
    run = nights.trained(nights.taught("The dog?", "Toby."))
    evidence = {"before": 60, "before_bad": 3, "after": 14, "after_bad": 6, "chance": 0.001}
    session.household.snapshots.rollback("enlace", "probation", "v0", evidence)
    told = here("train", "history", run.id).out
    assert "I learned 1 thing, and v1 came of it." in told
    assert "v1 was gone back from by itself: 6 of its first 14 answers" in told
    assert "enlace snapshots rollback" not in told


def test_it_says_what_the_training_drew_and_where_members_contradict_each_other(
    nights: Nights, here: RunCommand
) -> None:
    run = nights.trained(nights.taught("The dog?", "Toby."))
    for lesson in ("a", "b"):
        facts = {"name": "lesson_dropped", "id": lesson, "reason": "contradicted", "question": "The cat?"}
        Runs(nights.session).tell(run, "measure", "prepare", **facts)
    assert nights.card(run).contradicted == 1
    told = here("train", "history").out
    assert "about 1.31 Wh, measured in part" in told
    assert "You answer 1 question in different ways, so it is not trained: F9 and F5" in told
