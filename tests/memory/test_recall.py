"""What comes to mind at a question, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from configs.home import Home
from configs.settings import Settings
from memory.errors import MemberUnknown
from memory.household import Household, MemberMemory

SET = yaml.safe_load((Path(__file__).parent / "data" / "recall_set.yaml").read_text(encoding="utf-8"))
TAUGHT = [entry for part in ("lessons", "held", "fresh", "final", "last") for entry in SET[part]]
APART = [question for part in ("unrelated", "beside", "apart", "around") for question in SET[part]]
LEAST_RECALLED = 0.85  # of other wordings in the same language
MOST_FALSE = 0.02  # of unrelated questions


def teach(memory: MemberMemory, question: str, chosen: str = "right", *, shared: bool = False) -> str:
    messages = [{"role": "user", "content": question}]
    return memory.lessons.add(messages, chosen, "wrong", visibility="shared" if shared else "private").id


def recalled(memory: MemberMemory, question: str) -> list[str]:
    return [found.lesson.chosen for found in memory.recall.find(question, memory.member).lessons]


@pytest.fixture
def taught(memory: MemberMemory) -> dict[str, str]:
    """The whole set, half of it shared: question to lesson id."""
    questions = [entry[0] for entry in TAUGHT]
    return {q: teach(memory, q, shared=number % 2 == 0) for number, q in enumerate(questions)}


def test_a_lesson_is_recalled_by_its_own_question(memory: MemberMemory, taught: dict[str, str]) -> None:
    for question, lesson_id in taught.items():
        (first, *_) = memory.recall.find(question, memory.member).lessons
        assert (first.lesson.id, first.score) == (lesson_id, 1.0)


def test_a_lesson_is_recalled_by_most_other_wordings(memory: MemberMemory, taught: dict[str, str]) -> None:
    wordings = [(entry[0], wording) for entry in TAUGHT for wording in entry[1:]]
    missed = []
    for question, wording in wordings:
        found = memory.recall.find(wording, memory.member).lessons
        assert all(0 <= entry.score <= 1 for entry in found)
        if taught[question] not in {entry.lesson.id for entry in found}:
            missed.append(wording)
    assert len(missed) <= len(wordings) * (1 - LEAST_RECALLED), missed


def test_unrelated_questions_recall_nothing(memory: MemberMemory, taught: dict[str, str]) -> None:
    fired = [question for question in APART if memory.recall.find(question, memory.member).lessons]
    assert len(fired) <= len(APART) * MOST_FALSE, fired


@pytest.mark.parametrize(
    ("question", "wording"),
    [
        ("What is the name of our dog?", "What's our dog called?"),
        ("What is the name of our dog?", "whats our dogs name"),
        ("What is the name of our dog?", "What’s our dog’s name?"),
        ("¿Cuál es el nombre de nuestro perro?", "¿Cómo se llama nuestro perro?"),
        ("¿Cuál es el nombre de nuestro perro?", "como se llama mi perro"),
        ("¿Qué edad tiene Núñez?", "cuantos años tiene nunez"),
        ("What is the name of our dog?", "¿Cómo se llama nuestro perro?"),
        ("When do room 2's bins go out?", "When do the bins of room two go out?"),
    ],
)
def test_other_words_bring_it_back(memory: MemberMemory, question: str, wording: str) -> None:
    teach(memory, question)
    assert recalled(memory, wording) == ["right"]


@pytest.mark.parametrize(
    ("question", "unlike"),
    [
        ("What is the name of our dog?", "What is the name of our cat?"),
        ("What is the name of our dog?", "What is the name of your dog?"),
        ("What is the name of our dog?", "How old is our dog?"),
        ("What is the name of our dog?", "our"),
        ("What is the name of our dog?", "What's the name?"),
        ("When do room 2's bins go out?", "When do room 3's bins go out?"),
        ("¿Cómo se llama nuestro perro?", "¿Cómo se llama tu perro?"),
        ("¿Cuándo nació la abuela?", "¿Dónde nació la abuela?"),
    ],
)
def test_another_thing_does_not(memory: MemberMemory, question: str, unlike: str) -> None:
    teach(memory, question)
    assert recalled(memory, unlike) == []


def test_a_later_correction_in_other_words_wins(memory: MemberMemory) -> None:
    teach(memory, "What is the name of our dog?", "Toby")
    teach(memory, "What's our dog called?", "Rex")
    assert recalled(memory, "What's our dog's name?") == ["Rex"]


def test_a_withdrawn_lesson_gives_way_to_the_one_before_it(memory: MemberMemory) -> None:
    teach(memory, "What is the name of our dog?", "Toby")
    later = teach(memory, "What is the name of our dog?", "Rex")
    memory.lessons.withdraw(later)
    assert recalled(memory, "What is the name of our dog?") == ["Toby"]


def test_the_very_question_comes_before_one_with_the_same_words(memory: MemberMemory) -> None:
    teach(memory, "Does Ana like Leo?", "yes")
    teach(memory, "Does Leo like Ana?", "no")
    assert recalled(memory, "Does Ana like Leo?")[0] == "yes"


def test_a_lesson_is_recalled_in_the_language_of_the_question_first(memory: MemberMemory) -> None:
    teach(memory, "What is the name of our dog?", "Our dog is called Toby.")
    teach(memory, "¿Cómo se llama nuestro perro?", "Nuestro perro se llama Toby.")
    assert recalled(memory, "What's our dog called?")[0] == "Our dog is called Toby."
    assert recalled(memory, "¿Qué nombre tiene nuestro perro?")[0] == "Nuestro perro se llama Toby."


def test_what_another_member_shares_is_recalled_and_what_they_keep_is_not(
    memory: MemberMemory, other: MemberMemory
) -> None:
    teach(memory, "What is the name of our dog?", "Toby")
    memory.facts.add("The wifi password is hunter2")
    assert other.recall.find("What is the wifi password?", other.member).facts == ()
    assert recalled(other, "What is the name of our dog?") == []
    teach(memory, "Where is the ladder?", "garage", shared=True)
    assert recalled(other, "Where is the ladder?") == ["garage"]
    with pytest.raises(MemberUnknown):
        memory.recall.find("What is the name of our dog?", other.member)


def test_a_fact_is_recalled_by_a_question_about_it(memory: MemberMemory) -> None:
    memory.facts.add("Our dog Toby is allergic to chicken")
    memory.facts.add("La abuela nació en 1950")

    def facts(question: str) -> list[str]:
        return [found.fact.text for found in memory.recall.find(question, memory.member).facts]

    assert facts("What is our dog allergic to?") == ["Our dog Toby is allergic to chicken"]
    assert facts("¿Cuándo nació la abuela?") == ["La abuela nació en 1950"]
    assert facts("What is the capital of France?") == []


def test_what_another_process_stores_is_recalled_at_once(home: Home, settings: Settings, memory: MemberMemory) -> None:
    with Household.open(home, settings.memory) as another:
        same = another.member(memory.member.id)
        teach(same, "What is the name of our dog?", "Toby")
        assert recalled(memory, "What's our dog called?") == ["Toby"]


def test_new_word_lists_index_the_lessons_anew(
    home: Home, settings: Settings, memory: MemberMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach(memory, "What is the name of our dog?", "Toby")
    memory.facts.add("Our dog Toby is allergic to chicken")
    memory.lessons.withdraw(teach(memory, "Where is the ladder?"))
    memory.recall._indexes["private"].database.run("DELETE FROM recall_terms")
    monkeypatch.setattr("memory.wording.CODE_VERSION", "another")
    with Household.open(home, settings.memory) as later:
        again = later.member(memory.member.id)
        assert recalled(again, "What's our dog called?") == ["Toby"]
        assert len(again.recall.find("What is our dog allergic to?", again.member).facts) == 1
        assert recalled(again, "Where is the ladder?") == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(st.characters()))
def test_any_question_is_safe(memory: MemberMemory, question: str) -> None:
    memory.recall.find(question, memory.member)
