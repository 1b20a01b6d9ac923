"""What a child or a guest shares waits for whoever administers; everything else about it is as ever."""

from __future__ import annotations

import pytest

from memory.errors import LessonUnknown
from memory.household import Household
from memory.lessons import Lesson
from memory.members import Standing


def shared(household: Household, name: str, question: str = "What is it?") -> Lesson:
    """A correction that this member has shared."""
    lessons = household.member(household.members.get(name).id).lessons
    return lessons.add([{"role": "user", "content": question}], "A lamp.", visibility="shared")


@pytest.fixture
def members(household: Household) -> Household:
    for name in ("Ana", "Leo"):
        household.members.add(name, "en")
    return household


@pytest.mark.parametrize("standing", ["child", "guest"])
def test_it_is_trained_once_it_is_approved(members: Household, standing: Standing) -> None:
    assert members.members.set_standing("Leo", standing).standing == standing
    own, waits = shared(members, "Ana"), shared(members, "Leo", "Where is it?")
    assert [each.id for each in members.corrections()] == [own.id]
    assert [each.id for each in members.lessons_for_training()] == [own.id]
    assert [each.id for each in members.approvals.waiting()] == [waits.id]
    members.approvals.approve(waits.id, "Ana")
    assert [each.id for each in members.corrections()] == [own.id, waits.id]
    assert members.approvals.waiting() == []
    with pytest.raises(LessonUnknown):
        members.approvals.approve(waits.id, "Ana")


def test_a_rating_waits_too(members: Household) -> None:
    members.members.set_standing("Leo", "child")
    lessons = members.member(members.members.get("Leo").id).lessons
    lessons.add([{"role": "user", "content": "Who?"}], "Ana.", visibility="shared", source="thumb")
    assert members.ratings() == []
    assert len(members.approvals.waiting()) == 1


def test_in_other_words_it_waits_anew(members: Household) -> None:
    members.members.set_standing("Leo", "child")
    lesson = shared(members, "Leo")
    members.approvals.approve(lesson.id, "Ana")
    members.member(lesson.member).lessons.edit(lesson.id, chosen="A shelf.")
    assert members.corrections() == []
    members.members.set_standing("Leo", "trusted")
    assert [each.chosen for each in members.corrections()] == ["A shelf."]


def test_what_was_trained_before_is_taken_back_until_it_is_approved(members: Household) -> None:
    lesson = shared(members, "Leo")
    run = members.runs.create("lessons")
    members.runs.give(run.id, [lesson.id])
    assert members.runs.taken_back() == {}
    members.members.set_standing("Leo", "guest")
    assert members.runs.taken_back() == {run.id: frozenset({lesson.id})}
    members.approvals.approve(lesson.id, "Ana")
    assert members.runs.taken_back() == {}


def recalled(household: Household, name: str, question: str = "What is it?") -> list[str]:
    """What comes to this member's mind at a question."""
    member = household.members.get(name)
    return [each.lesson.chosen for each in household.member(member.id).recall.find(question, member).lessons]


def test_until_it_is_approved_it_answers_only_whose_it_is(members: Household) -> None:
    members.members.set_standing("Leo", "child")
    waits = shared(members, "Leo", "What is our dog called?")
    assert recalled(members, "Leo", "What's our dog called?") == ["A lamp."]
    assert recalled(members, "Ana", "What's our dog called?") == []
    members.approvals.approve(waits.id, "Ana")
    assert recalled(members, "Ana", "What's our dog called?") == ["A lamp."]


def test_what_waits_replaces_nothing_for_anybody_else(members: Household) -> None:
    members.members.set_standing("Leo", "child")
    known = shared(members, "Ana", "What is our dog called?")
    lessons = members.member(members.members.get("Leo").id).lessons
    asked = [{"role": "user", "content": "What is our dog called?"}]
    waits = lessons.add(asked, "Captain Pizza.", visibility="shared")
    assert recalled(members, "Ana", "What is our dog called?") == ["A lamp."]
    assert recalled(members, "Leo", "What is our dog called?") == ["Captain Pizza."]
    assert [each.id for each in members.lessons_for_training()] == [known.id]
    members.approvals.approve(waits.id, "Ana")
    assert recalled(members, "Ana", "What is our dog called?") == ["Captain Pizza."]
    assert [each.id for each in members.lessons_for_training()] == [waits.id]
