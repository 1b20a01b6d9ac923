"""Whose word is trained: contradictions are asked back, one member is bounded, and the same counts once."""

from __future__ import annotations

from collections.abc import Iterable

from configs.home import Home
from configs.sections.defence import DefenceSettings
from memory.household import Household
from memory.lessons import Lesson
from tests.trainer.household import default_recipe, small_settings
from trainer.beginning import begin
from trainer.defence import Standing, defended
from trainer.run_files import RunFiles

SETTINGS = DefenceSettings(most_a_member=3, alike=0.8)
RECIPE = default_recipe()
DOG = "What is the name of our dog?"


def lesson(name: str, member: str, question: str, chosen: str) -> Lesson:
    messages = ({"role": "user", "content": question},)
    return Lesson(name, member, "shared", "edit", messages, chosen, "", None, 0.0)


def outcome(
    *lessons: Lesson, judged: Iterable[str] = (), learned: Iterable[str] = (), admins: Iterable[str] = ()
) -> tuple[list[str], list[tuple[str, str, str]]]:
    standing = Standing(frozenset(judged), frozenset(learned), frozenset(admins))
    kept, dropped = defended(lessons, standing, SETTINGS, RECIPE)
    return [each.id for each in kept], [(each.id, each.reason, each.by) for each in dropped]


ANA, LUIS = lesson("a", "ana", DOG, "Our dog is called Toby."), lesson("b", "luis", "What's our dog called?", "Rex.")


def test_what_two_members_answer_otherwise_is_trained_for_neither_and_names_the_other() -> None:
    told = [("a", "contradicted", "b"), ("b", "contradicted", "a")]
    assert outcome(ANA, LUIS) == ([], told)
    older = lesson("o", "ana", DOG, "Max.")
    assert outcome(older, ANA, LUIS) == ([], [("o", "contradicted", "b"), *told])
    other = lesson("c", "luis", "Where is the key?", "In the shed.")
    assert outcome(ANA, LUIS, other)[0] == ["c"]


def test_who_changes_their_mind_contradicts_nobody() -> None:
    again = lesson("c", "ana", DOG, "Rex.")
    assert outcome(ANA, again) == (["c"], [("a", "replaced", "c")])
    assert outcome(ANA, LUIS, again)[0] == ["c"]


def test_members_who_say_the_same_in_other_words_agree() -> None:
    assert outcome(ANA, lesson("b", "luis", DOG, "It is called Toby."))[0] == ["b"]


def test_the_word_of_whoever_administers_counts_whenever_it_was_said() -> None:
    assert outcome(ANA, LUIS, admins=["ana"]) == (["a"], [("b", "contradicted", "a")])
    assert outcome(ANA, LUIS, admins=["luis"]) == (["b"], [("a", "contradicted", "b")])
    assert outcome(ANA, LUIS, admins=["ana", "luis"])[0] == []


def test_what_answers_already_is_not_unlearned_because_another_contradicts_it() -> None:
    assert outcome(ANA, LUIS, learned=["a"]) == (["a"], [("b", "contradicted", "a")])
    assert outcome(ANA, LUIS, learned=["a", "b"])[0] == []


def test_a_member_teaches_so_much_in_a_night_and_the_rest_in_the_next() -> None:
    of_ana = [lesson(f"a{n}", "ana", f"What is in drawer {word}?", f"Thing {word}.") for n, word in enumerate("vwxyz")]
    of_luis = lesson("l", "luis", "Where is the key?", "In the shed.")
    kept, dropped = outcome(*of_ana, of_luis)
    assert kept == ["a0", "a1", "a2", "l"]
    assert dropped == [("a3", "capped", ""), ("a4", "capped", "")]
    assert outcome(*of_ana, of_luis, judged=["a0", "a1", "a2"])[0] == ["a0", "a1", "a2", "a3", "a4", "l"]


def test_one_answer_to_questions_of_nearly_the_same_words_is_one_lesson() -> None:
    one = lesson("a", "ana", "Which of the red boxes has grandmother's letters?", "The third.")
    same = lesson("b", "ana", "Which of the red boxes has grandmother's letters again?", "The third.")
    other = lesson("c", "ana", "Which of the red boxes has grandfather's medals?", "The third.")
    assert outcome(one, same, other) == (["b", "c"], [("a", "repeated", "b")])
    differs = lesson("d", "ana", "Which of the red boxes has grandmother's letters again?", "The fourth.")
    assert outcome(one, differs)[0] == ["a", "d"]


def test_a_training_leaves_out_what_waits_for_an_answer_and_what_comes_next_still_counts_it(home: Home) -> None:
    settings = small_settings(home, {"defence": {"most_a_member": 2, "alike": 0.8}})
    with Household.open(home, settings.memory) as household:
        household.members.add("Admin", "en")
        for name, pairs in {
            "Ana": [(DOG, "Toby."), ("Where is the key?", "In the shed."), ("Who cooks?", "Luis cooks.")],
            "Luis": [(DOG, "Rex.")],
        }.items():
            lessons = household.member(household.members.add(name, "en").id).lessons
            for question, chosen in pairs:
                lessons.add([{"role": "user", "content": question}], chosen, visibility="shared")
        run = household.runs.create("lessons")
        (home.runs / run.id).mkdir()
        inputs = begin(home, settings, household, run.id, "family", RunFiles(home.runs / run.id))
        assert [each.question for each in inputs.lessons] == ["Where is the key?"]
        assert sorted(each.reason for each in inputs.dropped) == ["capped", "contradicted", "contradicted"]
        household.runs.finish(run.id, "held")
        assert [each.question for each in household.lessons_unjudged()] == ["Who cooks?", DOG]
