"""Training on the same pairs: the trainer's stages up to the saved adapter, beside TRL's DPOTrainer."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.errors import MeasurementFailed, PeerMissing
from benchmarks.harness import progress, without_peer
from benchmarks.homes import clean_environment, starter_model
from benchmarks.measures import alternate
from benchmarks.peers.environments import HERE, peer, peers_folder
from benchmarks.plan import LearningPlan, Plan
from benchmarks.processes import Finished, run
from benchmarks.recipe import BATCH, our_settings, pairs, peers_recipe
from benchmarks.rows import Row, row
from configs.home import Home
from configs.settings import load_settings
from engine.messages import Message
from memory import runlog
from trainer.lessons import TrainingLesson
from trainer.objectives.interface import Example
from trainer.run_files import Inputs, RunFiles, write_json
from trainer.stages.prepare import read_prepared
from trainer.staging import worker_environment

TIME_BOUND = 1 / 3
MEMORY_BOUND = 0.3
PEER = "TRL DPOTrainer"
STAGES = ("prepare", "train")


@dataclass(frozen=True)
class Trained:
    """One training: wall time from the process's start to the saved adapter, peak memory, mean loss."""

    seconds: float
    peak_bytes: int
    loss: float


def training(plan: Plan) -> list[Row]:
    """Wall time and peak memory of the same training on both sides."""
    threads = len(os.sched_getaffinity(0))
    notes: list[str] = []
    ours = partial(_ours, plan.learning, threads)
    mine: list[Trained] = []
    other: list[Trained] = []
    with without_peer(notes):
        theirs = partial(_theirs, peer("trl").python, peers_base(plan.learning), plan.learning, threads)
        mine, other = alternate(ours, theirs, plan.learning.rounds)
    if not mine:
        mine = [ours(number) for number in range(plan.learning.rounds)]
    losses = f"{plan.learning.pairs} pairs, {plan.learning.epochs} epochs; mean loss {mine[0].loss:.3f}"
    note = " ".join([losses + (f" and {other[0].loss:.3f}." if other else "."), *notes])
    return [
        row(
            "training, wall time",
            median(each.seconds for each in mine),
            "s",
            peer=PEER,
            peer_value=median(each.seconds for each in other) if other else None,
            bound=TIME_BOUND,
            samples=len(mine),
            note=note,
        ),
        row(
            "training, peak memory",
            median(each.peak_bytes for each in mine) / 2**20,
            "MiB",
            peer=PEER,
            peer_value=median(each.peak_bytes for each in other) / 2**20 if other else None,
            bound=MEMORY_BOUND,
            samples=len(mine),
            note=note,
        ),
    ]


def _ours(plan: LearningPlan, threads: int, number: int) -> Trained:
    """The stages as the supervisor starts them, up to the adapter. Raises MeasurementFailed."""
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        files = RunFiles(Path(folder) / "run")
        inputs = _inputs(Home(Path(folder)), plan, threads)
        environment = clean_environment() | worker_environment(inputs.engine)
        write_json(files.inputs, inputs.as_json())
        stages = []
        for stage in STAGES:
            command = [sys.executable, "-m", "trainer.worker", stage, str(files.folder)]
            try:
                stages.append(run(command, environment, timeout=plan.timeout_s))
            except MeasurementFailed as error:
                reason = files.error(stage).read_text(encoding="utf-8") if files.error(stage).exists() else ""
                raise MeasurementFailed(f"{error} {reason}") from error
        if not files.weights.is_file():
            raise MeasurementFailed("The trainer left no adapter.")
        events, _ = runlog.read(files.folder)
        steps = [float(event.facts["preference"]) for event in events if event.kind == "step" and event.facts]
        due = -(-plan.pairs // BATCH) * plan.epochs
        if len(steps) != due:
            raise MeasurementFailed(f"The trainer took {len(steps)} steps where the same training has {due}.")
        peak = max(stage.peak_bytes for stage in stages)
        return Trained(sum(stage.seconds for stage in stages), peak, sum(steps) / len(steps))


def prepared_pairs(folder: Path, plan: LearningPlan, count: int) -> list[Example]:
    """The first ``count`` pairs as the stage ``prepare`` leaves them. Raises MeasurementFailed."""
    files = RunFiles(folder)
    inputs = _inputs(Home(folder), plan, len(os.sched_getaffinity(0)))
    write_json(files.inputs, replace(inputs, lessons=inputs.lessons[:count]).as_json())
    environment = clean_environment() | worker_environment(inputs.engine)
    run([sys.executable, "-m", "trainer.worker", "prepare", str(folder)], environment, timeout=plan.timeout_s)
    return list(read_prepared(files.data).examples)


def _inputs(home: Home, plan: LearningPlan, threads: int) -> Inputs:
    """What the supervisor would have written down for these pairs."""
    settings = load_settings(home, {}, {"training": our_settings(plan.epochs, threads)})
    lessons = [
        TrainingLesson(
            str(number),
            tuple(Message(message["role"], message["content"]) for message in pair["prompt"]),
            pair["chosen"][0]["content"],
            pair["rejected"][0]["content"],
        )
        for number, pair in enumerate(pairs(plan.pairs))
    ]
    return Inputs(
        run="benchmark",
        base_name="smollm2-135m",
        base=starter_model(),
        base_sha256="0" * 64,
        current="v0",
        current_adapters=(),
        lessons=tuple(lessons),
        system_prompt="",
        recipe_name="dpo",
        training=settings.training,
        engine=settings.engine,
        busy_flag=home.busy_flag,
        cache=home.cache,
    )


def _theirs(python: str, base: Path, plan: LearningPlan, threads: int, number: int) -> Trained:
    """TRL's trainer from the start of its process to the saved adapter. Raises PeerMissing."""
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        pairs_file, adapter, recipe = (Path(folder) / name for name in ("pairs.jsonl", "adapter", "recipe.json"))
        lines = (json.dumps(pair, ensure_ascii=False) for pair in pairs(plan.pairs))
        pairs_file.write_text("\n".join(lines), encoding="utf-8")
        named = peers_recipe(base, pairs_file, adapter, epochs=plan.epochs, threads=threads)
        recipe.write_text(json.dumps(named), encoding="utf-8")
        finished = peer_run([python, str(HERE / "trl_dpo.py"), str(recipe)], plan)
        if not (adapter / "adapter_model.safetensors").is_file():
            raise MeasurementFailed("TRL left no adapter.")
        loss = float(json.loads(finished.output.strip().splitlines()[-1])["loss"])
        return Trained(finished.seconds, finished.peak_bytes, loss)


def peers_base(plan: LearningPlan) -> Path:
    """The starter model as transformers reads it fast: made once; the libraries are read once. Raises PeerMissing."""
    python, folder = peer("trl").python, peers_folder(os.environ) / "trl-base"
    if not (folder / "complete").is_file():
        progress(f"Writing the starter model for TRL in {folder} …")
        shutil.rmtree(folder, ignore_errors=True)
        peer_run([python, str(HERE / "trl_base.py"), str(starter_model()), str(folder)], plan)
        (folder / "complete").touch()
    peer_run([python, "-c", "import datasets, peft, torch, transformers, trl"], plan)
    return folder


def peer_run(command: list[str], plan: LearningPlan) -> Finished:
    """Run TRL's side of a measure. Raises PeerMissing."""
    try:
        return run(command, clean_environment(), timeout=plan.timeout_s)
    except MeasurementFailed as error:
        raise PeerMissing(f"The peer trl does not train here. {error}") from error
