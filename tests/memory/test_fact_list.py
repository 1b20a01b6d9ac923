"""Facts to look through: found by what words begin with, read a page at a time, whoever changes them meanwhile."""

from __future__ import annotations

import pytest

from memory import fact_list
from memory.fact_list import FactList
from memory.household import Household, MemberMemory


@pytest.fixture
def memory(household: Household) -> MemberMemory:
    return household.member(household.members.add("Ana", "es").id)


def listed(memory: MemberMemory, *, forgotten: bool = False) -> FactList:
    return FactList.of(memory.hearing.ledger.rows, forgotten=forgotten)


def texts(found: FactList) -> list[str]:
    return [fact.text for fact in found.facts(0, len(found)) if fact is not None]


def test_the_newest_comes_first_from_both_files(memory: MemberMemory) -> None:
    memory.facts.add("El primo se llama Toño")
    memory.facts.add("La gata se llama Mimí", visibility="shared")
    memory.facts.add("El portal es el 2580")
    assert texts(listed(memory)) == ["El portal es el 2580", "La gata se llama Mimí", "El primo se llama Toño"]
    assert [fact.text for fact in listed(memory).facts(1, 2) if fact] == ["La gata se llama Mimí"]


def test_words_are_found_by_their_beginnings_accents_and_case_aside(memory: MemberMemory) -> None:
    memory.facts.add("Trabaja en Talleres Núñez")
    memory.facts.add("El horno es nuevo")
    found = listed(memory)
    assert texts(found.holding("nuñ TALL")) == ["Trabaja en Talleres Núñez"]
    assert texts(found.holding("nu")) == ["El horno es nuevo", "Trabaja en Talleres Núñez"]
    assert texts(found.holding("ñez")) == []
    assert texts(found.holding("%'\x00\"")) == texts(found)


def test_pages_of_reading_miss_nothing_and_count_nothing_twice(
    memory: MemberMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_list, "_AT_ONCE", 3)
    for number in range(10):
        memory.facts.add(f"Cosa número {number}")
    assert texts(listed(memory)) == [f"Cosa número {number}" for number in reversed(range(10))]


def test_what_is_forgotten_is_in_the_other_list_and_what_is_gone_leaves_its_place_empty(memory: MemberMemory) -> None:
    kept, gone = memory.facts.add("Se queda"), memory.facts.add("Se va")
    found = listed(memory)
    memory.facts.forget(kept.id)
    memory.facts.purge(gone.id)
    assert texts(listed(memory, forgotten=True)) == ["Se queda"]
    assert found.facts(0, 2)[0] is None
    assert len(listed(memory)) == 0


def test_nobody_lists_what_another_keeps_to_themselves(household: Household) -> None:
    ana, leo = (household.member(household.members.add(name, "es").id) for name in ("Ana", "Leo"))
    ana.facts.add("El secreto de Ana")
    assert texts(listed(leo)) == []
