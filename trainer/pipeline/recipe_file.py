"""A recipe that a person wrote: a YAML file that says how a training differs from what the settings say."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from configs.errors import EnlaceError
from configs.home import Home
from configs.layers import Layer, SettingsOutOfReach, SettingsUnreadable, read_layer
from configs.settings import Settings, SettingWrong, load_settings
from trainer.errors import PlanFileMissing, PlanFileUnreadable, RecipeKeyUnknown
from trainer.pipeline.graph import graph_of
from trainer.pipeline.sources import SOURCES
from trainer.pipeline.stages import STAGES
from trainer.pipeline.usual import USUAL, Wiring

KEYS = ("recipe", "training", "engine", "assistant", "stages")


@dataclass(frozen=True)
class WrittenRecipe:
    """``recipe``: the name of one of the settings; ``settings``: the household's with what the file changes of them."""

    recipe: str
    settings: Settings
    stages: Wiring


def read_recipe(path: Path, home: Home, environ: Mapping[str, str]) -> WrittenRecipe:
    """A recipe's file: ``recipe``, a name; ``training``, ``engine`` and ``assistant``, changes of these settings;
    ``stages``, by name what each of them takes. What it leaves out is as ever.

    Raises RecipeKeyUnknown, InputMissing, InputMismatch, GraphCyclic, SettingWrong and what ``read_written`` and
    reading settings raise.
    """
    return recipe_from(read_written(path), str(path), home, environ)


def read_written(path: Path, missing: type[PlanFileMissing] = PlanFileMissing) -> Layer:
    """What a recipe's file or a manifest says, which are no settings to go back to the defaults of.

    Raises ``missing``, PlanFileUnreadable, SettingTwice.
    """
    if not path.exists():
        raise missing(file=str(path))
    try:
        return read_layer(path)
    except (SettingsUnreadable, SettingsOutOfReach) as error:
        raise PlanFileUnreadable(**{"line": 0, "column": 0, **error.facts}) from error


def recipe_from(layer: Mapping[str, Any], file: str, home: Home, environ: Mapping[str, str]) -> WrittenRecipe:
    """The same of what is in the file already."""
    check_keys(layer, KEYS, file)
    changes = {name: layer[name] for name in ("training", "engine", "assistant") if layer.get(name)}
    settings = settings_with(changes, file, home, environ)
    stages = wiring_from(layer.get("stages"), file)
    graph_of(stages, STAGES, SOURCES, file)
    return WrittenRecipe(str(layer.get("recipe") or settings.training.recipe), settings, stages)


def settings_with(changes: Mapping[str, Any], file: str, home: Home, environ: Mapping[str, str]) -> Settings:
    """The household's settings with the changes of a ``file``. Raises SettingWrong and what reading settings raises."""
    try:
        return load_settings(home, environ, changes)
    except SettingWrong as error:
        # What is wrong with the household's own settings names its own place.
        if not str(error.facts["file"]).startswith("--"):
            raise
        raise SettingWrong(**{**error.facts, "file": file}) from error


def wiring_from(told: Any, file: str) -> Wiring:
    """What a file says of the stages, the usual where it says nothing. Raises SettingWrong."""
    if told is None:
        return USUAL
    if not isinstance(told, Mapping):
        raise _not_sections(file, "stages")
    for name, takes in told.items():
        if not (isinstance(takes, Mapping) and all(isinstance(source, str) for source in takes.values())):
            raise _not_sections(file, f"stages.{name}")
    return {str(name): {str(each): str(source) for each, source in takes.items()} for name, takes in told.items()}


def check_keys(layer: Mapping[str, Any], known: tuple[str, ...], file: str) -> None:
    """Raises RecipeKeyUnknown where a key is none of those known."""
    for key in layer:
        if key not in known:
            nearest = next(iter(difflib.get_close_matches(str(key), known, n=1)), "")
            raise RecipeKeyUnknown(file=file, key=str(key), nearest=nearest)


def _not_sections(file: str, key: str) -> EnlaceError:
    return SettingWrong(file=file, key=key, reason="a stage takes `name: source` lines", nearest="")
