"""``python -m tests.trainer.shared_base MODEL ADAPTER MEETING``: two processes read a base, with a
frozen adapter over it, and keep a share of the base each.

On stdout: how many weights of its matrices each holds before and after it has used all, and the two's log-probabilities
of an answer, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import chain
from pathlib import Path

import torch
from torch.distributed.tensor import DTensor

from configs.home import Home
from configs.settings import load_settings
from trainer.distributed import joined
from trainer.model.decoder import Decoder
from trainer.model.reading import BaseWeights, read_base
from trainer.packing import Item, build_pack
from trainer.place import Place

ITEM = Item((1, 2, 3), (4, 5, 6, 7))


def main(model: Path, adapter: Path, meeting: Path) -> None:
    """Fork for the second process; the first tells what both found."""
    child = os.fork()
    settings = load_settings(Home(model.parent), {}).training.distribution
    with joined(Place(0 if child else 1, 2, 2), settings, meeting, 60, lockstep=True) as together:
        base = read_base(model, adapters=[(adapter, 1.0)], shared_out=together.lockstep)
        before = _held(base)
        with torch.no_grad():
            log_probs = Decoder(base).log_probs(build_pack([ITEM])).tolist()
        found = together.gathered((before, _held(base), log_probs))
    if child:
        os.waitpid(child, 0)
        sys.stdout.write(json.dumps(found))


def _held(base: BaseWeights) -> int:
    """The weights of all matrices of the layers that this process has in memory."""
    through = (layer.at_hand for layer in base.layers)
    matrices = chain.from_iterable(each.parameters() for each in through if isinstance(each, torch.nn.Module))
    return sum(each.to_local().numel() for each in matrices if isinstance(each, DTensor))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
