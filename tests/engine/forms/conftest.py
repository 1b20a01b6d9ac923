"""A bench that is small enough for a test: how long things take, and what was measured before, is told to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from configs.home import Home
from configs.sections.engine import EngineSettings
from configs.sections.forms import FormRecipe
from configs.settings import load_settings
from engine.forms.bench import Bench, Told
from engine.forms.children import run_task

QUICK: dict[str, Any] = {
    "rounds": 1,
    "read_tokens": 16,
    "written_tokens": 4,
    "loss_tokens": 16,
    "steady_tokens": 24,
    "thread_shares": [1.0],
    "chunks": [],
}
CarryOut = Callable[[dict[str, Any], float], dict[str, Any]]


def quick(home: Home, *forms: str, **changes: Any) -> EngineSettings:
    """The engine's settings with a bench of seconds that tries these forms."""
    engine = {"context_size": 1024, "slots": 2, "threads": 1, "form": {**QUICK, **changes}}
    settings = load_settings(home, {}, {"engine": engine}).engine
    # Settings are merged by layers, which leaves the shipped forms in.
    tried = {form: FormRecipe.model_validate({"type": form, "tensors": {}}) for form in forms or ("q8_0",)}
    return settings.model_copy(update={"form": settings.form.model_copy(update={"tried": tried})})


def stopwatch(carry_out: CarryOut = run_task, **rates: float) -> CarryOut:
    """Tasks at given speeds: tokens a second by the beginning of the file's name, 100 for any other."""

    def timed(task: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        if task["do"] != "speed":
            return carry_out(task, timeout_s)
        name = Path(task["model"]).name
        rate = next((rate for form, rate in rates.items() if name.startswith(form)), 100.0)
        return {"read": rate, "write": rate, "step_s": 0.01}

    return timed


def measured_before(task: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """Forms are really written; what they lose is what the starter's Q8_0 was measured to lose."""
    results: Mapping[str, dict[str, Any]] = {
        "reference": {"rows": 1},
        "loss": {"kl": 0.009, "agreement": 0.93, "tokens": 736},
        "steady": {"chunks": 0.0, "beside": 0.0},
        "device": {"offload": False},
    }
    if task["do"] == "reference":
        Path(task["store"]).touch()
    return results.get(task["do"]) or run_task(task, timeout_s)


def bench_of(
    home: Home,
    settings: EngineSettings,
    model: Path,
    carry_out: CarryOut = run_task,
    tell: Callable[[Told], None] = lambda _told: None,
) -> Bench:
    """A bench of ``model`` in ``home``."""
    system = "You are a helpful assistant."
    return Bench(home, settings, model, "model", system, clock=time.time, tell=tell, carry_out=carry_out)
