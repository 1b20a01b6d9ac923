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

DATA = Path(__file__).parent / "data"
SET = yaml.safe_load((DATA / "recall_set.yaml").read_text(encoding="utf-8"))
OTHERWISE = yaml.safe_load((DATA / "said_otherwise.yaml").read_text(encoding="utf-8"))
TAUGHT = [entry for part in ("lessons", "held", "fresh", "final", "last") for entry in SET[part]]
APART = [question for part in ("unrelated", "beside", "apart", "around") for question in SET[part]]
LEAST_RECALLED = 0.85  # of other wordings in the same language
MOST_FALSE = 0.02  # of unrelated questions
MOST_BESIDE = 0.14  # of questions about the same things or people


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


@pytest.mark.parametrize(("part", "least"), [("first", LEAST_RECALLED), ("second", 0.65), ("third", 0.65)])
def test_what_people_say_otherwise_brings_the_right_lesson_back_and_what_is_beside_it_none(
    memory: MemberMemory, part: str, least: float
) -> None:
    lessons, another = OTHERWISE[part]["lessons"], OTHERWISE[part]["another"]
    for question, answer, *_ in lessons:
        teach(memory, question, answer)
    wordings = [(answer, wording) for _, answer, *others in lessons for wording in others]
    found = [(answer, recalled(memory, wording)) for answer, wording in wordings]
    assert [first for answer, (first, *_) in filter(lambda each: each[1], found) if first != answer] == []
    assert sum(bool(lessons) for _, lessons in found) >= least * len(found)
    assert sum(bool(recalled(memory, question)) for question in another) <= MOST_BESIDE * len(another)


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


@pytest.mark.parametrize("question", ["Who are you?", "What is this?", "¿Qué es esto?"])
def test_a_question_of_small_words_alone_is_recalled_by_itself_and_by_no_other(
    memory: MemberMemory, question: str
) -> None:
    teach(memory, question)
    assert recalled(memory, question) == ["right"]
    assert recalled(memory, "And what is there?") == []


def test_a_question_of_small_words_that_followed_another_is_not_recalled(memory: MemberMemory) -> None:
    before = [{"role": "user", "content": "Is it far?"}, {"role": "assistant", "content": "Yes."}]
    memory.lessons.add([*before, {"role": "user", "content": "Is it?"}], "No, we live next door.")
    assert recalled(memory, "Is it?") == []


def test_what_is_told_before_the_question_makes_it_no_other_question(memory: MemberMemory) -> None:
    teach(memory, "Who is our family doctor?", "Our family doctor is Elena Ruiz.")
    (told,) = memory.recall.find("I fell off, who is our family doctor?", memory.member).lessons
    (asked,) = memory.recall.find("I fell off who is our family doctor?", memory.member).lessons
    assert told.score > asked.score


def test_a_word_of_the_answer_names_no_other_thing(memory: MemberMemory) -> None:
    teach(memory, "¿Dónde guardamos los pasaportes?", "Los pasaportes están en el cajón del escritorio.")
    (inside,) = memory.recall.find("¿En qué escritorio guardamos los pasaportes?", memory.member).lessons
    (outside,) = memory.recall.find("¿En qué maleta guardamos los pasaportes?", memory.member).lessons
    assert inside.score > outside.score


def test_of_two_lessons_the_one_in_the_language_of_the_question_counts_more(memory: MemberMemory) -> None:
    teach(memory, "What is the name of our dog?", "Our dog is called Toby.")
    (found,) = memory.recall.find("¿Cómo se llama nuestro perro?", memory.member).lessons
    assert found.score < 1
    (same,) = memory.recall.find("What's our dog called?", memory.member).lessons
    assert same.score == 1


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
    memory.recall._places["private"].index.database.run("DELETE FROM recall_terms")
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


def test_a_fact_is_found_by_words_that_are_in_very_many_facts(memory: MemberMemory) -> None:
    memory.facts.add("The blue key of the cabin opens the boat")
    with memory.lessons.together("private"):
        for number in range(60):
            memory.facts.add(
                ("The blue chair", "The key of the car", "The boat is old")[number % 3] + f", number {number}"
            )
    few = memory.recall._places["private"].index
    few._settings = few._settings.model_copy(update={"postings": 30})
    found = memory.recall.find("Which blue key opens the boat of the cabin?", memory.member).facts
    assert found[0].fact.text == "The blue key of the cabin opens the boat"
