"""A training ends when wordings that it never trains gain too little."""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.home import Home
from configs.sections.training import EarlyStopSettings
from tests.trainer.killed_training import prepared_run
from tests.trainer.random_model import write_random_model
from tests.trainer.test_checkpoints import assert_same_weights, resumed_at, steps, trained
from trainer.early_stop import EarlyStop, set_apart
from trainer.model.decoder import Decoder
from trainer.model.reading import read_base
from trainer.objectives.interface import Example
from trainer.packing import Item
from trainer.run_files import RunFiles, read_json, write_json

EXAMPLES = [Example((Item((lesson, wording), (7,)),), name=str(lesson)) for lesson in range(4) for wording in range(5)]


def test_a_share_is_set_apart_and_never_a_question_as_it_was_asked() -> None:
    trained_ones, watched = set_apart(EXAMPLES, 0.2, seed=1)
    assert (len(trained_ones), len(watched)) == (16, 4)
    assert sorted([*trained_ones, *watched], key=EXAMPLES.index) == EXAMPLES
    assert all(example.items[0].prompt[1] > 0 for example in watched)
    assert set_apart(EXAMPLES, 0.2, seed=1) == (trained_ones, watched)
    assert set_apart(EXAMPLES, 0.2, seed=2) != (trained_ones, watched)
    assert set_apart(EXAMPLES, 0.0, seed=1) == (EXAMPLES, [])
    assert len(set_apart(EXAMPLES, 0.99, seed=1)[0]) == 4


@pytest.mark.parametrize(("share", "least_gain", "ends"), [(0.2, 0.1, True), (0.2, 0.0, False), (0.0, 0.1, False)])
def test_an_epoch_that_changed_nothing_is_the_last(tmp_path: Path, share: float, least_gain: float, ends: bool) -> None:
    write_random_model(tmp_path / "random.gguf", "llama", layers=1)
    decoder = Decoder(read_base(tmp_path / "random.gguf"))
    _, watched = set_apart(EXAMPLES, share, seed=1)
    settings = EarlyStopSettings(share=share, least_gain=least_gain)
    stop = EarlyStop(decoder, watched, settings, 512, lambda: None)
    assert not stop.enough()
    assert stop.enough() is ends
    assert len(set(stop.losses)) == (1 if watched else 0)


def run_of_two_wordings(home: Home, name: str) -> RunFiles:
    """Every lesson in two wordings; no gain is enough."""
    files = prepared_run(home, name, recipe={"early_stop": {"share": 0.3, "least_gain": 1000}})
    data = read_json(files.data)
    for place, example in enumerate(data["examples"]):
        example["lesson"] = str(place // 2)
    write_json(files.data, data)
    return files


def test_it_ends_early_also_where_it_was_killed_in_between(home: Home) -> None:
    unbroken, killed = run_of_two_wordings(home, "unbroken"), run_of_two_wordings(home, "killed")
    assert trained((unbroken, 0), (killed, 15), (killed, 7), (killed, 0)) == [True, False, False, True]
    report = read_json(unbroken.report("train"))
    # Eight of the twelve are trained, three a step.
    assert (report["steps"], len(steps(unbroken)), len(report["held_out_losses"])) == (6, 6, 2)
    assert read_json(killed.report("train"))["held_out_losses"] == report["held_out_losses"]
    assert resumed_at(killed)
    assert_same_weights(killed, unbroken)
