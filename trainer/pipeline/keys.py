"""What a step's result depends on, as one digest: where it is the same, so is the result.

The inputs by their content, the settings, the code and the packages. Not where files lie, nor how long things may take.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from trainer.pipeline.artifacts import digest_of_json
from trainer.pipeline.graph import Step
from trainer.run_files import Inputs, versions

ROOT: Final = Path(__file__).parents[2]
# All that a stage can import, and the texts that it reads.
ROOMS: Final = ("configs", "engine", "memory", "trainer")
CODE: Final = (".py", ".jsonl", ".txt", ".sql")
# Of what a run is told to depend on: what the artifacts say, and places.
TOLD_BY_ARTIFACTS: Final = (
    "base", "current", "beneath", "known", "lessons", "dropped", "ratings", "member", "onward",
)  # fmt: skip
PLACES: Final = ("run", "busy_flag", "cache", "stages")
# When trainings begin, how long they may take and wait, and what is done of their results.
NO_MATTER: Final = (
    "night",
    "budget",
    "blame",
    "search",
    "idle_priority",
    "reference_cache_mb",
    "recipe",
    "recipes",
    "estimate",
    "energy",
)
# The only ones that look at the gate's part.
OF_THE_GATE: Final = ("export", "evaluate")


@cache
def code_version() -> str:
    """The SHA-256 of the code that makes a training what it is."""
    found = hashlib.sha256()
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix in CODE:
                content = path.read_bytes()
                found.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode())
                found.update(content)
    return found.hexdigest()


@cache
def commit() -> str:
    """The commit of the checkout that this is; empty where it is none, or there is no git."""
    asked = ["git", "rev-parse", "--show-toplevel", "HEAD"]
    try:
        done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    top, _, found = done.stdout.strip().partition("\n")
    # Installed somewhere below another repository, that one's commit says nothing.
    return found if done.returncode == 0 and Path(top).resolve() == ROOT.resolve() else ""


def settings_of(inputs: Inputs, stage: str) -> dict[str, Any]:
    """All settings that may change what a stage makes."""
    told = {key: value for key, value in inputs.as_json().items() if key not in (*TOLD_BY_ARTIFACTS, *PLACES)}
    training = {key: value for key, value in told.pop("training").items() if key not in NO_MATTER}
    if stage not in OF_THE_GATE:
        training.pop("gate")
    # The numbers that were chosen are in the recipe.
    told.pop("choice")
    return {**told, "recipe": inputs.recipe.model_dump(), "training": training}


def key_of(step: Step, inputs: Inputs, takes: Mapping[str, str]) -> str:
    """The digest of all that a step's result depends on; ``takes``: the digests of its inputs."""
    told = {
        "stage": step.stage.name,
        "code": code_version(),
        "versions": versions(),
        "settings": settings_of(inputs, step.stage.name),
        "takes": dict(takes),
    }
    return digest_of_json(told)
