"""Whether a training goes on from the one before, and with which lessons."""

from __future__ import annotations

from collections import defaultdict

from configs.home import Home
from memory.household import Household
from trainer.errors import TrainingDataBroken
from trainer.onward import Onward
from trainer.run_files import Inputs, RunFiles, read_inputs, read_json


def onward_of(home: Home, household: Household, inputs: Inputs) -> Onward | None:
    """What a run with ``inputs`` goes on from; None for the base.

    That is the training which answers the family, where it came to the last verdict, by the same numbers, over the same
    base, and nothing that was ever trained into it has been taken back since: that has to be gone, and whatever went on
    from there would still hold it. Where the gate held a training that went on, the next one begins from the base. So
    it does after ``recipes.*.onward.nights`` in a row, and where nothing is new or nothing was learned.
    """
    most = inputs.recipe.onward.nights
    if inputs.member is not None or not most or len(inputs.current_adapters) != 1:
        return None
    run = household.snapshots.get(inputs.current).run
    if run is None or run != household.runs.last_judged() or household.runs.taken_back().get(run):
        return None
    files = RunFiles(home.runs / run)
    try:
        before, answers = read_inputs(files), read_json(files.measures)["answers"]
    except TrainingDataBroken:
        # Its folder was removed, or another version of Enlace wrote it.
        return None
    row = 1 + (before.onward.row if before.onward else 0)
    if row > most or _numbers(before) != _numbers(inputs):
        return None
    right: dict[str, bool] = defaultdict(lambda: True)
    for answer in answers:
        right[answer["lesson"]] &= answer["after_right"]
    trained = {lesson.id: lesson for lesson in before.lessons}
    learned = frozenset(
        lesson.id
        for lesson in inputs.lessons
        if lesson.id in right and right[lesson.id] and trained.get(lesson.id) == lesson
    )
    if not learned or len(learned) == len(inputs.lessons):
        return None
    return Onward(inputs.current_adapters[0].path, inputs.current, run, row, learned)


def _numbers(inputs: Inputs) -> tuple[object, ...]:
    """What has to be the same for one training to go on from another."""
    recipe = inputs.recipe
    return inputs.base_sha256, inputs.system_prompt, recipe.lora, recipe.replay.weight
