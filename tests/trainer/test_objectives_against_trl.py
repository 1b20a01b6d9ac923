"""Losses and gradients equal those of TRL's trainers: as they were written down, and as the installed TRL gives them.

The second runs where ``ENLACE_PEERS`` names a folder with the environment ``trl`` (benchmarks/peers).
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.project import ROOT
from tests.trainer.against_trl import TOLERANCE, loss_and_gradients

WRITTEN = json.loads((ROOT / "tests/trainer/trl_losses.json").read_text(encoding="utf-8"))
PYTHON = Path(os.environ.get("ENLACE_PEERS", "/nowhere")) / "trl" / "bin" / "python"


def assert_equal_to_trl(case: dict[str, Any]) -> None:
    loss, gradients = loss_and_gradients(case)
    assert loss.dtype == torch.float32
    assert float(loss.detach()) == pytest.approx(case["loss"], abs=TOLERANCE)
    for ours, theirs in zip(gradients, case["gradients"], strict=True):
        assert torch.allclose(ours, torch.tensor(theirs), rtol=0.0, atol=TOLERANCE)
    assert any(gradient.abs().max() > 10 * TOLERANCE for gradient in gradients)


@pytest.mark.parametrize("case", WRITTEN["cases"], ids=lambda case: f"{case['loss_type']}-{case['beta']}")
def test_loss_and_gradients_are_those_that_trl_gave(case: dict[str, Any]) -> None:
    assert_equal_to_trl(case)


def test_the_cases_hold_every_loss_that_trl_has_too() -> None:
    assert {case["loss_type"] for case in WRITTEN["cases"]} == {"sigmoid", "apo_zero", "sft", "kto"}
    assert (ROOT / WRITTEN["script"]).is_file()


@pytest.mark.soak
@pytest.mark.skipif(not PYTHON.exists(), reason="ENLACE_PEERS names no folder with the environment trl")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_loss_and_gradients_are_those_of_the_installed_trl(seed: int) -> None:
    command = [str(PYTHON), str(ROOT / WRITTEN["script"]), str(seed)]
    told = subprocess.run(command, capture_output=True, check=True, timeout=240).stdout
    for case in json.loads(told)["cases"]:
        assert_equal_to_trl(case)
