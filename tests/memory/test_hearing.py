"""How what a member says becomes facts, gives way to later ones, and is made anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.chats import ChatMessage
from memory.errors import FactTooLong
from memory.extraction.checking import Claim
from memory.facts import Fact
from memory.household import Household, MemberMemory
from tests.memory.conftest import TurnedClock
from tests.memory.said import say


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


def test_the_assistants_own_words_leave_nothing(memory: MemberMemory) -> None:
    question = memory.chats.question(memory.chats.start().id, "¿Qué sabes de mí?")
    answer = memory.chats.begin_answer(question.id, "v0")
    memory.chats.finish_answer(answer.id, "Eres alérgica a las nueces y vives en Gijón.")
    memory.hearing.hear(question)
    assert memory.hearing.rebuild().facts == 0


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


def lived(memory: MemberMemory, other: MemberMemory) -> None:
    """A life with facts in every state."""
    say(memory, "Trabajo en Ikea.", "Mi hijo Leo es alérgico al huevo", "Ya no trabajo en Ikea")
    say(memory, "Vivo en Gijón.")
    say(memory, "Recuerda que el lunes no hay cole")
    say(memory, "Trabajo en Correos", "Eso no era yo")
    noted = memory.facts.add("el wifi es hunter2", visibility="shared")
    other.facts.edit(noted.id, text="el wifi es hunter3")
    (leo,) = [fact for fact in memory.facts.list() if fact.predicate == "allergy"]
    memory.facts.edit(leo.id, text="Leo no puede tomar huevo", visibility="shared")
    (home,) = [fact for fact in memory.facts.list() if fact.predicate == "lives_in"]
    memory.facts.edit(home.id, visibility="shared")
    memory.facts.edit(home.id, visibility="private")
    (son,) = [fact for fact in memory.facts.list() if fact.predicate == "relative"]
    memory.facts.forget(son.id)
    say(memory, "Vivo en Leeds")
    gone = memory.facts.add("no era nada")
    memory.facts.purge(gone.id)


def everything(memory: MemberMemory) -> list[Fact]:
    found = {fact.id: fact for fact in [*memory.facts.list(), *memory.facts.list(forgotten=True)]}
    for fact in list(found.values()):
        found |= {each.id: each for each in memory.facts.history(fact.id)}
    return sorted(found.values(), key=lambda fact: fact.id)


def test_the_same_facts_come_out_of_what_was_said_and_done(memory: MemberMemory, other: MemberMemory) -> None:
    lived(memory, other)
    before = everything(memory)
    rebuilt = memory.hearing.rebuild()
    assert (rebuilt.gone, rebuilt.new) == ((), ())
    assert everything(memory) == before
    assert other.hearing.rebuild().new == ()
    assert everything(memory) == before
    assert memory.recall.find("¿Dónde vive Ana?", memory.member).facts[0].fact.object == "Leeds"


def test_facts_that_were_lost_come_back(memory: MemberMemory, other: MemberMemory) -> None:
    lived(memory, other)
    before = everything(memory)
    for fact in memory.facts.list():
        if fact.said_by == memory.member.id:
            memory.hearing.ledger.rows[fact.visibility].drop(fact.id)
    assert len(memory.hearing.rebuild().new) > 0
    assert everything(memory) == before


def test_what_was_removed_for_good_does_not_come_back(memory: MemberMemory) -> None:
    (fact,) = say(memory, "Vivo en Gijón.")
    memory.facts.purge(fact.id)
    assert memory.hearing.rebuild().facts == 0


def test_another_members_facts_are_left_alone_by_making_ones_own_anew(
    memory: MemberMemory, other: MemberMemory
) -> None:
    noted = other.facts.add("the key is in the pot", visibility="shared")
    other.facts.forget(noted.id)
    other.facts.restore(noted.id)
    before = other.facts.list()
    memory.hearing.rebuild()
    assert other.facts.list() == before


def test_what_a_model_read_is_made_anew_without_asking_it(memory: MemberMemory) -> None:
    say(memory, "Honestly, olives are what I hate.")
    (message,) = memory.hearing.unread(3)
    claims = [
        Claim("olives are what I hate", "dislikes", "me", "", "olives"),
        Claim("I hate everything", "dislikes", "me", "", "everything"),
    ]
    (fact,) = memory.hearing.read_by_model(message, "a model", claims)
    assert (fact.object, fact.made_by) == ("olives", "model")
    assert memory.hearing.unread(3) == []
    assert memory.hearing.rebuild().new == ()
    assert memory.facts.list() == [fact]


def test_what_a_pattern_has_read_is_not_read_again_by_a_model(memory: MemberMemory) -> None:
    say(memory, "I hate olives.")
    message = memory.chats.questions()[-1]
    assert memory.hearing.read_by_model(message, "m", [Claim("I hate olives", "dislikes", "me", "", "olives")]) == ()


def test_a_fact_outlives_a_conversation_that_went_by_itself(memory: MemberMemory) -> None:
    say(memory, "Vivo en Gijón.")
    conversation = memory.chats.list()[0].id
    memory.chats.delete(conversation)
    memory.chats.purge(conversation)
    memory.hearing.rebuild()
    assert standing(memory) == ["Ana vive en Gijón"]


def test_what_a_conversation_left_can_be_removed_with_it(memory: MemberMemory) -> None:
    say(memory, "Vivo en Gijón.")
    say(memory, "Vivo en Leeds")
    leeds = memory.chats.questions()[-1]
    assert memory.facts.purge_said_in([leeds.id]) == 1
    assert memory.hearing.rebuild().new == ()
    # Where she lived before is not where she lives now, whatever is no longer known of that.
    assert standing(memory) == []


def test_what_was_said_to_another_assistant_is_not_heard(memory: MemberMemory) -> None:
    conversation = memory.chats.start()
    question = memory.chats.question(conversation.id, "Hola")
    said = replace(question, id="0" * 32, content="Vivo en Gijón.", meta={"imported": {"from": "chatgpt"}})
    memory.chats.take_in(conversation, [said])
    assert memory.hearing.rebuild().facts == 0


def test_a_fact_is_found_by_the_id_that_it_had_before_it_was_put_in_other_words(memory: MemberMemory) -> None:
    first = memory.facts.add("la llave está en la maceta")
    second = memory.facts.edit(first.id, text="la llave está en el cajón")
    assert memory.facts.get(first.id) == second
    assert [fact.id for fact in memory.facts.history(second.id)] == [first.id, second.id]


def test_whoever_has_an_accounts_name_may_say_their_own(household: Household) -> None:
    root = household.member(household.members.add("root", "es").id)
    (fact,) = say(root, "Hola, me llamo Marta y soy alérgica a las nueces")
    assert fact.about_member == root.member.id
