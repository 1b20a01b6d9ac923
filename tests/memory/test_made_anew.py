"""Facts made anew, out of what was said and done, come out as they were."""

from __future__ import annotations

from dataclasses import replace

from memory.extraction.checking import Claim
from memory.facts import Fact
from memory.household import MemberMemory
from tests.memory.said import say


def standing(memory: MemberMemory) -> list[str]:
    return [fact.text for fact in memory.facts.list()]


def test_the_assistants_own_words_leave_nothing(memory: MemberMemory) -> None:
    question = memory.chats.question(memory.chats.start().id, "¿Qué sabes de mí?")
    answer = memory.chats.begin_answer(question.id, "v0")
    memory.chats.finish_answer(answer.id, "Eres alérgica a las nueces y vives en Gijón.")
    memory.hearing.hear(question)
    assert memory.hearing.rebuild().facts == 0


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
