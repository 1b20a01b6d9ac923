"""Answers beside a training that works, and on the same machine while that very training is held."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

import psutil

from benchmarks.decoding import prompt
from benchmarks.engines import Connect, engine
from benchmarks.errors import MeasurementFailed
from benchmarks.harness import progress
from benchmarks.homes import clean_environment, enlace
from benchmarks.learned import LESSONS
from benchmarks.measures import side_by_side
from benchmarks.plan import BesidePlan, Plan
from benchmarks.processes import run
from benchmarks.rows import Row, row
from benchmarks.streaming import Streamed, stream
from configs.home import Home
from memory import runlog
from memory.pausing import pause, resume

# In the one the base answers everyday prompts, in the other the adapter is trained: nearly all of a training's time.
# With what a stage tells that it is under way.
STAGES = {"prepare": "stage_started", "train": "step"}
REPLAYED = "ENLACE_TRAINING__RECIPES__FAMILY__REPLAY__PROMPTS"
WRITING, FIRST_TOKEN = 0.95, 1.2
POLL_S = 0.02


def beside_training(plan: Plan) -> list[Row]:
    """Speed and time to first token beside each of these stages, as a share of the same while the training is held."""
    sizes, rows = plan.beside_training, []
    with engine(plan.engine) as (home, reach), _training(home, sizes) as training:
        for stage in STAGES:
            training.wait_for(stage)
            progress(f"night: answers beside the stage {stage} …")
            rows += _rows(stage, *_measured(training, reach, sizes))
    return rows


class _Training:
    """A real training of the family's lessons in ``home``, as the schedule begins it."""

    def __init__(self, home: Home, process: subprocess.Popen[bytes], plan: BesidePlan) -> None:
        self._home = home
        self._process = process
        self._plan = plan

    def wait_for(self, stage: str) -> None:
        """Until this stage is under way. Raises MeasurementFailed."""
        folder, kind = self._home.runs / "r0001", STAGES[stage]
        self._until(lambda: any((each.stage, each.kind) == (stage, kind) for each in runlog.read(folder)[0]))

    def go_on(self) -> None:
        """Have it work, and be in the midst of it. Raises MeasurementFailed."""
        resume(self._home)
        self._until(lambda: not self._stopped())
        time.sleep(self._plan.settle_s)

    def hold(self) -> None:
        """Have it use no processor. Raises MeasurementFailed."""
        pause(self._home, "benchmark", time.time)
        self._until(self._stopped)
        time.sleep(self._plan.settle_s)

    def _stopped(self) -> bool:
        """Whether its stage is held; between two stages there is none."""
        with contextlib.suppress(psutil.Error):
            workers = psutil.Process(self._process.pid).children()
            return bool(workers) and all(worker.status() == psutil.STATUS_STOPPED for worker in workers)
        return False

    def _until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + self._plan.timeout_s
        while not condition():
            if self._process.poll() is not None:
                raise MeasurementFailed("The training ended before it was measured beside.")
            if time.monotonic() > deadline:
                raise MeasurementFailed("The training did not come to what is measured beside.")
            time.sleep(POLL_S)


@contextmanager
def _training(home: Home, plan: BesidePlan) -> Iterator[_Training]:
    # Fewer prompts of everyday talk than the recipe has: the same work, and not for as long.
    environment = clean_environment() | {"ENLACE_HOME": str(home.root), REPLAYED: str(plan.replayed)}
    run(enlace("lessons", "import", str(LESSONS)), environment, timeout=plan.timeout_s)
    process = subprocess.Popen(
        [sys.executable, "-m", "trainer", "run", "--home", str(home.root)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield _Training(home, process, plan)
    finally:
        resume(home)
        process.terminate()
        process.wait()


def _measured(training: _Training, reach: Connect, plan: BesidePlan) -> tuple[list[Streamed], list[Streamed]]:
    """Answers beside it, and while it is held, in turn; no two have a prompt that begins alike."""

    def beside(number: int) -> Streamed:
        training.go_on()
        return stream(reach(), prompt(0, 2 * number), plan.tokens)

    def at_rest(number: int) -> Streamed:
        training.hold()
        return stream(reach(), prompt(0, 2 * number + 1), plan.tokens)

    found = side_by_side(beside, at_rest, plan.rounds)
    training.go_on()
    return found


def _rows(stage: str, beside: list[Streamed], at_rest: list[Streamed]) -> list[Row]:
    def both(of: Callable[[Streamed], float]) -> tuple[float, float, str]:
        shares = [of(one) / of(other) for one, other in zip(beside, at_rest, strict=True)]
        note = f"Round by round {min(shares):.2f} to {max(shares):.2f}, the median {median(shares):.2f}."
        return median(map(of, beside)), median(map(of, at_rest)), note

    speed, speed_at_rest, speeds = both(lambda each: each.tokens_per_second)
    first, first_at_rest, firsts = both(lambda each: each.first_token_s * 1000)
    return [
        row(f"writing beside a training, stage {stage}", speed, "tokens/s", peer="at rest", peer_value=speed_at_rest,
            bound=WRITING, better="higher", samples=len(beside), note=speeds),
        row(f"first token beside a training, stage {stage}", first, "ms", peer="at rest", peer_value=first_at_rest,
            bound=FIRST_TOKEN, samples=len(beside), note=firsts),
    ]  # fmt: skip
