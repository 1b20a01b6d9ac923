"""The files of one run: what it starts from, what each stage leaves, and that they appear whole or not at all."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from configs.sections.engine import EngineSettings
from configs.sections.training import RecipeSettings, TrainingSettings
from engine.fit import usable_processors
from engine.served import AdapterFile
from trainer.errors import TrainingDataBroken
from trainer.lessons import Dropped, TrainingLesson, lesson_from_json
from trainer.onward import Onward, onward_from_json
from trainer.pipeline.usual import USUAL, Wiring
from trainer.ratings import Rating, rating_from_json
from trainer.room import write_whole
from trainer.searching.choice import Choice

PACKAGES = ("enlace", "torch", "gguf", "llama-cpp-python")


def versions() -> dict[str, str]:
    """Of Python, and of the packages that decide what a training makes."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


@dataclass(frozen=True)
class Inputs:
    """All that a run depends on, as the supervisor wrote it down. Paths are absolute.

    ``choice``: numbers that are in the place of the recipe's own; None: those. ``stages``: what each of them takes.
    ``onward``: the training that this one goes on from; None: it begins with a fresh adapter.
    A run trains over the bare base for the family. For one ``member`` (an id) it trains over ``beneath``, the adapters
    that the family is served, and ``known`` are the family's lessons, which are measured and not trained.
    """

    run: str
    base_name: str
    base: Path
    base_sha256: str
    current: str
    current_adapters: tuple[AdapterFile, ...]
    lessons: tuple[TrainingLesson, ...]
    system_prompt: str
    recipe_name: str
    training: TrainingSettings
    engine: EngineSettings
    busy_flag: Path
    cache: Path
    dropped: tuple[Dropped, ...] = ()
    ratings: tuple[Rating, ...] = ()
    member: str | None = None
    beneath: tuple[AdapterFile, ...] = ()
    known: tuple[TrainingLesson, ...] = ()
    choice: Choice | None = None
    onward: Onward | None = None
    stages: Wiring = field(default_factory=lambda: USUAL)

    @property
    def recipe(self) -> RecipeSettings:
        """That of the settings, with the numbers of ``choice`` in it where there is one."""
        recipe = self.training.recipes[self.recipe_name]
        return recipe if self.choice is None else self.choice.put_in(recipe)

    @property
    def ground(self) -> str:
        """What the run trains over, for whatever is kept of what that says: another base, other words."""
        adapters = [f" {adapter.path.parent.name}{adapter.path.name}x{adapter.scale:g}" for adapter in self.beneath]
        return "".join([self.base_sha256, *adapters])

    @property
    def seed(self) -> int:
        return self.training.seed

    @property
    def threads(self) -> int:
        """Processor threads that a stage may use."""
        return self.training.threads or len(usable_processors())

    def as_json(self) -> dict[str, Any]:
        """``inputs_from_json`` reads it back."""
        return {
            "run": self.run,
            "versions": versions(),
            "base": {"name": self.base_name, "path": str(self.base), "sha256": self.base_sha256},
            "current": {"id": self.current, "adapters": adapters_json(self.current_adapters)},
            "member": self.member,
            "beneath": adapters_json(self.beneath),
            "known": [lesson.as_json() for lesson in self.known],
            "lessons": [lesson.as_json() for lesson in self.lessons],
            "dropped": [asdict(lesson) for lesson in self.dropped],
            "ratings": [rating.as_json() for rating in self.ratings],
            "system_prompt": self.system_prompt,
            "recipe": self.recipe_name,
            "choice": self.choice and self.choice.as_json(),
            "onward": self.onward and self.onward.as_json(),
            "training": self.training.model_dump(),
            "engine": self.engine.model_dump(),
            "stages": {name: dict(takes) for name, takes in self.stages.items()},
            "busy_flag": str(self.busy_flag),
            "cache": str(self.cache),
        }


