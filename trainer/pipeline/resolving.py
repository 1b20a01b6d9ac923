"""What a manifest names, found in a home: its lessons, its base, its adapters, each held to its hash."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from configs.errors import EnlaceError, Fact
from configs.home import Home
from configs.settings import Settings
from engine.catalogue import model_path
from engine.errors import ModelMissing
from engine.served import AdapterFile
from memory.errors import ArtifactDamaged, ArtifactMissing
from memory.household import Household
from trainer.admission import well_formed
from trainer.errors import ManifestMissing, ManifestStale, ManifestWrong
from trainer.lessons import Dropped, TrainingLesson
from trainer.manifest import ASKED, FORMAT, PIPELINE
from trainer.onward import Onward, onward_from_json
from trainer.pipeline.artifacts import digest_of_json
from trainer.pipeline.keys import code_version
from trainer.pipeline.recipe_file import check_keys, read_written, settings_with, wiring_from
from trainer.pipeline.usual import Wiring
from trainer.ratings import Rating, latest_opinions
from trainer.run_files import Inputs, versions

MANIFEST_KEYS: Final = (
    "format", "commit", "stages", *ASKED, "run", "artifacts", "measures", "intervals", "baseline", "verdict",
    "snapshot", "seconds", "paused", "energy", "peak_bytes", "failed",
)  # fmt: skip
# Without these nobody can tell what a manifest asks for.
NEEDED: Final = ("format", "pipeline", "recipe", "base", "current", "lessons", "training", "engine", "stages")
_NOTHING: Final = "—"  # told of what is not here
STAGE_KEYS: Final = ("takes", "gives", "cost")


Taught = TypeVar("Taught", TrainingLesson, Rating)


@dataclass(frozen=True)
class Stale:
    """What is not in this home as the manifest has it: ``what`` of it, and what was found instead."""

    what: str
    expected: str
    found: str

    @property
    def facts(self) -> dict[str, Fact]:
        return {"what": self.what, "expected": self.expected, "found": self.found}


@dataclass(frozen=True)
class Resolved:
    """``inputs``: of a run by the manifest; None where something of it is not here. ``stale``: what is otherwise."""

    manifest: Mapping[str, Any]
    settings: Settings
    stages: Wiring
    inputs: Inputs | None
    stale: tuple[Stale, ...]


def is_manifest(path: Path) -> bool:
    """Whether a YAML file is one, and no recipe that a person wrote. Raises what ``read_written`` does."""
    return "format" in read_written(path)


def read_manifest(path: Path) -> dict[str, Any]:
    """A manifest's file. Raises ManifestMissing, ManifestWrong, RecipeKeyUnknown and what ``read_written`` does."""
    manifest = read_written(path, ManifestMissing)
    check_keys(manifest, MANIFEST_KEYS, str(path))
    for key in NEEDED:
        if key not in manifest:
            raise ManifestWrong(file=str(path), key=key, reason="a manifest needs it")
    if (manifest["format"], manifest["pipeline"]) != (FORMAT, PIPELINE):
        raise ManifestWrong(file=str(path), key="format", reason="it is of another version of Enlace")
    return manifest


def resolved(
    manifest: Mapping[str, Any], file: str, home: Home, household: Household, environ: Mapping[str, str], run: str
) -> Resolved:
    """The inputs of ``run`` by a manifest. Raises ManifestWrong, SettingWrong and what reading settings raises."""
    try:
        return _Resolving(manifest, file, home, household, environ).resolve(run)
    except (KeyError, TypeError, AttributeError) as error:
        raise ManifestWrong(file=file, key=str(error).strip("'"), reason="a manifest needs it") from error


def kl_bound(manifest: Mapping[str, Any]) -> float | None:
    """How far a manifest lets the model move, in nats a token; None where it does not say, or has no end."""
    bound = manifest["gate"].get("unrelated_kl")
    number = isinstance(bound, int | float) and not isinstance(bound, bool)
    return float(bound) if number and math.isfinite(bound) else None


def check_fresh(found: Resolved, file: str) -> Inputs:
    """The inputs. Raises ManifestStale for the first thing that is not as the manifest has it."""
    for stale in found.stale:
        raise ManifestStale(
            file=file, what=stale.what, expected=stale.expected or _NOTHING, found=stale.found or _NOTHING
        )
    if found.inputs is None:
        raise ManifestStale(file=file, what="base", expected=_NOTHING, found=_NOTHING)
    return found.inputs


