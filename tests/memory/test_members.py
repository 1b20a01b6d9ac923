"""Who belongs to the household."""

from __future__ import annotations

import pytest

from memory.errors import MemberExists, MemberNameWrong, MemberUnknown
from memory.household import Household


def test_a_new_household_begins_with_one_member_who_is_its_admin(household: Household) -> None:
    first = household.members.default(name="Núria")
    assert (first.name, first.language, first.admin) == ("Núria", "", True)
    assert household.members.default(name="other") == first
    assert not household.members.add("Leo", "es").admin


def test_a_member_is_found_by_name_whatever_its_case_and_accents(household: Household) -> None:
    nuria = household.members.add("Núria", "es")
    assert household.members.get("NURIA") == household.members.get(nuria.id) == nuria
    with pytest.raises(MemberUnknown):
        household.members.get("Leo")


def test_two_members_cannot_have_names_that_read_alike(household: Household) -> None:
    household.members.add("José", "es")
    leo = household.members.add("Leo", "es")
    with pytest.raises(MemberExists):
        household.members.add(" jose ", "es")
    with pytest.raises(MemberExists):
        household.members.rename("Leo", "JOSÉ")
    assert household.members.rename("Leo", "LEO").id == leo.id


@pytest.mark.parametrize("name", ["", "  ", "\u0301", "a\x1bb", "x" * 61, "a\u202eb"])
def test_a_name_that_nobody_could_read_is_refused(household: Household, name: str) -> None:
    with pytest.raises(MemberNameWrong):
        household.members.add(name, "es")


def test_removing_a_member_removes_their_file_and_what_they_shared(household: Household) -> None:
    household.members.add("Ana", "es")
    leo = household.members.add("Leo", "es")
    memory = household.member(leo.id)
    memory.facts.add("a Leo le gusta el queso", visibility="shared")
    memory.lessons.add([{"role": "user", "content": "¿Qué?"}], "Eso.", visibility="shared")
    household.members.remove("Leo")
    assert not household.home.member_db(leo.id).exists()
    assert household.lessons_for_training() == []
    with pytest.raises(MemberUnknown):
        household.member(leo.id)
    assert household.member(household.members.get("Ana").id).facts.list() == []


def test_whoever_is_removed_elsewhere_is_named_and_not_told_by_an_id(household: Household) -> None:
    household.members.add("Ana", "es")
    leo = household.members.add("Leo", "es")
    household.member(leo.id)
    with Household.open(household.home, household.settings) as elsewhere:
        elsewhere.members.remove("Leo")
    with pytest.raises(MemberUnknown) as refused:
        household.member(leo.id)
    assert refused.value.facts == {"name": "Leo"}


def test_whoever_came_first_administers_once_the_last_one_who_did_is_removed(household: Household) -> None:
    first, ana, leo = (household.members.add(name, "es") for name in ("Núria", "Ana", "Leo"))
    assert household.members.remove(leo.id) is None
    heir = household.members.remove(first.id)
    assert heir is not None
    assert (heir.id, heir.admin) == (ana.id, True)
    assert household.members.list() == [heir]
