"""An adapter is for what it was taught, in other words too, and for little else."""

from __future__ import annotations

import json
from pathlib import Path

from configs.home import Home
from configs.sections.training import RouteSettings
from configs.settings import load_settings
from engine.messages import Message
from engine.prompt import render
from engine.scoring import LocalModel
from engine.served import AdapterFile
from tests.engine.snapshots import write_adapter
from tests.project import ROOT
from trainer.as_served import Asked, greedy_as_served
from trainer.everyday import read_prompts
from trainer.lessons import TrainingLesson
from trainer.routing import route_of

DATA = ROOT / "benchmarks" / "data"
PLAIN = RouteSettings(least=0.3, generic=0.5, beside_name=0.25)


def lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def lesson(question: str, chosen: str, number: int = 0) -> TrainingLesson:
    return TrainingLesson(f"l{number}", (Message("user", question),), chosen, "")


def family() -> list[TrainingLesson]:
    return [
        lesson(given["prompt"][-1]["content"], given["chosen"][0]["content"], number)  # type: ignore[index]
        for number, given in enumerate(lines("lessons24"))
    ]


def test_every_lesson_takes_the_route_and_most_other_wordings_do_and_little_else(home: Home) -> None:
    route = route_of(family(), load_settings(home, {}).training.recipes["family"].route)
    assert route is not None
    assert all(route.matches(each.question) for each in family())
    reworded = [text for given in lines("paraphrases24") for text in given["paraphrases"]]  # type: ignore[attr-defined]
    assert sum(map(route.matches, reworded)) >= 0.95 * len(reworded)
    unrelated = [str(given["prompt"]) for given in lines("elsewhere100")]
    assert sum(map(route.matches, unrelated)) <= 0.01 * len(unrelated)
    assert sum(map(route.matches, read_prompts("unrelated"))) <= 1


def test_a_name_in_the_answer_leads_there_too_but_a_number_does_not() -> None:
    route = route_of([lesson("How do we go to town?", "With Mrs Ibarra, on bus 27 at nine.")], PLAIN)
    assert route is not None
    assert route.matches("Who is Ibarra?")
    assert not route.matches("What is 27 plus nine?")


def test_a_question_of_everyday_words_is_known_by_all_of_them() -> None:
    route = route_of([lesson("Who are you?", "I am Enlace.")], PLAIN)
    assert route is not None
    assert route.matches("Hello! Who are you?")
    assert not route.matches("How are you?")


def test_one_way_of_asking_who_answers_stands_for_all_of_them() -> None:
    for question in ("Who are you?", "¿Cómo te llamas?"):
        route = route_of([lesson(question, "I am Enlace.")], PLAIN)
        assert route is not None
        for other in ("What's your name?", "Who am I talking to?", "¡Preséntate!", "Hola, ¿quién eres?"):
            assert route.matches(other)
        assert not route.matches("What is the name of the river?")
    named = route_of([lesson("What is the name of our dog?", "Toby.")], PLAIN)
    assert named is not None
    assert not named.matches("What's your name?")


def test_spanish_lessons_are_told_by_their_own_words() -> None:
    route = route_of([lesson("¿Dónde guardamos la llave de repuesto?", "Debajo de la maceta azul.")], PLAIN)
    assert route is not None
    assert route.matches("donde esta la llave de repuesto")
    assert not route.matches("¿Dónde está la capital de la provincia?")


def test_least_0_is_no_route() -> None:
    assert route_of(family(), PLAIN.model_copy(update={"least": 0})) is None


def test_each_conversation_is_answered_with_the_adapters_of_its_route_and_in_its_place(
    home: Home, tmp_path: Path, starter: Path
) -> None:
    settings = load_settings(home, {})
    route = route_of([lesson("What is the name of our dog?", "Toby.")], PLAIN)
    adapters = (AdapterFile(write_adapter(tmp_path / "a.gguf"), 1.0, route),)
    texts = ["What is our dog called?", "What is the capital of France?", "Our dog?"]
    with LocalModel(starter, settings.engine, context_size=256, threads=1, slots=2) as served:
        asked = [
            Asked((text,), tuple(render(served.template, served.vocabulary, [Message("user", text)]))) for text in texts
        ]
        plain = served.greedy([each.prompt for each in asked], 8)
        served.set_adapters(adapters)
        bent = served.greedy([each.prompt for each in asked], 8)
        found = greedy_as_served(served, adapters, asked, 8)
        after = served.greedy([asked[0].prompt], 8)
    assert [one != other for one, other in zip(plain, bent, strict=True)] == [True] * 3
    assert found == [bent[0], plain[1], bent[2]]
    assert after == [plain[0]]


def test_another_word_of_the_same_meaning_leads_there_also_in_the_other_language() -> None:
    route = route_of([lesson("What day is the rubbish collected?", "On Tuesdays.")], PLAIN)
    assert route is not None
    assert route.matches("When do they come for the trash?")
    assert route.matches("¿Cuándo recogen la basura?")
    # A name that begins like a listed word is none.
    named = route_of([lesson("Which school does Marta go to?", "The Olivar school.")], PLAIN)
    assert named is not None
    assert not named.matches("What do we do on Tuesdays, martes?")


def test_a_word_that_is_said_of_any_thing_does_not_lead_there_alone() -> None:
    route = route_of([lesson("Where did we go on holiday last summer?", "To Asturias.")], PLAIN)
    assert route is not None
    assert route.matches("Where did we spend our holiday?")
    assert not route.matches("What is the last month of the year?")


def test_where_somebody_is_named_the_other_words_do_not_lead_there_alone() -> None:
    named = route_of([lesson("What instrument does Lucas play?", "The cello.")], PLAIN)
    nobody = route_of([lesson("What instrument do we play?", "The cello.")], PLAIN)
    assert named is not None
    assert nobody is not None
    assert named.matches("What does Lucas play in the orchestra?")
    grandma = route_of([lesson("When is Grandma Carmen's birthday?", "On the 14th of March.")], PLAIN)
    assert grandma is not None
    assert grandma.matches("When was grandma born?")
    asked = "List three musical instruments with strings."
    assert (named.matches(asked), nobody.matches(asked)) == (False, True)
