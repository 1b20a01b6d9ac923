"""AdamW as torch has it, to the bit, without what torch's own imports."""

from __future__ import annotations

import subprocess
import sys

import torch

from configs.settings import Settings
from tests.project import ROOT
from trainer.optimiser import AdamW


def test_weights_are_moved_as_torch_moves_them_to_the_bit(settings: Settings) -> None:
    numbers = settings.training.recipes["family"].optimiser.model_copy(update={"weight_decay": 0.1})
    generator = torch.Generator().manual_seed(3)
    first = [torch.randn(shape, generator=generator) for shape in ((7, 5), (40,))]
    mine, theirs = ([each.clone().requires_grad_() for each in first] for _ in range(2))
    ours = AdamW(mine, numbers)
    torchs = torch.optim.AdamW(
        theirs,
        betas=(numbers.beta1, numbers.beta2),
        eps=numbers.epsilon,
        weight_decay=numbers.weight_decay,
        fused=True,
    )
    for step in range(6):
        ours.rate = torchs.param_groups[0]["lr"] = 1e-2 / (step + 1)
        for one, other in zip(mine, theirs, strict=True):
            other.grad = torch.randn(one.shape, generator=generator)
            one.grad = other.grad.clone()
        if step == 2:
            # One that a step does not reach stays as it is, and its count too.
            mine[0].grad = theirs[0].grad = None
        ours.step()
        torchs.step()
        if step == 3:
            taken_up = AdamW(mine, numbers)
            taken_up.take_up({place: {k: v.clone() for k, v in kept.items()} for place, kept in ours.kept().items()})
            ours = taken_up
        assert all(torch.equal(one, other) for one, other in zip(mine, theirs, strict=True))
    ours.clear_gradients()
    assert all(each.grad is None for each in mine)


def test_it_takes_a_step_without_torchs_compiler() -> None:
    code = """
import sys, torch
from configs.home import Home
from configs.settings import load_settings
from pathlib import Path
from trainer.loop import AdamW
numbers = load_settings(Home(Path("nowhere")), {}).training.recipes["family"].optimiser
weight = torch.ones(3, requires_grad=True)
weight.sum().backward()
AdamW([weight], numbers).step()
assert "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
