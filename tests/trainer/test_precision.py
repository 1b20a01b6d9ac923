"""Number formats: float16 with a factor on the loss, which is found, and known again after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from configs.home import Home
from configs.sections.training import LossScaleSettings, OptimiserSettings
from configs.settings import Settings
from tests.trainer.killed_training import STEPS, prepared_run
from tests.trainer.random_model import write_random_model
from tests.trainer.test_checkpoints import assert_same_weights, resumed_at, steps, trained
from tests.trainer.test_loop import Reports
from trainer.errors import LossNotFinite
from trainer.loop import StepReport, accumulate, train
from trainer.model.decoder import Decoder
from trainer.model.lora import LoraAdapter, new_adapter
from trainer.model.reading import read_base
from trainer.objectives.interface import Example, Part
from trainer.objectives.likelihood import Likelihood
from trainer.packing import Item
from trainer.precision import UNSCALED, LossScaler, loss_scaler
from trainer.run_files import read_json

EXAMPLES = tuple(Example((Item((1, 2, lesson), (lesson + 1, 7, lesson + 2)),)) for lesson in range(10, 16))
# So large that every gradient overflows in float16.
TOO_LARGE = 2.0**60


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_random_model(tmp_path / "random.gguf", "llama", layers=2)
    return tmp_path / "random.gguf"


@pytest.fixture
def optimiser(settings: Settings) -> OptimiserSettings:
    changes = {"epochs": 12, "least_steps": 0, "warmup_steps": 1, "learning_rate": 0.01}
    return settings.training.recipes["family"].optimiser.model_copy(update=changes)


def learner(model: Path, dtype: torch.dtype) -> tuple[Decoder, LoraAdapter]:
    base = read_base(model, dtype)
    adapter = new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(0))
    with torch.no_grad():
        for matrix in adapter.b.values():
            matrix.normal_(0.0, 0.02, generator=torch.Generator().manual_seed(1))
    return Decoder(base, adapter), adapter


def gradient(model: Path, dtype: torch.dtype, weight: float, scaler: LossScaler) -> torch.Tensor:
    decoder, adapter = learner(model, dtype)
    accumulate(decoder, [Part(Likelihood(), EXAMPLES, weight)], 512, Reports(), scaler)
    factor = scaler.get_scale() if scaler.is_enabled() else 1.0
    return torch.cat([p.grad.flatten() / factor for p in adapter.parameters() if p.grad is not None])


def shares_a_direction(one: torch.Tensor, other: torch.Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(one.double(), other.double(), dim=0))


def test_gradients_too_small_for_float16_come_through_by_the_factor(model: Path, settings: Settings) -> None:
    weight = 1e-6
    exact = gradient(model, torch.float32, weight, UNSCALED)
    lost = gradient(model, torch.float16, weight, UNSCALED)
    kept = gradient(model, torch.float16, weight, loss_scaler(torch.float16, settings.training.loss_scale))
    assert shares_a_direction(exact, kept) > 0.999
    assert float(kept.norm()) == pytest.approx(float(exact.norm()), rel=0.01)
    assert float(lost.norm()) < 0.5 * float(exact.norm())


def test_float16_learns_as_float32_does(model: Path, settings: Settings, optimiser: OptimiserSettings) -> None:
    losses, steps = {}, [[Part(Likelihood(), EXAMPLES, 1.0)]]
    for dtype in (torch.float32, torch.float16):
        decoder, adapter = learner(model, dtype)
        reports, scaler = Reports(), loss_scaler(dtype, settings.training.loss_scale)
        train(decoder, adapter.parameters(), lambda _: steps, optimiser, reports, scaler=scaler)
        losses[dtype] = [report.loss for report in reports.reports]
    assert losses[torch.float16] == pytest.approx(losses[torch.float32], rel=0.02)
    assert losses[torch.float16][-1] < losses[torch.float16][0] / 2


def test_a_step_that_overflows_moves_nothing_and_the_factor_falls(
    model: Path, settings: Settings, optimiser: OptimiserSettings
) -> None:
    decoder, adapter = learner(model, torch.float16)
    before = [tensor.detach().clone() for tensor in adapter.parameters()]
    seen: list[tuple[float | None, bool, bool]] = []

    class Watching(Reports):
        def after_step(self, report: StepReport) -> None:
            same = all(torch.equal(a, b) for a, b in zip(before, adapter.parameters(), strict=True))
            seen.append((report.loss_scale, report.skipped, same))

    scale = settings.training.loss_scale.model_copy(update={"start": TOO_LARGE, "backoff": 2.0**-50})
    steps = [[Part(Likelihood(), EXAMPLES, 1.0)]]
    once = optimiser.model_copy(update={"epochs": 2})
    train(decoder, adapter.parameters(), lambda _: steps, once, Watching(), scaler=loss_scaler(torch.float16, scale))
    assert seen == [(TOO_LARGE, True, True), (2.0**10, False, False)]


def test_an_overflow_at_the_least_factor_stops_the_training(
    model: Path, settings: Settings, optimiser: OptimiserSettings
) -> None:
    decoder, adapter = learner(model, torch.float16)
    scale = settings.training.loss_scale.model_copy(update={"start": TOO_LARGE, "least": TOO_LARGE})
    steps = [[Part(Likelihood(), EXAMPLES, 1.0)]]
    scaler = loss_scaler(torch.float16, scale)
    with pytest.raises(LossNotFinite) as stopped:
        train(decoder, adapter.parameters(), lambda _: steps, optimiser, Reports(), scaler=scaler)
    assert (stopped.value.facts["step"], stopped.value.facts["objective"]) == (1, "gradient")


def test_only_float16_is_scaled(settings: Settings) -> None:
    scale: LossScaleSettings = settings.training.loss_scale
    enabled = {
        dtype: loss_scaler(dtype, scale).is_enabled() for dtype in (torch.float32, torch.bfloat16, torch.float16)
    }
    assert enabled == {torch.float32: False, torch.bfloat16: False, torch.float16: True}


def test_a_killed_training_knows_the_factor_again(home: Home) -> None:
    # It falls twice before the first step that counts, and grows after every second one.
    scale = {"start": 2.0**28, "backoff": 0.0625, "growth": 4.0, "growth_steps": 2}
    unbroken, killed = (
        prepared_run(home, name, training={"precision": "float16", "loss_scale": scale})
        for name in ("unbroken", "killed")
    )
    assert trained((unbroken, 0), (killed, 24), (killed, 0)) == [True, False, True]
    assert resumed_at(killed)
    told = {step["step"]: step for step in steps(unbroken)}
    assert len(told) == STEPS
    assert len({step["loss_scale"] for step in told.values()}) > 3
    assert all(step == told[step["step"]] for step in steps(killed))
    assert_same_weights(killed, unbroken)
    skipped = sum(step.get("skipped", False) for step in told.values())
    assert read_json(killed.report("train"))["skipped_steps"] == skipped > 0
