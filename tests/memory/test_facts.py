"""What the family asked to be remembered."""

from __future__ import annotations

import pytest

from memory.errors import FactEmpty, FactTooLong, FactUnknown
from memory.household import MemberMemory


def test_a_fact_is_kept_word_for_word_with_who_said_it(memory: MemberMemory) -> None:
    fact = memory.facts.add("  El cole acaba a las 16:30  ", subject="cole")
    assert (fact.text, fact.subject, fact.said_by) == ("El cole acaba a las 16:30", "cole", memory.member.id)
    assert memory.facts.list() == [fact]


def test_a_forgotten_fact_comes_to_nobodys_mind_until_it_is_restored(memory: MemberMemory) -> None:
    fact = memory.facts.add("A Núria le sienta mal la leche")
    memory.facts.forget(fact.id)
    assert memory.facts.list() == memory.facts.search("leche") == []
    assert memory.recall.find("¿A quién le sienta mal la leche?", memory.member).facts == ()
    assert [fact.id for fact in memory.facts.list(forgotten=True)] == [fact.id]
    memory.facts.restore(fact.id)
    assert memory.facts.search("NURIA") == [fact]
    assert memory.recall.find("¿A quién le sienta mal la leche?", memory.member).facts[0].fact == fact


def test_a_fact_can_be_shared_and_taken_back(memory: MemberMemory, other: MemberMemory) -> None:
    fact = memory.facts.add("la llave está en la maceta")
    assert other.facts.list() == []
    memory.facts.edit(fact.id, visibility="shared")
    assert [seen.text for seen in other.facts.list()] == [fact.text]
    memory.facts.edit(fact.id, visibility="private", text="la llave está en el cajón")
    assert other.facts.list() == []
    assert [(seen.text, seen.visibility) for seen in memory.facts.list()] == [("la llave está en el cajón", "private")]


def test_a_fact_that_another_shared_cannot_be_taken_for_oneself(memory: MemberMemory, other: MemberMemory) -> None:
    fact = memory.facts.add("la llave está en la maceta", visibility="shared")
    with pytest.raises(FactUnknown):
        other.facts.edit(fact.id, visibility="private")
    assert memory.facts.list() == other.facts.list() == [fact]


def test_a_purged_fact_is_gone(memory: MemberMemory) -> None:
    fact = memory.facts.add("x es y")
    memory.facts.purge(fact.id)
    with pytest.raises(FactUnknown):
        memory.facts.get(fact.id)


def test_nothing_and_too_much_are_refused(memory: MemberMemory) -> None:
    with pytest.raises(FactEmpty):
        memory.facts.add(" \n… ")
    with pytest.raises(FactTooLong):
        memory.facts.add("x" * 2001)


def test_what_another_member_keeps_private_is_unknown(memory: MemberMemory, other: MemberMemory) -> None:
    fact = memory.facts.add("secreto")
    with pytest.raises(FactUnknown):
        other.facts.forget(fact.id)
    assert memory.facts.list() == [fact]
