"""A training goes on from the one that answers the family, unless something of that has to be gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from configs.home import Home
from configs.settings import Settings, load_settings
from engine.catalogue import model_path
from memory.errors import ArtifactDamaged
from memory.household import Household
from memory.lessons import Lesson
from tests.trainer.household import PAIRS, SMALL, finish, small_settings, start_run
from trainer.beginning import begin
from trainer.model.adapter_file import load_weights, read_gguf
from trainer.model.gguf_file import GGUFFile
from trainer.model.shapes import trainable_config
from trainer.run_files import Inputs, RunFiles, read_inputs, read_json, write_json

NEW = ("Who waters the plants?", "Pablo waters the plants.", "Nobody waters the plants.")
RECIPE = "family"


def share(household: Household, question: str, chosen: str) -> Lesson:
    """One more correction of the family's first member."""
    lessons = household.member(household.members.list()[0].id).lessons
    return lessons.add([{"role": "user", "content": question}], chosen, visibility="shared")


def begun(home: Home, settings: Settings, household: Household) -> Inputs:
    """What a run that is begun now starts from; it comes to no verdict."""
    run = household.runs.create("lessons")
    try:
        return begin(home, settings, household, run.id, RECIPE, RunFiles(home.runs / run.id))
    finally:
        household.runs.finish(run.id, "failed")


def test_a_night_trains_what_is_new_and_goes_over_what_it_has_learned(home_that_trained: Home) -> None:
    home = home_that_trained
    # So small a training may let another wording slip, which the next one then mends.
    settings = small_settings(home, {"gate": {**SMALL["training"]["gate"], "lessons_kept": 0.5}})
    first, second = (RunFiles(home.runs / run) for run in ("r0001", "r0002"))
    assert read_inputs(first).onward is None
    config = trainable_config(GGUFFile(model_path(home, settings.engine.model)))
    served, kept = read_gguf(first.adapter, config), load_weights(first.weights)
    assert (served.rank, served.alpha) == (kept.rank, kept.alpha)
    assert all(torch.equal(served.a[key], kept.a[key]) and torch.equal(served.b[key], kept.b[key]) for key in kept.a)

    with Household.open(home, settings.memory) as household:
        old = {lesson.id for lesson in household.lessons_for_training()}
        new = share(household, NEW[0], NEW[1])
    code, out, err = finish(start_run(home))
    assert (code, err, json.loads(out)["decision"]) == (0, "", "SHIP")
    onward = read_inputs(second).onward
    assert onward is not None
    assert (onward.snapshot, onward.run, onward.row) == ("v1", "r0001", 1)
    assert onward.learned == old
    steps = [read_json(files.report("train"))["steps"] for files in (first, second)]
    # Two lessons of two wordings and four a step; then the new one's two wordings, and one of an old one.
    assert steps == [14, 14]
    answers = read_json(second.measures)["answers"]
    assert {each["lesson"] for each in answers if not each["held_out"] and each["after_right"]} == {new.id, *old}

    with Household.open(home, settings.memory) as household:
        assert household.runs.lessons("r0002") == {new.id, *old}
        slipped = {each["lesson"] for each in answers if not each["after_right"]}
        # Nothing new: whoever asks for a training wants another one.
        assert (begun(home, settings, household).onward is None) is (not slipped)
        more = share(household, "Where is the ladder?", "The ladder is in the attic.")
        found = begun(home, settings, household).onward
        assert found is not None
        assert (found.snapshot, found.row) == ("v2", 2)
        assert found.learned == {new.id, *old} - slipped
        # What was withdrawn is in the first training, and so in all that went on from there.
        household.member(household.members.list()[0].id).lessons.withdraw(min(old))
        from_the_base = begun(home, settings, household)
        assert from_the_base.onward is None
        assert {lesson.id for lesson in from_the_base.lessons} == {new.id, more.id, *old} - {min(old)}


def test_a_training_does_not_begin_where_a_bit_of_what_answers_is_another(home_that_trained: Home) -> None:
    settings = load_settings(home_that_trained, {})
    with Household.open(home_that_trained, settings.memory) as household:
        share(household, NEW[0], NEW[1])
        (adapter,) = household.snapshots.current().adapters
        path = household.artifacts.path(adapter.sha256)
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.chmod(0o600)
        path.write_bytes(content)
        with pytest.raises(ArtifactDamaged) as damaged:
            begun(home_that_trained, settings, household)
        assert damaged.value.facts["digest"] == adapter.sha256


def test_a_training_begins_from_the_base_where_it_cannot_go_on(home_that_trained: Home, tmp_path: Path) -> None:
    home, files = home_that_trained, RunFiles(home_that_trained.runs / "r0001")
    settings = load_settings(home, {})
    with Household.open(home, settings.memory) as household:
        share(household, NEW[0], NEW[1])
        assert begun(home, settings, household).onward

    def goes_on(changed: Settings = settings) -> bool:
        with Household.open(home, settings.memory) as household:
            return begun(home, changed, household).onward is not None

    def with_recipe(**changes: object) -> Settings:
        recipe = settings.training.recipes[RECIPE].model_copy(update=changes)
        training = settings.training.model_copy(update={"recipes": {RECIPE: recipe}})
        return settings.model_copy(update={"training": training})

    recipe = settings.training.recipes[RECIPE]
    assert not goes_on(with_recipe(lora=recipe.lora.model_copy(update={"rank": 8})))
    assert not goes_on(with_recipe(onward=recipe.onward.model_copy(update={"nights": 0})))
    assert not goes_on(
        settings.model_copy(update={"assistant": settings.assistant.model_copy(update={"system_prompt": "Hi."})})
    )
    # What it was trained on last is not right any more, or was edited since: that is trained in full.
    measured = read_json(files.measures)
    with Household.open(home, settings.memory) as household:
        lessons = {lesson.question: lesson.id for lesson in household.lessons_for_training()}
    dog, key = (lessons[question] for question, _, _ in PAIRS)
    answers = [{**each, "after_right": each["lesson"] != dog} for each in measured["answers"]]
    write_json(files.measures, {**measured, "answers": answers})
    with Household.open(home, settings.memory) as household:
        found = begun(home, settings, household).onward
        assert found is not None
        assert found.learned == {key}
        household.member(household.members.list()[0].id).lessons.edit(key, chosen="It is under the green flowerpot.")
        assert begun(home, settings, household).onward is None
    write_json(files.measures, measured)
    assert goes_on()
    # Another version of Enlace wrote of it in another way; its folder was removed.
    started_from = read_json(files.inputs)
    write_json(files.inputs, {key: value for key, value in started_from.items() if key != "onward"})
    assert not goes_on()
    write_json(files.inputs, started_from)
    assert goes_on()
    files.measures.rename(tmp_path / "elsewhere")
    assert not goes_on()
