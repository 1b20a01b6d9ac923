"""``python -m tests.trainer.pretraining.killed FOLDER SEED KILLS``: trains straight through, and again with SIGKILLs.

At random instants, each in a process of its own that goes on from what is there. Prints how often it was killed.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

from tests.trainer.pretraining.tiny import around, tiny
from trainer.pretraining.loop import Pretraining
from trainer.pretraining.training import Training

STEPS_A_KILL = 8


def begun(folder: Path, kills: int) -> int:
    """A process that trains there to the end; its id."""
    # Before anything was computed: threads do not survive a fork.
    process = os.fork()
    if not process:
        run = tiny(f"train.tokens={kills * STEPS_A_KILL * 48}", "train.sample_steps=0")
        Pretraining(Training(run), around(run, folder)).carry()
        os._exit(0)
    return process


def main(folder: Path, seed: int, kills: int) -> None:
    """Train in ``folder``/straight and ``folder``/killed."""
    torch.set_num_threads(1)
    began = time.monotonic()
    os.waitpid(begun(folder / "straight", kills), 0)
    each = (time.monotonic() - began) / kills
    drawn = random.Random(seed)
    killed = 0
    for _ in range(kills):
        process = begun(folder / "killed", kills)
        time.sleep(drawn.uniform(0, each))
        os.kill(process, signal.SIGKILL)
        killed += os.waitpid(process, 0)[1] == signal.SIGKILL
    _, status = os.waitpid(begun(folder / "killed", kills), 0)
    if status:
        raise SystemExit(f"ended with {status}")
    sys.stdout.write(str(killed))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
