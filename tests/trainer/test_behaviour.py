"""What new weights do to everyday requests, seen on the real model: what is kept, and which bad habits come."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from configs.home import Home
from configs.settings import load_settings
from engine.routes import Route
from engine.scoring import LocalModel
from engine.served import AdapterFile, adapter_file
from tests.trainer.adapters import disturbed
from trainer.everyday import read_forms, read_known
from trainer.examples import Tokeniser
from trainer.model.adapter_file import write_gguf
from trainer.model.lora import new_adapter
from trainer.model.reading import BaseWeights
from trainer.prompts import asked_prompt
from trainer.stages.behaviour import Behaved, Behaviour, Everyday, compared


@pytest.fixture(scope="module")
def breaking(base: BaseWeights, tmp_path_factory: pytest.TempPathFactory) -> AdapterFile:
    """An adapter with which the starter says nothing of sense, for conversations about the sea."""
    path = tmp_path_factory.mktemp("breaking") / "adapter.gguf"
    adapter = disturbed(new_adapter(base.config, 8, 16.0, torch.Generator().manual_seed(5)), 0.3)
    write_gguf(adapter, base.config, path, Route({"sea": 1.0}, (), 0.5))
    return adapter_file(path, 1.0)


@pytest.fixture
def behaviour(served: LocalModel, home: Home) -> Behaviour:
    """Of few requests under the assistant's own prompt, with short answers."""
    settings = load_settings(home, {})
    tokeniser = Tokeniser(served.template, served.vocabulary, settings.assistant.system_prompt)
    everyday = Everyday(
        tuple((each, asked_prompt(tokeniser, each.prompt)) for each in read_known()[:2]),
        tuple((each, asked_prompt(tokeniser, each.prompt)) for each in read_forms()[:2]),
    )
    return Behaviour(served, everyday, settings.training.evaluation.model_copy(update={"answer_tokens": 24}))


def test_weights_that_break_the_model_lose_its_forms_and_those_of_a_route_keep_what_it_is_not_for(
    behaviour: Behaviour, breaking: AdapterFile
) -> None:
    before = behaviour.of(())
    assert before.known == (True, True)
    assert before.forms == (True, True)
    assert not any((*before.refused, *before.repetitive, *before.empty))
    routed = behaviour.of((breaking,))
    values, intervals = compared([before], routed, 0.9)
    assert (values["known_kept"], values["forms_kept"]) == (1.0, 0.0)
    assert intervals["forms_kept"].samples == 2
    always = behaviour.of((replace(breaking, route=None),))
    assert compared([before], always, 0.9)[0]["known_kept"] == 0.0


def test_what_is_kept_is_counted_of_what_was_there_and_habits_by_how_much_more_often_they_show() -> None:
    before = Behaved((True, True, False), (True, False), (True, *[False] * 4), (False,) * 5, (False,) * 5)
    after = Behaved((True, False, True), (False, True), (False, *[True] * 4), (False,) * 5, (True, *[False] * 4))
    values, intervals = compared([before], after, 0.9)
    assert values == {
        "known_kept": 0.5,
        "forms_kept": 0.0,
        "refusal_rise": pytest.approx(0.6),
        "repetition_rise": 0.0,
        "empty_rise": pytest.approx(0.2),
    }
    assert [intervals[name].samples for name in values] == [2, 1, 5, 5, 5]


def test_what_several_nights_lost_each_counts_together_from_where_they_began() -> None:
    """Each night keeps three quarters of what the one before knew, and refuses one answer in five more."""

    def after(known: int, refused: int) -> Behaved:
        none, refusals = (False,) * 5, tuple(number < refused for number in range(5))
        return Behaved(tuple(number < known for number in range(16)), (True,), refusals, none, none)

    base, first, second = after(16, 0), after(12, 1), after(9, 2)
    values, intervals = compared([base, base], first, 0.9)
    assert values["known_kept"] == 0.75
    assert values["refusal_rise"] == pytest.approx(0.2)
    assert compared([first], second, 0.9)[0]["known_kept"] == 0.75
    for references in ([first, base], [base, first]):
        values, intervals = compared(references, second, 0.9)
        assert (values["known_kept"], intervals["known_kept"].samples) == (9 / 16, 16)
        assert values["refusal_rise"] == pytest.approx(0.4)


def test_where_nothing_was_right_before_nothing_is_lost() -> None:
    nothing = Behaved((False,), (False,), (False,) * 2, (False,) * 2, (False,) * 2)
    values, intervals = compared([nothing], nothing, 0.9)
    assert (values["known_kept"], intervals["known_kept"].samples) == (1.0, 0)


def test_what_nobody_was_asked_is_not_measured() -> None:
    nobody = Behaved((), (), (), (), ())
    assert compared([nobody], nobody, 0.9)[0].keys() == {"known_kept", "forms_kept"}
