"""What stages take and give, each a type of its own: what does not fit is refused when a run is planned.

An artifact is known by ``sha256``, the digest of its content, 64 lower-case hex digits; where it lies is no part of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from engine.served import AdapterFile
from trainer.errors import ArtifactChanged
from trainer.lessons import Dropped, TrainingLesson
from trainer.onward import Onward
from trainer.ratings import Rating


class Artifact(BaseModel):
    """The root of all of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str


class PreferencePairs(Artifact):
    """The lessons and ratings that are trained. ``known``: lessons that are measured alone; ``dropped``: left out."""

    lessons: tuple[TrainingLesson, ...]
    known: tuple[TrainingLesson, ...]
    ratings: tuple[Rating, ...]
    dropped: tuple[Dropped, ...]


class Weights(Artifact):
    """Adapters in GGUF form over a base, in the order in which they are applied."""

    adapters: tuple[AdapterFile, ...]


class BaseWeights(Weights):
    """What is trained over: the GGUF file ``path``, and over it adapters that are not trained any more."""

    path: Path


class ServedWeights(Weights):
    """Adapters as the engine serves them, over what is trained over."""


class Beginning(Artifact):
    """What a training goes on from; ``onward`` None: a fresh adapter."""

    onward: Onward | None


class StageFile(Artifact):
    """A file that a stage leaves for those that follow."""

    path: Path

    @classmethod
    def at(cls, path: Path) -> Self:
        """What lies at ``path``. Raises OSError."""
        return cls(sha256=digest_of(path), path=path)


class TrainingData(StageFile):
    """Lessons, ratings, replay and what is measured, as tokens."""


class Adapter(StageFile):
    """A LoRA adapter as it was trained."""


class EvaluationReport(StageFile):
    """What the gate judges, of the candidate and of what answers now."""


class TrialScore(StageFile):
    """How good a training is beside others of the same run."""


def digest_of(path: Path) -> str:
    """The SHA-256 of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of_json(value: Any) -> str:
    """The SHA-256 of a JSON value, the same however its objects are ordered."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def stored_as(path: Path) -> str:
    """The digest of a file in the artifact store, which its path is."""
    return f"{path.parent.name}{path.name}"


def combined(own: str, adapters: Sequence[AdapterFile]) -> str:
    """The digest of weights and adapters over them; that of the weights alone where there is no adapter."""
    told = [[stored_as(each.path), each.scale] for each in adapters]
    return digest_of_json([own, told]) if told else own


def check_unchanged(stage: str, artifact: Artifact, report: Mapping[str, Any]) -> None:
    """Raises ArtifactChanged where it is not what ``stage`` said in its report that it left."""
    if (left := report.get("output", artifact.sha256)) != artifact.sha256:
        raise ArtifactChanged(stage=stage, expected=left, found=artifact.sha256)
