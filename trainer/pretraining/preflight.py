"""What a run will take, found before it begins and without its text: memory, hours, joules, and whether it fits.

A few steps on made-up tokens, of the configured size, by the model and optimiser of the training itself, in a process
whose peak memory is looked at; the rest of the run is reckoned from them.

``python -m trainer.pretraining.preflight RUN [key.path=value …]`` writes a line of JSON for each trial that begins,
kind ``trial``, and one with the report, kind ``preflight``.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from configs.errors import EnlaceError
from configs.home import Home
from configs.pretraining.composing import compose
from configs.pretraining.schema import Run
from configs.settings import load_settings
from trainer.asked_run import run_parser
from trainer.energy.energy import Energy
from trainer.pretraining.least import state_bytes, with_layers, with_micro_batch
from trainer.pretraining.misfits import BatchTooLarge, ModelTooLarge, NoRoomForCheckpoints
from trainer.pretraining.profiles import GIB, check_machine
from trainer.pretraining.trial import Tried
from trainer.pretraining.trying import Trials
from trainer.telling import tell_line, tell_starter

_HOUR: Final = 3600.0
_JOULES_A_KWH: Final = 3.6e6


@dataclass(frozen=True)
class Report:
    """Of the whole run: bytes (of each process), seconds, joules.

    ``largest_micro_batch``: that fits, as far as it was tried (``largest_tried``) or as it is reckoned from two trials.
    """

    run: str
    parameters: int
    steps: int
    peak_bytes: int
    limit_bytes: int
    checkpoint_bytes: int
    step_seconds: float
    tokens_per_second: float
    seconds: float
    energy: Energy
    price: float
    skipped: float
    largest_micro_batch: int
    largest_tried: bool

    def as_json(self) -> dict[str, Any]:
        """For the command and for programs."""
        return {**asdict(self), "energy": self.energy.as_json(), "hours": self.seconds / _HOUR}


def preflight(run: Run, trials: Trials) -> Report:
    """Try ``run``. Raises BatchTooLarge, ModelTooLarge, NoRoomForCheckpoints and TrialFailed."""
    tried = trials.measured(run)
    if tried is None:
        raise _refused(run, trials)
    _check_room(run, tried, trials.folder)
    largest, sure = _largest(run, tried, trials)
    step = run.accumulated * tried.gradient + tried.move
    seconds = whole_seconds(run, tried)
    energy = _energy(run, tried, seconds)
    return Report(
        run=run.name,
        parameters=run.model.parameters,
        steps=run.steps,
        peak_bytes=tried.peak_bytes,
        limit_bytes=int(run.hardware.memory_gib * GIB),
        checkpoint_bytes=tried.checkpoint_bytes,
        step_seconds=step,
        tokens_per_second=run.step_tokens / step,
        seconds=seconds,
        energy=energy,
        price=energy.joules / _JOULES_A_KWH * run.hardware.price_a_kwh,
        skipped=tried.skipped,
        largest_micro_batch=largest,
        largest_tried=sure,
    )


def whole_seconds(run: Run, tried: Tried) -> float:
    """The run's wall clock: its steps, its looks at unseen text and at what it writes, and its checkpoints."""
    plan = run.train
    steps = run.steps * (run.accumulated * tried.gradient + tried.move)
    each = -(-plan.validation_sequences // (plan.micro_batch * run.hardware.processes))
    looks = -(-run.steps // plan.validate_steps) * each * tried.validation
    samples = -(-run.steps // plan.sample_steps) if plan.sample_steps else 0
    writing = samples * len(plan.sample_prompts) * plan.sample_tokens * tried.token
    seconds = steps + looks + writing
    # One before the first step and one after the last.
    return seconds + (2 + seconds / plan.checkpoint_seconds) * tried.checkpoint


def _energy(run: Run, tried: Tried, seconds: float) -> Energy:
    if tried.watts:
        return Energy(tried.watts * run.hardware.processes * seconds, 0.0, tried.sources)
    joules = run.hardware.watts * run.hardware.processes * seconds
    return Energy(joules, joules)


def _check_room(run: Run, tried: Tried, folder: Path) -> None:
    # One more than are kept, since the oldest goes when the newest is whole.
    needed, free = tried.checkpoint_bytes * (run.train.checkpoints_kept + 1), shutil.disk_usage(folder).free
    if needed > free:
        raise NoRoomForCheckpoints(run=run.name, path=str(folder), needed_gib=_gib(needed), free_gib=_gib(free))


def _largest(run: Run, tried: Tried, trials: Trials) -> tuple[int, bool]:
    """The largest micro-batch that fits, reckoned from two, and whether it was tried: not where that takes too long."""
    own, choices = run.train.micro_batch, run.micro_batches
    beside = max((each for each in choices if each < own), default=None) or min(choices[1:], default=None)
    if beside is None:
        return own, True
    other = trials.fits(with_micro_batch(run, beside))
    if other is None:
        return own, True
    reckoned = _within(run, {own: tried.peak_bytes, beside: other.peak_bytes})
    # A trial takes a few steps of as many micro-batches as one of the run's own.
    quick = (
        trials.settings.preflight.seconds / max(tried.gradient, 1e-9) * own / trials.settings.preflight.micro_batches
    )
    for candidate in _downwards(choices, reckoned, above=max(own, beside), most=trials.settings.preflight.most_trials):
        if candidate > quick:
            return candidate, False
        if trials.fits(with_micro_batch(run, candidate)):
            return candidate, True
    return max(own, beside), True


def _downwards(choices: list[int], top: int, *, above: int, most: int) -> Iterator[int]:
    return iter(sorted((each for each in choices if above < each <= top), reverse=True)[:most])


def _within(run: Run, peaks: dict[int, int]) -> int:
    """The largest micro-batch whose memory is within the limit, on the line through two of them."""
    (less, first), (more, second) = sorted(peaks.items())
    slope = (second - first) / (more - less)
    room = run.hardware.memory_gib * GIB - second
    # Memory that does not grow tells of no bound.
    return more + int(room / slope) if slope > 0 else run.micro_batches[-1]


def _refused(run: Run, trials: Trials) -> BatchTooLarge | ModelTooLarge:
    """Why a run that does not fit does not, and what does."""
    smaller = [each for each in run.micro_batches if each < run.train.micro_batch]
    found: int | None = None
    tries = trials.settings.preflight.most_trials
    # Halving: each trial that does not fit ends early.
    low, high = 0, len(smaller)
    while low < high and tries:
        tries -= 1
        middle = (low + high) // 2
        if trials.fits(with_micro_batch(run, smaller[middle])):
            found, low = smaller[middle], middle + 1
        else:
            high = middle
    if found is None:
        return _too_large(run, trials)
    return BatchTooLarge(
        run=run.name, micro_batch=run.train.micro_batch, memory_gib=run.hardware.memory_gib, fits=found
    )


def _too_large(run: Run, trials: Trials) -> ModelTooLarge:
    """With how many of its layers the model would fit, one sequence at a time; 0 where with none."""
    low, high = 0, run.model.layers
    tries = trials.settings.preflight.most_trials
    while high - low > 1 and tries:
        tries -= 1
        middle = (low + high) // 2
        if trials.fits(with_micro_batch(with_layers(run, middle), 1)):
            low = middle
        else:
            high = middle
    facts = {"layers": run.model.layers, "fits": low, "least_gib": _gib(state_bytes(run))}
    return ModelTooLarge(run=run.name, memory_gib=run.hardware.memory_gib, **facts)


def _gib(size: int) -> float:
    return round(size / GIB, 2)


def main(arguments: list[str]) -> int:
    """0 where the run fits, 1 where it does not, 2 for a wrong one. An error is one line of JSON on stderr."""
    options = run_parser("trainer.pretraining.preflight").parse_args(arguments)
    home = Home.find(os.environ)
    try:
        composed = compose(options.run, options.changes, home, Path.cwd())
        check_machine(composed)
        settings = load_settings(home, os.environ).training
        home.pretraining.mkdir(mode=0o700, parents=True, exist_ok=True)
        trials = Trials(settings, home.pretraining, _tell_trial)
        tell_line("preflight", 1.0, preflight(composed.run, trials).as_json())
    except EnlaceError as error:
        return tell_starter(error)
    return 0


def _tell_trial(run: Run) -> None:
    tell_line("trial", None, {"layers": run.model.layers, "micro_batch": run.train.micro_batch})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
