"""What a run will take follows from what it trains, and from what the last one here has shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from configs.home import Home
from engine.messages import Message
from memory.household import Household
from tests.trainer.household import small_settings
from tests.trainer.stages import inputs_for
from trainer.lessons import TrainingLesson
from trainer.onward import Onward
from trainer.pipeline.estimate import Shown, estimates, flops_of, shown_here
from trainer.run_files import Inputs

LESSONS = 40


@pytest.fixture
def inputs(home: Home, starter: Path) -> Inputs:
    lessons = (
        TrainingLesson(f"l{number}", (Message("user", f"What is in box {number}?"),), "A train.", "Nothing.")
        for number in range(LESSONS)
    )
    return inputs_for(home, starter, {}, lessons=tuple(lessons), system_prompt="You are Enlace.")


def test_going_on_from_what_was_learned_takes_less_than_learning_all_of_it_again(inputs: Inputs) -> None:
    learned = frozenset(lesson.id for lesson in inputs.lessons[: LESSONS // 2])
    onward = replace(inputs, onward=Onward(Path("adapter.gguf"), "v1", "r0001", 1, learned))
    again, on = flops_of(inputs), flops_of(onward)
    new, known = inputs.recipe.wordings_an_epoch, inputs.recipe.onward.wordings_an_epoch
    assert on["train"] == pytest.approx((new + known) / (2 * new) * again["train"], rel=0.02)
    assert on["evaluate"] == again["evaluate"]


def judged(home: Home, inputs: Inputs, energy: dict[str, object]) -> None:
    """A run on record that took 100 seconds in each stage."""
    with Household.open(home, small_settings(home).memory) as household:
        run = household.runs.create("lessons")
        folder = home.runs / run.id
        folder.mkdir()
        stages = {name: {"flops": 1e12, "seconds": 100.0, "energy": energy} for name in inputs.stages}
        manifest = {"base": {"sha256": inputs.base_sha256}, "stages": stages}
        (folder / "manifest.yaml").write_text(yaml.safe_dump(manifest))
        household.runs.finish(run.id, "held")


@pytest.mark.parametrize(
    ("estimated", "watts"), [pytest.param(0.0, 42.0, id="measured"), pytest.param(4200.0, None, id="reckoned")]
)
def test_the_last_run_tells_how_fast_this_machine_is_and_what_it_draws_where_that_was_measured(
    home: Home, inputs: Inputs, estimated: float, watts: float | None
) -> None:
    judged(home, inputs, {"joules": 4200.0, "estimated": estimated, "sources": []})
    with Household.open(home, small_settings(home).memory) as household:
        shown = shown_here(household, inputs)
        other = shown_here(household, replace(inputs, base_sha256="1" * 64))
    assert (shown.speeds["train"], shown.watts) == (1e10, watts)
    assert other == Shown({}, None)
    found = estimates(inputs, shown)["train"]
    assert found.seconds == pytest.approx(found.flops / 1e10)
    assert found.joules == pytest.approx(found.seconds * (watts or inputs.training.estimate.watts))
    assert (found.measured, found.drawn) == (True, watts is not None)
