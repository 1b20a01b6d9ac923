"""How what a member says becomes facts, gives way to later ones, and is made anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.chats import ChatMessage, Conversation
from memory.errors import FactTooLong
from memory.facts import Fact
from memory.household import Household, MemberMemory
from tests.memory.conftest import TurnedClock
from tests.memory.said import say

# No pattern knows it, and a model might.
SAID_OTHERWISE = "Honestly, olives are what I hate most."


def standing(memory: MemberMemory) -> list[str]:
    return [fact.text for fact in memory.facts.list()]


def test_somebody_who_leaves_a_place_of_work_and_comes_back_has_three_intervals(
    memory: MemberMemory, clock: TurnedClock
) -> None:
    times = []
    for text in ("Trabajo en Ikea.", "Ya no trabajo en Ikea", "He vuelto a trabajar en Ikea"):
        say(memory, text)
        times.append(clock())
        clock.now += 1000
    (now,) = memory.facts.list()
    history = memory.facts.history(now.id)
    assert [(fact.denied, fact.valid_to) for fact in history] == [
        (False, history[1].valid_from),
        (True, history[2].valid_from),
        (False, None),
    ]
    then = [[fact.text for fact in memory.facts.list(as_of=at)] for at in times]
    assert then == [["Ana trabaja en Ikea"], [], ["Ana trabaja en Ikea"]]


def test_a_new_home_takes_the_place_of_the_old_one_which_is_not_lost(memory: MemberMemory) -> None:
    say(memory, "Vivo en Gijón.")
    (fact,) = say(memory, "Ahora vivo en Leeds")
    assert standing(memory) == ["Ana vive en Leeds"]
    assert [each.object for each in memory.facts.history(fact.id)] == ["Gijón", "Leeds"]
    assert memory.recall.find("¿Dónde vive Ana?", memory.member).facts[0].fact.object == "Leeds"
    assert len(memory.recall.find("¿Dónde vive Ana?", memory.member).facts) == 1


def test_who_comes_to_like_what_they_did_not_is_not_told_of_both(memory: MemberMemory) -> None:
    say(memory, "Odio el cilantro")
    say(memory, "Me encanta el cilantro")
    assert standing(memory) == ["A Ana le gusta el cilantro"]


def test_what_was_said_by_somebody_else_falls_and_what_it_had_replaced_stands_again(memory: MemberMemory) -> None:
    say(memory, "Trabajo en Ikea.")
    say(memory, "Trabajo en Correos", "Eso no era yo, era mi primo")
    assert standing(memory) == ["Ana trabaja en Ikea"]
    (fallen,) = memory.facts.list(forgotten=True)
    assert (fallen.object, fallen.forgotten_as) == ("Correos", "disowned")


def test_all_of_a_conversation_can_be_taken_back_at_once(memory: MemberMemory) -> None:
    say(memory, "I'm allergic to nuts", "I work at Ikea", "None of that was me")
    assert standing(memory) == []


def test_a_guest_on_a_members_screen_is_not_the_member(memory: MemberMemory) -> None:
    (fact,) = say(memory, "Hello, this is Marta speaking", "I'm allergic to nuts")
    assert (fact.subject, fact.about, fact.about_member, fact.speaker) == ("Marta", "person", None, "Marta")
    assert fact.said_by == memory.member.id


def test_a_member_who_speaks_again_after_a_guest_is_the_member(memory: MemberMemory) -> None:
    (fact,) = say(memory, "Hola, soy Marta, la amiga de Ana", "Hola, soy Ana", "Soy alérgica al polen")
    assert (fact.subject, fact.about_member) == ("Ana", memory.member.id)


def test_a_son_of_his_fathers_name_is_not_his_father(household: Household) -> None:
    antonio = household.member(household.members.add("Antonio", "es").id)
    facts = say(antonio, "Mi hijo Antonio es alérgico al huevo")
    assert [(fact.subject, fact.about_member) for fact in facts] == [
        ("Antonio", antonio.member.id),
        ("Antonio (hijo)", None),
    ]
    assert say(antonio, "Antonio es alérgico al pescado") == []


def test_a_member_named_by_another_is_meant_only_where_nobody_else_is_called_so(
    memory: MemberMemory, other: MemberMemory
) -> None:
    (fact,) = say(memory, "Bruno es alérgico al pescado")
    assert (fact.about_member, fact.said_by, fact.visibility) == (other.member.id, memory.member.id, "private")
    assert other.facts.list() == []
    say(memory, "Mi hijo Bruno tiene 8 años")
    assert say(memory, "Bruno es alérgico al huevo") == []


def test_the_exact_words_stand_in_the_message_however_it_is_written(memory: MemberMemory) -> None:
    # The accents are characters of their own.
    (fact,) = say(memory, "Oye, soy ale\u0301rgica a los cacahuetes y adema\u0301s tengo hambre")
    assert fact.quote == "soy ale\u0301rgica a los cacahuetes"
    assert fact.object == "cacahuetes"


def test_what_is_asked_to_be_remembered_is_kept_word_for_word(memory: MemberMemory) -> None:
    (fact,) = say(memory, "Recuerda que soy alérgica a los cacahuetes")
    assert (fact.text, fact.predicate, fact.object) == ("soy alérgica a los cacahuetes", "allergy", "cacahuetes")
    question = memory.chats.question(memory.chats.start().id, "recuerda que " + "x" * 2001)
    with pytest.raises(FactTooLong):
        memory.hearing.hear(question)


def test_a_guest_of_the_house_is_only_remembered_by_asking(household: Household) -> None:
    household.members.add("Ana", "es")
    household.members.add("Marta", "es")
    household.members.set_standing("Marta", "guest")
    marta = household.member(household.members.get("Marta").id)
    assert say(marta, "Soy alérgica a los cacahuetes") == []
    assert len(say(marta, "Recuerda que soy alérgica a los cacahuetes")) == 1


def test_another_wording_of_a_question_takes_the_place_of_the_first(memory: MemberMemory) -> None:
    chats = memory.chats
    conversation = chats.start()
    memory.hearing.hear(chats.question(conversation.id, "Soy alérgica a las nueces"))
    memory.hearing.hear(chats.question(conversation.id, "Soy alérgica a las fresas"))
    assert [fact.object for fact in memory.facts.list()] == ["fresas"]


def heard_again(memory: MemberMemory, question: ChatMessage) -> list[Fact]:
    return list(memory.hearing.hear(question).new)


def test_a_message_leaves_nothing_twice(memory: MemberMemory) -> None:
    assert say(memory, "Vivo en Gijón.", hear=heard_again) == memory.facts.list()


def test_what_is_taken_back_by_a_key_gives_its_place_back(memory: MemberMemory) -> None:
    say(memory, "Vivo en Gijón.")
    (fact,) = say(memory, "Vivo en Leeds")
    memory.facts.undo(fact.id)
    assert standing(memory) == ["Ana vive en Gijón"]
    memory.facts.restore(fact.id)
    assert standing(memory) == ["Ana vive en Leeds"]


def test_a_fact_that_is_forgotten_stays_away_however_often_it_was_said(memory: MemberMemory) -> None:
    say(memory, "Vivo en Gijón.")
    say(memory, "Vivo en Leeds")
    say(memory, "Vivo en Leeds desde mayo")
    (fact,) = memory.facts.list()
    memory.facts.forget(fact.id)
    assert standing(memory) == []
    memory.facts.restore(fact.id)
    assert standing(memory) == ["Ana vive en Leeds"]


def test_a_fact_is_found_by_the_id_that_it_had_before_it_was_put_in_other_words(memory: MemberMemory) -> None:
    first = memory.facts.add("la llave está en la maceta")
    second = memory.facts.edit(first.id, text="la llave está en el cajón")
    assert memory.facts.get(first.id) == second
    assert [fact.id for fact in memory.facts.history(second.id)] == [first.id, second.id]


def test_whoever_has_an_accounts_name_may_say_their_own(household: Household) -> None:
    root = household.member(household.members.add("root", "es").id)
    (fact,) = say(root, "Hola, me llamo Marta y soy alérgica a las nueces")
    assert fact.about_member == root.member.id


def test_what_is_said_again_is_not_told_again_and_rests_on_the_latest_words(memory: MemberMemory) -> None:
    say(memory, "Vivo en Gijón.")
    assert say(memory, "Oye, ahora vivo en Gijón") == []
    (fact,) = memory.facts.list()
    assert fact.quote == "ahora vivo en Gijón"


@pytest.mark.parametrize(
    "text",
    ["> Vivo en Gijón", "```\nVivo en Gijón\n```", "«Vivo en Gijón»", '"I live in Leeds"', "Ay: “vivo en Gijón”"],
)
def test_what_is_quoted_is_nobodys_word_here(memory: MemberMemory, text: str) -> None:
    assert say(memory, text) == []


def test_what_was_said_to_another_assistant_is_not_given_to_the_model_to_read(memory: MemberMemory) -> None:
    say(memory, SAID_OTHERWISE)
    (own,) = memory.hearing.unread(3)
    there = Conversation("c" * 32, "", 1.0, 1.0)
    told = replace(own, id="d" * 32, conversation_id=there.id, parent_id=None, meta={"imported": {"from": "claude"}})
    assert memory.chats.take_in(there, [told]) == 1
    assert memory.hearing.unread(3) == [own]
