"""Whether a run goes on from what was begun: only what changes none of its steps may be another than it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from configs.pretraining.composing import as_yaml
from configs.pretraining.schema import Run
from trainer.errors import TrainingDataBroken
from trainer.pretraining.errors import RunDiffers
from trainer.room import write_whole

# What changes how fast it goes, how it is watched over, or how sums are rounded; not what is trained.
FREE: Final = (
    "hardware",
    "train.micro_batch",
    "train.validate_steps",
    "train.validation_sequences",
    "train.checkpoint_seconds",
    "train.checkpoints_kept",
    "train.spike",
    "train.sample_",
)
BUT: Final = ("hardware.precision",)
ABSENT: Final = "—"


def begin_or_go_on(run: Run, resolved: Path) -> None:
    """Write ``run`` to ``resolved``, where there is none yet or what there is differs in nothing that matters.

    Raises RunDiffers, TrainingDataBroken for a file that is no run, NoRoom.
    """
    if resolved.exists():
        differences = list(differences_of(_settled(read_run(resolved)), _settled(run)))
        if differences:
            told = "; ".join(f"{key}: {was} → {now}" for key, was, now in differences)
            raise RunDiffers(run=run.name, folder=str(resolved.parent), differences=told)
    write_whole(resolved, as_yaml(run).encode())


def read_run(resolved: Path) -> Run:
    """The run that a file of ``as_yaml`` holds. Raises TrainingDataBroken."""
    try:
        return Run.model_validate(yaml.safe_load(resolved.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise TrainingDataBroken(path=str(resolved), line=0, reason=str(error)) from error


def identity_of(run: Run) -> str:
    """What a checkpoint belongs to: the same for all runs that may go on from each other."""
    return hashlib.sha256(json.dumps(_settled(run), sort_keys=True).encode()).hexdigest()


def differences_of(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Each key whose value is another: what it was and what it is."""
    for key in sorted({*was, *now}):
        before, after = was.get(key, ABSENT), now.get(key, ABSENT)
        if before != after:
            yield key, before, after


def _settled(run: Run) -> dict[str, Any]:
    """The values that may not change, by their dotted keys."""
    values = dict(_flat(run.model_dump(mode="json"), ""))
    return {key: value for key, value in values.items() if key.startswith(BUT) or not key.startswith(FREE)}


def _flat(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(inner, f"{key}.{name}" if key else name)
    else:
        yield key, value
