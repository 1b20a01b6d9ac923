"""What follows from what a family says, in both languages, by patterns alone."""

from __future__ import annotations

import pytest

from memory.household import Household
from tests.memory.said import MEMBERS, judge, precision, recall, utterances


@pytest.fixture
def family(household: Household) -> Household:
    for name in MEMBERS:
        household.members.add(name, "es")
    return household


def test_half_of_the_set_is_sayings_that_nothing_follows_from() -> None:
    said = utterances("written_first")
    assert len(said) >= 120
    assert sum(not entry["facts"] for entry in said) >= 60


def test_what_is_remembered_was_said_and_hardly_anything_else_is(family: Household) -> None:
    judged = judge(family, "written_first")
    assert [(each.say, each.wrong) for each in judged if each.wrong] == []
    assert precision(judged) >= 0.95
    assert recall(judged) >= 0.95
    assert all(each.spans for each in judged)


def test_what_later_sayings_taught_is_still_known(family: Household) -> None:
    later = ("written_after", "written_last", "written_at_the_end", "written_finally")
    judged = [each for part in later for each in judge(family, part)]
    assert precision(judged) >= 0.95
    assert recall(judged) >= 0.85
    assert all(each.spans for each in judged)
