"""``python -m tests.trainer.pretraining.together FOLDER``, as one of the processes that its environment tells of.

Trains twice: each process with all weights, then with a share of them. Prints the losses of each as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch

from configs.sections.training import DistributionSettings
from tests.trainer.pretraining.tiny import Heard, around, tiny
from trainer.distributed import joined
from trainer.place import place_in
from trainer.pretraining.loop import Pretraining
from trainer.pretraining.training import Training

# Rows that do not divide: the second process has fewer of them.
CHANGED = ("model.feed_forward=19", "train.micro_batch=1", "train.spike.window=3")


def main(folder: Path) -> None:
    """Train in ``folder``/copied and ``folder``/shared_out."""
    torch.set_num_threads(1)
    place = place_in(os.environ)
    settings, run, losses = DistributionSettings(processes=place.size, shares=()), tiny(*CHANGED), {}
    for way in ("copied", "shared_out"):
        heard = Heard()
        with joined(place, settings, folder / f"meeting-{way}", 60, lockstep=way == "shared_out") as together:
            where = around(run, folder / way, heard, place.rank, place.size)
            Pretraining(Training(run, together), where).carry()
        losses[way] = heard.losses
    sys.stdout.write(json.dumps(losses))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
