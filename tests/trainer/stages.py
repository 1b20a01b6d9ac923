"""One stage of a run by itself, as the process that the supervisor starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from configs.home import Home
from configs.settings import load_settings
from tests.project import ROOT
from trainer.run_files import Inputs, RunFiles, read_json, write_json


def inputs_for(home: Home, base: Path, training: dict[str, Any], **more: Any) -> Inputs:
    """A run on ``base`` by the family's recipe, with these changes of the section ``training``."""
    settings = load_settings(home, {}, {"training": {"idle_priority": False, **training}})
    return Inputs(
        run="r0001",
        base_name=base.stem,
        base=base,
        base_sha256="0" * 64,
        current="v0",
        current_adapters=(),
        recipe_name="family",
        training=settings.training,
        engine=settings.engine,
        busy_flag=home.busy_flag,
        cache=home.cache,
        **{"lessons": (), "system_prompt": "", **more},
    )


def run_stage(stage: str, files: RunFiles, inputs: Inputs) -> dict[str, Any]:
    """Run it to its end; its report."""
    write_json(files.inputs, inputs.as_json())
    command = [sys.executable, "-m", "trainer.worker", stage, str(files.folder), str(os.getpid())]
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
    report: dict[str, Any] = read_json(files.report(stage))
    return report
