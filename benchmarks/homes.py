"""Temporary households to measure in: nothing of the person's own home is read, changed or left running."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.errors import MeasurementFailed

STOP_SECONDS = 30


def enlace(*arguments: str) -> list[str]:
    """The command as people run it: the installed script beside this Python, else the package."""
    script = Path(sys.executable).with_name("enlace")
    return [str(script), *arguments] if script.exists() else [sys.executable, "-m", "app", *arguments]


def clean_environment() -> dict[str, str]:
    """The environment without the person's own settings, in a UTF-8 locale, with no network use by libraries."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ENLACE_", "LLM_", "ELIA_"))}
    return kept | {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "HF_HUB_OFFLINE": "1"}


@contextmanager
def temporary_home() -> Iterator[dict[str, str]]:
    """The environment of a fresh household, whose engine is stopped and whose files are removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="enlace-b-"))
    environment = clean_environment() | {"ENLACE_HOME": str(folder)}
    try:
        yield environment
    finally:
        try:
            stop_engine(environment)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def stop_engine(environment: dict[str, str]) -> None:
    """Stop the engine of a temporary household. Raises MeasurementFailed when that takes too long."""
    try:
        subprocess.run(
            enlace("engine", "stop"), env=environment, capture_output=True, timeout=STOP_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise MeasurementFailed("`enlace engine stop` did not end in the time it had.") from error


def starter_model() -> Path:
    """The GGUF of the starter model, which both sides read."""
    from engine.catalogue import starter_path

    return starter_path()
