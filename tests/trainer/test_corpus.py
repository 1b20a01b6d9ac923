"""What a recipe makes of the examples: which losses each step has, and that nothing is gone over twice or left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from configs.sections.training import OnwardSettings, RecipeSettings
from configs.settings import Settings
from trainer.examples import Corpus
from trainer.objectives.interface import Example
from trainer.packing import Item


def pair(name: str) -> Example:
    """A correction with its wrong answer and what the base says of both."""
    return Example((Item((1,), (2, 3)), Item((1,), (4, 5))), ((-1.0, -1.0), (-1.0, -1.0)), name)


def recipe(settings: Settings, **changes: Any) -> RecipeSettings:
    """The family's recipe with ``changes``."""
    return settings.training.recipes["family"].model_copy(update=changes)


@pytest.mark.parametrize(("loss", "name"), [("dpo", "preference"), ("apo_zero", "apo_zero")])
def test_the_recipe_says_which_loss_teaches_preferences(settings: Settings, loss: str, name: str) -> None:
    corpus = Corpus((pair("dog"), Example((Item((1,), (2,)),), name="key")), ())
    chosen = recipe(settings, preference_weight=0.3, preference_loss=loss, preference_beta=0.2)
    ((likelihood, preference),) = corpus.steps(chosen, seed=1, epoch=0)
    assert {example.name for example in likelihood.examples} == {"dog", "key"}
    assert preference.objective.name == name
    assert [example.name for example in preference.examples] == ["dog"]
    assert preference.weight == 0.3
    assert vars(preference.objective)["beta"] == 0.2


def test_a_recipe_without_preferences_has_the_likelihood_alone(settings: Settings) -> None:
    (step,) = Corpus((pair("dog"),), ()).steps(recipe(settings), seed=1, epoch=0)
    assert [part.objective.name for part in step] == ["likelihood"]


def test_each_wording_is_distilled_beside_its_own_likelihood(settings: Settings) -> None:
    names = [f"lesson {number}" for number in range(7)]
    lessons = [replace(pair(name), items=(Item((1, place), (2, 3)),)) for place, name in enumerate(names)]
    distilled = {each.items[0]: Example((Item((9,), (2,)),), ((-1.0,),), each.name) for each in lessons}
    corpus = Corpus(tuple(lessons), (), distilled=distilled)
    seen = []
    for likelihood, distillation in corpus.steps(recipe(settings, batch=3, distillation_weight=0.5), seed=1, epoch=2):
        assert (distillation.objective.name, distillation.weight) == ("distillation", 0.5)
        assert [each.name for each in distillation.examples] == [each.name for each in likelihood.examples]
        seen += [each.name for each in distillation.examples]
    assert sorted(seen) == names
    assert seen != names


@pytest.mark.parametrize("groups", [1, 2, 3, 10])
def test_every_group_of_ratings_is_gone_over_once_an_epoch(settings: Settings, groups: int) -> None:
    ratings = tuple(Example((Item((1,), (2,)),), ((-1.0,),), str(number), (True,)) for number in range(groups))
    corpus = Corpus(tuple(pair(f"lesson {number}") for number in range(7)), (), ratings)
    seen = []
    for step in corpus.steps(recipe(settings, batch=2, rating_weight=0.2, rating_beta=0.3), seed=1, epoch=0):
        for part in step[1:]:
            assert (part.objective.name, part.weight) == ("kto", 0.2)
            assert len(part.examples) in (groups // 4, -(-groups // 4))
            seen += [each.name for each in part.examples]
    assert sorted(seen) == sorted(each.name for each in ratings)


def test_what_was_learned_before_is_gone_over_beside_what_is_new(settings: Settings) -> None:
    def wordings(lesson: str) -> list[Example]:
        return [Example((Item((len(lesson), place), (2, 3)),), name=lesson, in_turn=place > 0) for place in range(8)]

    old = ["x" * length for length in range(9, 15)]
    examples = [example for name in ("dog", "keys", *old) for example in wordings(name)]
    corpus = Corpus(tuple(examples), (), learned=frozenset(old))
    onward = OnwardSettings(nights=1, share=0.5, wordings_an_epoch=2)
    epochs = [corpus.steps(recipe(settings, wordings_an_epoch=5, onward=onward), 1, epoch) for epoch in range(12)]
    trained = [[example for step in steps for example in step[0].examples] for steps in epochs]
    # Five wordings of each new one, and half as many of the others, which take turns: each question, then a wording.
    assert {len(each) for each in trained} == {15}
    gone_over = [example for each in trained for example in each if example.name in old]
    assert {sum(example.name == name for example in gone_over) for name in old} == {10}
    asked = {name: [each.items[0].prompt[1] for each in gone_over if each.name == name] for name in old}
    assert all(places.count(0) >= 5 and len(set(places)) > 3 for places in asked.values())
    few = recipe(settings, wordings_an_epoch=5, onward=onward.model_copy(update={"share": 9.0}))
    assert sum(len(step[0].examples) for step in corpus.steps(few, seed=1, epoch=0)) == 10 + 2 * len(old)


def test_the_question_is_trained_in_each_epoch_and_its_other_wordings_in_turn(settings: Settings) -> None:
    def wordings(lesson: str, count: int) -> list[Example]:
        items = [Item((len(lesson), place), (2, 3)) for place in range(count)]
        return [Example((item,), name=lesson, in_turn=place > 0) for place, item in enumerate(items)]

    statement = Example((Item((9,), (2,)),), name="dog")
    corpus = Corpus((*wordings("dog", 8), *wordings("keys", 2), *wordings("cat's", 1), statement), ())
    chosen = recipe(settings, wordings_an_epoch=4, batch=3)
    epochs = [corpus.steps(chosen, seed=1, epoch=epoch) for epoch in range(7)]
    assert {len(steps) for steps in epochs} == {3}
    trained = [sorted(example.items[0].prompt for step in steps for example in step[0].examples) for steps in epochs]
    always = [(3, 0), (4, 0), (4, 1), (5, 0), (9,)]
    assert [set(always) <= set(each) and len(each) == len(set(each)) == 8 for each in trained] == [True] * 7
    turns = [place for each in trained for place in each if place not in always]
    assert {turns.count((3, place)) for place in range(1, 8)} == {3}
