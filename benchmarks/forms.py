"""``python -m benchmarks.forms``: the forms of the starter beside the file as pulled; an adapter merged and not."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness import main
from benchmarks.homes import starter_model
from benchmarks.plan import Plan
from benchmarks.rows import Row, row
from benchmarks.two_snapshots import RANK, write_adapter
from configs.home import Home
from configs.sections.engine import EngineSettings
from configs.settings import Settings, load_settings
from engine.forms.bench import Bench
from engine.forms.children import run_task
from engine.forms.records import AS_PULLED
from trainer.fitting.merging import merge

Way = tuple[Path, list[tuple[Path, float]]]
OVERLAY, MERGED = "adapter over the weights", "adapter merged"


def forms(_plan: Plan) -> list[Row]:
    """For each form: what it loses, how fast it reads and writes, and whether it is the same every time."""
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        home, settings = _home(Path(folder))
        system = settings.assistant.system_prompt
        bench = Bench(home, settings.engine, starter_model(), "starter", system, clock=time.time)
        found = bench.run(dry=True)
    pulled, *others = found.record.rows
    samples = settings.engine.form.rounds
    rows = []
    for form in others:
        bound = settings.engine.form.most_loss if form["form"] == found.record.form else None
        rows.append(
            row(f"loss, {form['form']}", form["kl"], "nats a token", bound=bound, bound_on="value", note=form["why"])
        )
        for key, name in (("read", "reading"), ("write", "writing")):
            rows.append(_against(f"{name}, {form['form']}", form[key], AS_PULLED, pulled[key], samples))
    chosen = [row("gain of the chosen form", found.gain, "times", better="higher", note=found.record.form)]
    return [*rows, *chosen]


def steady(_plan: Plan) -> list[Row]:
    """For each form: whether an answer depends on how its prompt was cut, or on who else is answered."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        _, settings = _home(Path(folder))
        rows += _steady(AS_PULLED, settings.engine, (starter_model(), []))
        for form, recipe in settings.engine.form.tried.items():
            target = Path(folder) / f"{form}.gguf"
            quantised = {"source": str(starter_model()), "target": str(target), "threads": 0, **recipe.model_dump()}
            task = {"do": "make", "spins": settings.engine.thread_spins, **quantised}
            run_task(task, settings.engine.form.child_timeout_s)
            rows += _steady(form, settings.engine, (target, []))
    return rows


def merged(_plan: Plan) -> list[Row]:
    """An adapter of rank 16 over every projection: reading, writing, and whether answers depend on their company."""
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        _, settings = _home(Path(folder))
        adapter, whole = Path(folder) / "adapter.gguf", Path(folder) / "merged.gguf"
        write_adapter(adapter, starter_model())
        begun = time.perf_counter()
        merge(starter_model(), starter_model(), [(adapter, 1.0)], whole, settings.engine.form.merged_type)
        seconds = time.perf_counter() - begun
        ways: dict[str, Way] = {
            AS_PULLED: (starter_model(), []),
            OVERLAY: (starter_model(), [(adapter, 1.0)]),
            MERGED: (whole, []),
        }
        speeds = _speeds(settings.engine, ways)
        steadiness = [each for name, way in ways.items() for each in _steady(name, settings.engine, way)]
    rows = [row("merging", seconds, "s", note=f"rank {RANK}, written as {settings.engine.form.merged_type}")]
    for key, name in (("read", "reading"), ("write", "writing")):
        of = {way: median(each[key] for each in found) for way, found in speeds.items()}
        rows.append(_against(f"{name}, {OVERLAY}", of[OVERLAY], AS_PULLED, of[AS_PULLED], len(speeds[MERGED])))
        rows.append(_against(f"{name}, {MERGED}", of[MERGED], OVERLAY, of[OVERLAY], len(speeds[MERGED])))
    return [*rows, *steadiness]


def _steady(name: str, settings: EngineSettings, way: Way) -> list[Row]:
    note = "Largest difference of any logit from the usual way of computing it."
    return [row(f"{what}, {name}", value, "", note=note) for what, value in _task("steady", settings, way).items()]


def _against(name: str, value: float | None, peer: str, peer_value: float | None, samples: int) -> Row:
    return row(name, value, "tokens/s", peer=peer, peer_value=peer_value, better="higher", samples=samples)


def _home(folder: Path) -> tuple[Home, Settings]:
    home = Home(folder / "home")
    home.prepare()
    return home, load_settings(home, {})


def _speeds(settings: EngineSettings, ways: dict[str, Way]) -> dict[str, list[dict[str, Any]]]:
    """Each way in turn with the others."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
    for _ in range(settings.form.rounds):
        for name, way in ways.items():
            found[name].append(_task("speed", settings, way))
    return found


def _task(what: str, settings: EngineSettings, way: Way) -> dict[str, Any]:
    model, adapters = way
    task = {
        "do": what,
        "spins": settings.thread_spins,
        "model": str(model),
        "settings": settings.model_dump(),
        "adapters": [{"path": str(path), "scale": scale} for path, scale in adapters],
        "read_tokens": settings.form.read_tokens,
        "written_tokens": settings.form.written_tokens,
        "tokens": settings.form.steady_tokens,
    }
    return run_task(task, settings.form.child_timeout_s)


if __name__ == "__main__":
    sys.exit(main("forms", __doc__ or "", {"forms": forms, "steady": steady, "merged": merged}))