class _Resolving:
    def __init__(
        self, manifest: Mapping[str, Any], file: str, home: Home, household: Household, environ: Mapping[str, str]
    ) -> None:
        self._manifest = manifest
        self._file = file
        self._home = home
        self._household = household
        self._environ = environ
        self._stale: list[Stale] = []

    def resolve(self, run: str) -> Resolved:
        manifest = self._manifest
        self._same("code", manifest.get("code"), code_version())
        self._same("versions", manifest.get("versions"), versions())
        self._same("current", manifest["current"]["id"], self._household.snapshots.current().id)
        settings = self._settings()
        stages = wiring_from({name: told["takes"] for name, told in manifest["stages"].items()}, self._file)
        lessons, questions = self._lessons(manifest["lessons"])
        known, _ = self._lessons(manifest.get("known") or [])
        base = self._base()
        current = self._adapters("current", manifest["current"]["adapters"])
        beneath = self._adapters("beneath", manifest.get("beneath") or [])
        ratings = self._ratings(manifest.get("ratings") or [])
        onward = self._onward(manifest.get("onward"))
        inputs = None
        if base is not None:
            inputs = Inputs(
                run=run,
                base_name=manifest["base"]["name"],
                base=base,
                base_sha256=manifest["base"]["sha256"],
                current=manifest["current"]["id"],
                current_adapters=current,
                lessons=lessons,
                system_prompt=manifest["system_prompt"],
                recipe_name=manifest["recipe"]["name"],
                training=settings.training,
                engine=settings.engine,
                busy_flag=self._home.busy_flag,
                cache=self._home.cache,
                dropped=tuple(
                    Dropped(**each, question=questions.get(each["id"], "")) for each in manifest.get("dropped") or []
                ),
                ratings=ratings,
                member=manifest.get("member"),
                beneath=beneath,
                known=known,
                onward=onward,
                stages=stages,
            )
        return Resolved(manifest, settings, stages, inputs, tuple(self._stale))

    def _settings(self) -> Settings:
        manifest = self._manifest
        recipe = {key: value for key, value in manifest["recipe"].items() if key != "name"}
        name = manifest["recipe"]["name"]
        training = {**manifest["training"], "recipe": name, "recipes": {name: recipe}, "seed": manifest["seed"]}
        if gate := manifest.get("gate"):
            # Where it has no bound the reviewer says so; no setting could say it.
            unbounded = {"unrelated_kl"} if kl_bound(manifest) is None else set()
            training["gate"] = {name: bound for name, bound in gate.items() if name not in unbounded}
        changes = {
            "training": training,
            "engine": manifest["engine"],
            "assistant": {"system_prompt": manifest["system_prompt"]},
        }
        return settings_with(changes, self._file, self._home, self._environ)

    def _lessons(self, told: Iterable[Mapping[str, str]]) -> tuple[tuple[TrainingLesson, ...], dict[str, str]]:
        """Those that are named, and the question of every correction in force."""
        corrections = self._household.corrections()
        found, _ = well_formed(corrections)
        return self._unchanged("lessons", found, told), {lesson.id: lesson.question for lesson in corrections}

    def _ratings(self, told: Iterable[Mapping[str, str]]) -> tuple[Rating, ...]:
        return self._unchanged("ratings", latest_opinions(self._household.ratings()), told)

    def _unchanged(self, what: str, there: Iterable[Taught], told: Iterable[Mapping[str, str]]) -> tuple[Taught, ...]:
        """Those that are named and teach what they taught then."""
        found = {each.id: each for each in there}
        named = []
        for each in told:
            taught = found.get(each["id"])
            digest = digest_of_json(taught.as_json()) if taught else ""
            if taught is not None and digest == each["sha256"]:
                named.append(taught)
            else:
                self._stale.append(Stale(f"{what}.{each['id']}", each["sha256"], digest))
        return tuple(named)

    def _base(self) -> Path | None:
        told = self._manifest["base"]
        try:
            path = model_path(self._home, told["name"])
            found = self._household.snapshots.file_digest(path)
        except (ModelMissing, OSError):
            self._stale.append(Stale("base", told["sha256"], ""))
            return None
        self._same("base", told["sha256"], found)
        return path

    def _adapters(self, what: str, told: Iterable[Mapping[str, Any]]) -> tuple[AdapterFile, ...]:
        found = []
        for each in told:
            try:
                self._household.artifacts.verify(each["sha256"])
                found.append(AdapterFile(self._household.artifacts.path(each["sha256"]), each["scale"]))
            except (ArtifactMissing, ArtifactDamaged) as error:
                self._stale.append(Stale(f"{what}.adapters", each["sha256"], _told(error)))
        return tuple(found)

    def _onward(self, told: Mapping[str, Any] | None) -> Onward | None:
        if told is None:
            return None
        found = self._adapters("onward", [{"sha256": told["adapter"], "scale": 1.0}])
        return onward_from_json({**told, "adapter": str(found[0].path)}) if found else None

    def _same(self, what: str, expected: Any, found: Any) -> None:
        if expected != found:
            self._stale.append(Stale(what, str(expected), str(found)))


def _told(error: EnlaceError) -> str:
    return "" if isinstance(error, ArtifactMissing) else error.code
