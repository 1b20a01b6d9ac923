"""What a run starts from: the current snapshot, its base as it was, and every shared lesson in force."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from configs.home import Home
from configs.sections.training import RecipeSettings
from configs.settings import Settings
from engine.catalogue import model_path
from engine.served import AdapterFile
from memory.household import Household
from memory.runs import Run
from memory.snapshots import Snapshot
from trainer.defence import CONTRADICTED, family_lessons
from trainer.errors import BaseReplaced, NothingLeft, NothingToLearn, RecipeUnknown, TrainerError
from trainer.going_on import onward_of
from trainer.lessons import Dropped, TrainingLesson
from trainer.model.gguf_file import GGUFFile
from trainer.model.shapes import trainable_config
from trainer.pipeline.usual import USUAL, Wiring
from trainer.ratings import Rating, latest_opinions
from trainer.run_files import Inputs, RunFiles, write_json
from trainer.searching.worked import last_worked


@dataclass(frozen=True)
class Start:
    """The family's current ``snapshot``, the file of its base, and its adapters."""

    snapshot: Snapshot
    base: Path
    adapters: tuple[AdapterFile, ...]


def start_of(home: Home, settings: Settings, household: Household) -> Start:
    """What a run starts from; a new household gets the base's snapshot.

    Raises BaseReplaced, ModelMissing, ModelBroken, NotTrainable, ShapeNotTrainable, ArtifactMissing, ArtifactDamaged.
    """
    name, path, digest = _base(home, settings, household)
    trainable_config(GGUFFile(path))
    current = household.snapshots.ensure_base(name, digest)
    for each in current.adapters:
        # Stages know it by the name that its content has.
        household.artifacts.verify(each.sha256)
    adapters = (AdapterFile(household.artifacts.path(each.sha256), each.scale) for each in current.adapters)
    return Start(current, path, tuple(adapters))


def known_recipe(settings: Settings, name: str) -> RecipeSettings:
    """Raises RecipeUnknown."""
    recipes = settings.training.recipes
    if name not in recipes:
        raise RecipeUnknown(recipe=name, known=", ".join(recipes))
    return recipes[name]


def begin(
    home: Home, settings: Settings, household: Household, run_id: str, recipe_name: str, files: RunFiles
) -> Inputs:
    """Write the run's ``inputs.json`` and return what it says. Raises NoRoom and what ``gathered`` does."""
    inputs = gathered(home, settings, household, household.runs.get(run_id), recipe_name)
    put_on_record(household, inputs)
    write_json(files.inputs, inputs.as_json())
    return inputs


def gathered(
    home: Home, settings: Settings, household: Household, run: Run, recipe_name: str, stages: Wiring = USUAL
) -> Inputs:
    """What a run would start from now; nothing is written.

    Raises RecipeUnknown, NothingToLearn, NothingLeft, BaseReplaced, ModelMissing, ModelBroken, NotTrainable,
    ShapeNotTrainable, ArtifactMissing, ArtifactDamaged.
    """
    recipe = known_recipe(settings, recipe_name)
    kept, dropped = family_lessons(household, settings.training.defence, recipe)
    if not kept:
        raise _nothing_to_learn(household, len(dropped))
    ratings = latest_opinions(household.ratings()) if recipe.rating_weight else []
    start = start_of(home, settings, household)
    inputs = inputs_of(home, settings, start, run.id, recipe_name, kept, dropped, ratings)
    inputs = with_what_worked(replace(inputs, stages=stages), household, run)
    return replace(inputs, onward=onward_of(home, household, inputs))


def put_on_record(household: Household, inputs: Inputs) -> None:
    """Say in the household's records which lessons a run trains. Raises RunUnknown."""
    if inputs.onward:
        # What it has learned is in this one too, also what was corrected again since.
        household.runs.give(inputs.run, household.runs.lessons(inputs.onward.run))
    # What the rules find to be asked again later waits for no training either.
    in_force = {lesson.id for lesson in household.lessons_for_training()}
    # Not so what two members contradict each other in: that waits for an answer.
    settled = {lesson.id for lesson in inputs.dropped if lesson.by and lesson.reason != CONTRADICTED}
    trained = [lesson.id for lesson in inputs.lessons] + [rating.id for rating in inputs.ratings]
    household.runs.give(inputs.run, [*trained, *sorted(settled & in_force)])


def with_what_worked(inputs: Inputs, household: Household, run: Run) -> Inputs:
    """The same with the numbers that last worked before ``run``, where numbers are searched."""
    if not inputs.training.search.seconds:
        return inputs
    return replace(inputs, choice=last_worked(household.runs, run, inputs))


def inputs_of(
    home: Home,
    settings: Settings,
    start: Start,
    run_id: str,
    recipe_name: str,
    lessons: Iterable[TrainingLesson],
    dropped: Iterable[Dropped],
    ratings: Iterable[Rating],
) -> Inputs:
    """What a run on these lessons depends on, where it trains over the bare base for the family."""
    return Inputs(
        run=run_id,
        base_name=start.snapshot.base_name,
        base=start.base,
        base_sha256=start.snapshot.base_sha256,
        current=start.snapshot.id,
        current_adapters=start.adapters,
        lessons=tuple(lessons),
        dropped=tuple(dropped),
        ratings=tuple(ratings),
        system_prompt=settings.assistant.system_prompt,
        recipe_name=recipe_name,
        training=settings.training,
        engine=settings.engine,
        busy_flag=home.busy_flag,
        cache=home.cache,
    )


def _nothing_to_learn(household: Household, dropped: int) -> TrainerError:
    """Whether there is something to unlearn: a current snapshot with adapters, over a base that is a snapshot too."""
    listed = household.snapshots.list()
    current = household.snapshots.current() if listed else None
    if current is not None and current.adapters:
        for snapshot in listed:
            if not snapshot.adapters and snapshot.base_sha256 == current.base_sha256:
                return NothingLeft(current=current.id, base=snapshot.id)
    return NothingToLearn(dropped=dropped)


def _base(home: Home, settings: Settings, household: Household) -> tuple[str, Path, str]:
    """Name, file and SHA-256 of the base of the current snapshot. Raises BaseReplaced."""
    listed = household.snapshots.list()
    current = household.snapshots.current() if listed else None
    name = current.base_name if current else settings.engine.model
    path = model_path(home, name)
    digest = household.snapshots.file_digest(path)
    if current and current.base_sha256 != digest:
        raise BaseReplaced(path=str(path), expected=current.base_sha256, found=digest)
    return name, path, digest