def inputs_from_json(value: Mapping[str, Any]) -> Inputs:
    """The reverse of ``Inputs.as_json``."""
    return Inputs(
        run=value["run"],
        base_name=value["base"]["name"],
        base=Path(value["base"]["path"]),
        base_sha256=value["base"]["sha256"],
        current=value["current"]["id"],
        current_adapters=adapters_from_json(value["current"]["adapters"]),
        lessons=tuple(lesson_from_json(lesson) for lesson in value["lessons"]),
        dropped=tuple(Dropped(**lesson) for lesson in value["dropped"]),
        ratings=tuple(rating_from_json(rating) for rating in value["ratings"]),
        system_prompt=value["system_prompt"],
        recipe_name=value["recipe"],
        training=TrainingSettings.model_validate(value["training"]),
        engine=EngineSettings.model_validate(value["engine"]),
        busy_flag=Path(value["busy_flag"]),
        cache=Path(value["cache"]),
        member=value["member"],
        beneath=adapters_from_json(value["beneath"]),
        known=tuple(lesson_from_json(lesson) for lesson in value["known"]),
        choice=value["choice"] and Choice(**value["choice"]),
        onward=value["onward"] and onward_from_json(value["onward"]),
        stages=value["stages"],
    )


def adapters_json(adapters: Iterable[AdapterFile]) -> list[dict[str, Any]]:
    """For files; ``adapters_from_json`` reads it back."""
    return [{"path": str(adapter.path), "scale": adapter.scale} for adapter in adapters]


def adapters_from_json(value: Iterable[Mapping[str, Any]]) -> tuple[AdapterFile, ...]:
    """The reverse of ``adapters_json``."""
    return tuple(AdapterFile(Path(adapter["path"]), adapter["scale"]) for adapter in value)


@dataclass(frozen=True)
class RunFiles:
    """Paths in a run's folder."""

    folder: Path

    @property
    def inputs(self) -> Path:
        return self.folder / "inputs.json"

    @property
    def data(self) -> Path:
        return self.folder / "prepare" / "data.json"

    @property
    def weights(self) -> Path:
        return self.folder / "train" / "adapter.safetensors"

    @property
    def adapter(self) -> Path:
        return self.folder / "export" / "adapter.gguf"

    @property
    def measures(self) -> Path:
        return self.folder / "evaluate" / "measures.json"

    @property
    def score(self) -> Path:
        return self.folder / "score" / "score.json"

    @property
    def manifest(self) -> Path:
        return self.folder / "manifest.yaml"

    @property
    def partial_manifest(self) -> Path:
        return self.folder / "manifest.partial.yaml"

    def checkpoint(self, step: int) -> Path:
        """Where the training is kept as it was after ``step`` steps."""
        return self.folder / "train" / f"checkpoint-{step:08d}.bin"

    def checkpoints(self) -> list[Path]:
        """Those there are, the oldest first; also what a kill left half written of one."""
        return sorted((self.folder / "train").glob("checkpoint-*"))

    @property
    def meeting(self) -> Path:
        """Where the processes of a training find each other."""
        return self.folder / "train" / "meeting"

    def stage(self, name: str) -> Path:
        """A stage's own folder."""
        return self.folder / name

    def report(self, name: str) -> Path:
        """What a stage says of itself when it is done: seconds, peak memory and numbers of its own."""
        return self.folder / name / "report.json"

    def error(self, name: str) -> Path:
        """Why a stage failed: code and facts."""
        return self.folder / name / "error.json"


def discard_checkpoints(files: RunFiles) -> None:
    """Give back the room of checkpoints that nothing will take up any more. Raises OSError."""
    for path in files.checkpoints():
        path.unlink()


def write_json(path: Path, value: Any) -> None:
    """Write a JSON value whole, which several processes may do at a time. Raises NoRoom."""
    write_whole(path, json.dumps(value, ensure_ascii=False).encode(), alone=False)


def read_json(path: Path) -> Any:
    """Raises TrainingDataBroken when the file is not there or no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TrainingDataBroken(path=str(path), line=0, reason=str(error)) from error


def read_inputs(files: RunFiles) -> Inputs:
    """What the run starts from. Raises TrainingDataBroken, also for what another version of Enlace wrote."""
    try:
        return inputs_from_json(read_json(files.inputs))
    except (KeyError, TypeError, ValueError) as error:
        raise TrainingDataBroken(path=str(files.inputs), line=0, reason=repr(error)) from error


def read_measures(files: RunFiles) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the gate judges of the trained weights, and the same of the current snapshot. Raises TrainingDataBroken."""
    measured = read_json(files.measures)
    parity = read_json(files.report("export"))["parity_kl"]
    return {**measured["measures"], "parity_kl": parity}, measured["baseline"]
