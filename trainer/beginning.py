"""What a run starts from: the current snapshot, its base as it was, and every shared lesson in force."""

from __future__ import annotations

from pathlib import Path

from configs.home import Home
from configs.settings import Settings
from engine.catalogue import model_path
from engine.served import AdapterFile
from memory.household import Household
from trainer.errors import BaseReplaced, NothingLeft, NothingToLearn, RecipeUnknown, TrainerError
from trainer.model.gguf_file import GGUFFile
from trainer.model.shapes import trainable_config
from trainer.ratings import latest_opinions
from trainer.run_files import Inputs, RunFiles, write_json
from trainer.settling import sorted_out


def begin(
    home: Home, settings: Settings, household: Household, run_id: str, recipe_name: str, files: RunFiles
) -> Inputs:
    """Write the run's ``inputs.json`` and return what it says.

    Raises RecipeUnknown, NothingToLearn, NothingLeft, BaseReplaced, ModelMissing, ModelBroken, NotTrainable,
    ShapeNotTrainable, ArtifactMissing, NoRoom.
    """
    training = settings.training
    if recipe_name not in training.recipes:
        raise RecipeUnknown(recipe=recipe_name, known=", ".join(training.recipes))
    kept, dropped = sorted_out(household.corrections())
    if not kept:
        raise _nothing_to_learn(household, len(dropped))
    ratings = latest_opinions(household.ratings()) if training.recipes[recipe_name].rating_weight else []
    name, path, digest = _base(home, settings, household)
    trainable_config(GGUFFile(path))
    current = household.snapshots.ensure_base(name, digest)
    inputs = Inputs(
        run=run_id,
        base_name=name,
        base=path,
        base_sha256=digest,
        current=current.id,
        current_adapters=tuple(AdapterFile(household.artifacts.path(a.sha256), a.scale) for a in current.adapters),
        lessons=tuple(kept),
        dropped=tuple(dropped),
        ratings=tuple(ratings),
        system_prompt=settings.assistant.system_prompt,
        recipe_name=recipe_name,
        training=training,
        engine=settings.engine,
        busy_flag=home.busy_flag,
        cache=home.cache,
    )
    # What the rules find to be asked again later waits for no training either.
    in_force = {lesson.id for lesson in household.lessons_for_training()}
    settled = {lesson.id for lesson in dropped if lesson.by}
    household.runs.give(
        run_id, [*(lesson.id for lesson in kept), *(rating.id for rating in ratings), *sorted(settled & in_force)]
    )
    write_json(files.inputs, inputs.as_json())
    return inputs


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
