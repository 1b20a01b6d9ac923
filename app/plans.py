"""Plans of trainings and what their manifests came to, as the trainer tells them: it is a process of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from app.training import answer_of
from memory.whole_files import write_new

if TYPE_CHECKING:
    from app.session import Session


def plan_of(session: Session, file: Path | None = None, recipe: str | None = None) -> dict[str, Any]:
    """What a training would be: by a recipe's file or a manifest, by a recipe of the settings, or as ever.

    Raises what the trainer reports, and TrainerNotStarted when it reported nothing.
    """
    # What is trained goes by what is served, so there must be a snapshot.
    session.snapshot()
    named = [str(file.absolute())] if file else []
    told, _ = answer_of(session.home, "trainer", "plan", *named, *(["--recipe", recipe] if recipe else []))
    plan: dict[str, Any] = json.loads(told)
    return plan


def save_manifest(manifest: dict[str, Any], path: Path) -> None:
    """Write a manifest into a new file, whole. Raises FileInTheWay, FileNotWritten."""
    write_new(path, yaml.safe_dump(manifest, allow_unicode=True, sort_keys=False))


def verdict_of(session: Session, file: Path) -> dict[str, Any]:
    """The gate's verdict on what a manifest measured. Raises as ``plan_of`` does."""
    told, _ = answer_of(session.home, "trainer", "gate", str(file.absolute()), fine=(0, 3))
    verdict: dict[str, Any] = json.loads(told)
    return verdict
