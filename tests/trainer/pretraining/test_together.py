"""Two processes take the steps that one would, whether each has all weights or a share of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.project import ROOT
from tests.trainer.pretraining.test_loop import last_checkpoint
from tests.trainer.pretraining.tiny import Heard, around, one_thread, tiny
from tests.trainer.pretraining.together import CHANGED
from trainer.place import Place
from trainer.pretraining.loop import Pretraining
from trainer.pretraining.training import Training

# Of float32 the order of the sums.
CLOSE = 1e-4
# Muon rounds what moves a matrix to bfloat16.
ALIKE = 1e-2


def test_two_processes_have_the_losses_of_one_and_one_goes_on_from_what_two_shared(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.trainer.pretraining.together", str(tmp_path)],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", **Place(rank, 2, 2).environment()},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    told = [process.communicate()[0] for process in processes]
    assert all(process.returncode == 0 for process in processes)
    losses = json.loads(told[0])
    run, heard = tiny(*CHANGED), Heard()
    with one_thread():
        Pretraining(Training(run), around(run, tmp_path / "one", heard)).carry()
        assert losses["copied"] == pytest.approx(heard.losses, rel=CLOSE)
        assert losses["shared_out"] == pytest.approx(heard.losses, rel=CLOSE)
        one, shared = last_checkpoint(tmp_path / "one"), last_checkpoint(tmp_path / "shared_out")
        assert one.keys() == shared.keys()
        for name in (name for name in one if name.endswith("/weight")):
            assert float((one[name] - shared[name]).norm() / one[name].norm()) < ALIKE, name
        # The checkpoint of two, each of which had a share of the weights, is one's own.
        taken_up = Training(run)
        assert Pretraining(taken_up, around(run, tmp_path / "shared_out")).carry() == "done"
    assert all(torch.equal(value, shared[name]) for name, value in taken_up.tensors().items())
