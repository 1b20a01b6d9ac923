"""Thumbs become what KTO trains: one opinion on each answer, in groups that also hold mismatched answers."""

from __future__ import annotations

from dataclasses import replace

import torch

from configs.home import Home
from configs.settings import load_settings
from memory.household import Household
from memory.lessons import Lesson
from memory.visibility import Visibility
from tests.trainer.household import teach
from trainer.beginning import begin
from trainer.objectives.kto import Kto
from trainer.packing import Item
from trainer.rated import Rated, rating_groups
from trainer.ratings import latest_opinions
from trainer.run_files import RunFiles, read_inputs


def thumb(number: int, question: str, answer: str, *, good: bool) -> Lesson:
    chosen, rejected = (answer, "") if good else ("", answer)
    messages = ({"role": "user", "content": question},)
    return Lesson(f"t{number}", "m", "shared", "thumb", messages, chosen, rejected, "v0", float(number))


def rated(prompt: int, answer: int, *, length: int = 3, good: bool = True) -> Rated:
    return Rated(Item((1, prompt), (answer,) * length), good)


def test_an_answer_counts_once_however_often_it_was_rated_and_the_latest_opinion_is_taken() -> None:
    thumbs = [thumb(number, "Who?", "Ana.", good=False) for number in range(30)]
    thumbs += [thumb(30, "Who?", " Ana. ", good=True), thumb(31, "Who?", "Luis.", good=False)]
    opinions = latest_opinions(thumbs)
    assert [(each.id, each.answer, each.good) for each in opinions] == [("t30", "Ana.", True), ("t31", "Luis.", False)]


def test_a_group_has_each_prompt_with_the_answer_to_another_one() -> None:
    answers = [rated(2, 20), rated(3, 30, good=False), rated(4, 40)]
    (group,) = rating_groups(answers, budget=1000, seed=0)
    matched, mismatched = group.items[:3], group.items[3:]
    right = {each.item.prompt: each.item.answer for each in answers}
    good = {each.item.prompt: each.good for each in answers}
    assert [item.prompt for item in mismatched] == [item.prompt for item in matched]
    assert {item.answer for item in mismatched} == set(right.values())
    assert all(item.answer != right[item.prompt] for item in mismatched)
    assert [good[item.prompt] for item in matched] == list(group.desirable)


def test_answers_to_one_prompt_alone_have_nothing_mismatched() -> None:
    (group,) = rating_groups([rated(2, 20), rated(2, 21, good=False)], budget=1000, seed=0)
    assert len(group.items) == len(group.desirable) == 2


def test_groups_keep_to_the_budget_and_nobody_stands_alone() -> None:
    answers = [rated(place, place, length=10) for place in range(2, 9)]
    for budget, sizes in ((1000, [7]), (50, [2, 2, 3]), (5, [2, 2, 3])):
        groups = rating_groups(answers, budget=budget, seed=3)
        assert sorted(len(group.desirable) for group in groups) == sizes
        assert {item for group in groups for item in group.items} >= {each.item for each in answers}
    assert rating_groups(answers, 50, 3) == rating_groups(answers, 50, 3) != rating_groups(answers, 50, 4)
    assert rating_groups([], 50, 3) == []


def test_thirty_bad_ratings_pull_no_harder_than_one() -> None:
    pulls = []
    for count in (1, 30):
        (group,) = rating_groups([rated(place, place, good=False) for place in range(2, 2 + count)], 10_000, seed=0)
        known = replace(group, reference=tuple((-1.0,) * 3 for _ in group.items))
        log_probs = [torch.full((3,), -0.5, requires_grad=True) for _ in group.items]
        loss = Kto(0.1).loss(known, log_probs) / Kto(0.1).size(known)
        gradients = torch.autograd.grad(loss, log_probs, allow_unused=True, materialize_grads=True)
        pulls.append(float(sum(gradient.abs().sum() for gradient in gradients)))
    assert 0 < pulls[1] < pulls[0] * 1.1


def test_a_run_takes_shared_ratings_where_its_recipe_gives_them_weight(home: Home) -> None:
    settings = load_settings(home, {}, {"training": {"recipes": {"family": {"rating_weight": 0.1}}}})
    teach(home, settings)
    with Household.open(home, settings.memory) as household:
        member = household.member(household.members.list()[0].id)
        visibilities: tuple[Visibility, ...] = ("shared", "private")
        for visibility in visibilities:
            asked = [{"role": "user", "content": f"Is it {visibility}?"}]
            member.lessons.add(asked, "", "Yes.", source="thumb", visibility=visibility)
        taken = {}
        for recipe in ("family", "dpo"):
            run = household.runs.create("lessons")
            files = RunFiles(home.runs / run.id)
            begin(home, settings, household, run.id, recipe, files)
            taken[recipe] = [(each.question, each.answer, each.good) for each in read_inputs(files).ratings]
            assert len(household.runs.lessons(run.id)) == 2 + len(taken[recipe])
            household.runs.finish(run.id, "stopped")
    assert taken == {"family": [("Is it shared?", "Yes.", False)], "dpo": []}
