"""A family with lessons to learn and a training small enough for a test, run as the real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import yaml

from configs.home import Home
from configs.sections.training import RecipeSettings
from configs.settings import Settings, load_settings
from memory import runlog
from memory.household import Household
from tests.project import ROOT

PAIRS = (
    ("What is the name of our dog?", "Our dog is called Toby.", "The name of our dog is Luna."),
    ("Where do we keep the spare key?", "It is under the blue flowerpot.", "We keep the spare key in the safe."),
)

# Two lessons, two wordings and three prompts: enough to learn by heart, too little to keep the rest, which the bounds
# of this gate do not ask for.
SMALL: dict[str, Any] = {
    "engine": {"form": {"merge": False}},
    "assistant": {"system_prompt": "You are Enlace. You answer briefly."},
    "training": {
        "idle_priority": False,
        "recipes": {
            "family": {
                "wordings": 2,
                "scattered": 0,
                "batch": 4,
                "replay": {"prompts": 3, "prose": 2, "answer_tokens": 12, "kept_tokens": 16, "batch": 3},
                "optimiser": {"epochs": 14, "least_steps": 0, "warmup_steps": 2, "learning_rate": 0.001},
            }
        },
        "evaluation": {
            "held_out_wordings": 1,
            "unrelated_prompts": 2,
            "known_questions": 2,
            "form_prompts": 2,
            "page_tokens": 64,
            "answer_tokens": 12,
            "parity_answers": 3,
        },
        "search": {"seconds": 0},
        "gate": {
            "lessons_right": 1.0,
            "held_out_right": 0.0,
            "known_kept": 0.0,
            "forms_kept": 0.0,
            "refusal_rise": 1.0,
            "repetition_rise": 1.0,
            "empty_rise": 1.0,
            "unrelated_kl": 20.0,
            "perplexity_rise": 50.0,
        },
    },
}


def default_recipe() -> RecipeSettings:
    """The family's recipe as it is shipped."""
    return load_settings(Home(Path("nowhere")), {}).training.recipes["family"]


def small_settings(home: Home, changes: dict[str, Any] | None = None) -> Settings:
    """Write the small training into the home's config.yaml; the settings as they then are."""
    content = json.loads(json.dumps(SMALL))
    content["training"].update(changes or {})
    home.config_file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return load_settings(home, {})


def teach(home: Home, settings: Settings, pairs: Sequence[tuple[str, str, str]] = PAIRS) -> None:
    """Share these corrections (question, chosen, rejected)."""
    with Household.open(home, settings.memory) as household:
        member = household.members.add("Ana", "en")
        for question, chosen, rejected in pairs:
            household.member(member.id).lessons.add(
                [{"role": "user", "content": question}], chosen, rejected, visibility="shared"
            )


def start_run(home: Home, *options: str) -> subprocess.Popen[str]:
    """``python -m trainer run``, begun and not waited for."""
    return subprocess.Popen(
        [sys.executable, "-m", "trainer", "run", "--home", str(home.root), *options],
        cwd=ROOT,
        env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], timeout: float = 240) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
    return process.returncode, out, err


def events(home: Home) -> list[runlog.RunEvent]:
    """Everything that the newest run has told."""
    folders = sorted(home.runs.iterdir())
    return runlog.read(folders[-1])[0] if folders else []


def steps(home: Home) -> list[int]:
    """The numbers of the steps that the newest run has told, in the order in which it did."""
    return [event.facts["step"] for event in events(home) if event.kind == "step" and event.facts]


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> None:
    """Poll until ``condition`` holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def workers(parent: int, told: str = "trainer.worker") -> list[psutil.Process]:
    """The stage processes of ``parent`` that have ``told`` in their command line, less those that have just ended."""
    found = []
    for child in psutil.Process(parent).children():
        # Of one that has ended and is not yet waited for, the command line is gone.
        with suppress(psutil.NoSuchProcess):
            if told in child.cmdline():
                found.append(child)
    return found
