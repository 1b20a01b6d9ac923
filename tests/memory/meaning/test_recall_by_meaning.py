"""What comes to mind because it means the same, in other words and in the other language."""

from __future__ import annotations

import os
import signal

import pytest

from configs.home import Home
from configs.settings import Settings
from memory.errors import FactUnknown
from memory.household import Household, MemberMemory
from memory.meaning.embedder import Embedder
from memory.recall_index import RecallIndex

TAUGHT = {
    "What does Noah collect?": "Noah collects stamps.",
    "¿Dónde guardamos los pasaportes?": "Los pasaportes están en el cajón del escritorio.",
    "Who is our family doctor?": "Our family doctor is Elena Ruiz.",
    "¿Cada cuánto hay que bañar al perro?": "Al perro hay que bañarlo cada dos meses.",
    "What colour is the kitchen?": "The kitchen is sage green.",
}
OTHERWISE = {
    "What is in Noah's albums?": "What does Noah collect?",
    "where are our passports kept?": "¿Dónde guardamos los pasaportes?",
    "quién es nuestro médico de cabecera?": "Who is our family doctor?",
    "¿Con qué frecuencia se baña al perro?": "¿Cada cuánto hay que bañar al perro?",
    "In what shade are the walls of the kitchen painted?": "What colour is the kitchen?",
}
UNRELATED = ("Why is the sky blue?", "¿Cuál es la capital de Francia?", "tell me a joke", "¿Cómo se afina un piano?")


def teach(memory: MemberMemory, question: str, chosen: str, *, shared: bool = False) -> str:
    messages = [{"role": "user", "content": question}]
    return memory.lessons.add(messages, chosen, "wrong", visibility="shared" if shared else "private").id


def recalled(memory: MemberMemory, question: str) -> list[str]:
    return [found.lesson.question for found in memory.recall.find(question, memory.member).lessons]


def index_of(memory: MemberMemory) -> RecallIndex:
    return memory.recall._places["private"].index


def counted(memory: MemberMemory, table: str) -> int:
    number: int = index_of(memory).database.value(f"SELECT count(*) FROM {table}")  # noqa: S608
    return number


@pytest.fixture
def taught(memory: MemberMemory) -> MemberMemory:
    for number, (question, answer) in enumerate(TAUGHT.items()):
        teach(memory, question, answer, shared=number % 2 == 0)
    for question in TAUGHT:
        # Those that are made at once at a question are few: the next questions find the others.
        assert recalled(memory, question)[0] == question
    return memory


def test_a_lesson_is_recalled_in_other_words_and_in_the_other_language(taught: MemberMemory) -> None:
    for wording, question in OTHERWISE.items():
        assert recalled(taught, wording)[:1] == [question], wording


def test_what_is_recalled_by_its_meaning_alone_is_never_sure(taught: MemberMemory, settings: Settings) -> None:
    for wording in OTHERWISE:
        (first, *_) = taught.recall.find(wording, taught.member).lessons
        assert 0 < first.score < settings.assistant.sure_score


def test_unrelated_questions_recall_nothing_by_their_meaning(taught: MemberMemory) -> None:
    assert [question for question in UNRELATED if recalled(taught, question)] == []


def test_a_fact_is_recalled_in_other_words(memory: MemberMemory) -> None:
    memory.facts.add("Noah has the red bicycle from Grandpa")
    memory.facts.add("La abuela nació en Soria")
    keeper = memory.recall._places["private"].keeper
    assert keeper is not None
    while keeper.now("fact", 8):
        pass

    def facts(question: str) -> list[str]:
        return [found.fact.text for found in memory.recall.find(question, memory.member).facts]

    assert facts("¿de quién es la bicicleta roja de Noah?")[:1] == ["Noah has the red bicycle from Grandpa"]
    assert facts("which town was Grandma born in?")[:1] == ["La abuela nació en Soria"]
    assert facts("Why is the sky blue?") == []


def test_what_another_member_keeps_is_not_recalled_by_its_meaning(household: Household, taught: MemberMemory) -> None:
    other = household.member(household.members.add("Bruno", "en").id)
    private = [question for number, question in enumerate(TAUGHT) if number % 2]
    for wording, question in OTHERWISE.items():
        assert (question in recalled(other, wording)) is (question not in private)


def test_what_another_process_stores_means_something_at_once(
    home: Home, settings: Settings, memory: MemberMemory
) -> None:
    with Household.open(home, settings.memory) as another:
        teach(another.member(memory.member.id), "Who is our family doctor?", TAUGHT["Who is our family doctor?"])
        assert recalled(memory, "quién es nuestro médico de cabecera?") == ["Who is our family doctor?"]


def test_a_withdrawn_lesson_leaves_no_vector_and_a_changed_one_gets_another(memory: MemberMemory) -> None:
    lesson = teach(memory, "Who is our family doctor?", TAUGHT["Who is our family doctor?"])
    recalled(memory, "Who is our family doctor?")
    before = index_of(memory).database.value("SELECT vector FROM vectors")
    memory.lessons.edit(lesson, question="¿Dónde guardamos los pasaportes?", chosen="En el cajón del escritorio.")
    assert (counted(memory, "vectors"), counted(memory, "vectors_due")) == (0, 1)
    assert recalled(memory, "where are our passports kept?") == ["¿Dónde guardamos los pasaportes?"]
    assert index_of(memory).database.value("SELECT vector FROM vectors") != before
    memory.lessons.withdraw(lesson)
    assert (counted(memory, "vectors"), counted(memory, "vectors_due")) == (0, 0)
    assert recalled(memory, "where are our passports kept?") == []


def test_a_member_who_is_removed_leaves_no_vector_of_what_they_shared(
    household: Household, taught: MemberMemory
) -> None:
    family = taught.recall._places["shared"].index.database
    assert family.value("SELECT count(*) FROM vectors") == 3
    household.members.add("Bruno", "en")
    household.members.remove(taught.member.id)
    assert family.value("SELECT (SELECT count(*) FROM vectors) + (SELECT count(*) FROM vectors_due)") == 0


def test_another_model_makes_every_vector_anew(taught: MemberMemory) -> None:
    index = index_of(taught)
    number = counted(taught, "vectors")
    index.want_vectors("another")
    assert (counted(taught, "vectors"), counted(taught, "vectors_due")) == (0, number)
    index.want_vectors("another")
    assert recalled(taught, "where are our passports kept?")[:1] == ["¿Dónde guardamos los pasaportes?"]


def test_recall_goes_on_by_words_where_the_process_that_makes_vectors_dies(taught: MemberMemory) -> None:
    meaning = taught.recall._candidates._meaning
    assert meaning is not None
    embedder = meaning._embedder
    assert isinstance(embedder, Embedder)
    process = embedder._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    assert recalled(taught, "Who is our family doctor, please?") == ["Who is our family doctor?"]
    assert recalled(taught, "quién es nuestro médico de cabecera?") == []
    assert not meaning.works


def test_a_fact_that_is_gone_is_not_found_by_its_old_vector(memory: MemberMemory) -> None:
    fact = memory.facts.add("Noah has the red bicycle from Grandpa")
    keeper = memory.recall._places["private"].keeper
    assert keeper is not None
    keeper.now("fact", 8)
    memory.facts.purge(fact.id)
    assert memory.recall.find("¿de quién es la bicicleta roja de Noah?", memory.member).facts == ()
    with pytest.raises(FactUnknown):
        memory.facts.get(fact.id)
