"""The loop: it learns, it splits a step without changing it, and it stops on a loss that is no number."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from configs.sections.training import OptimiserSettings
from configs.settings import Settings
from trainer.errors import LossNotFinite
from trainer.examples import Tokeniser, lesson_examples
from trainer.lessons import TrainingLesson
from trainer.loop import StepReport, accumulate, schedule, train
from trainer.model.decoder import Decoder
from trainer.model.lora import new_adapter
from trainer.model.reading import BaseWeights
from trainer.objectives.apo_zero import ApoZero
from trainer.objectives.interface import Example, Objective, Part
from trainer.objectives.kto import Kto
from trainer.objectives.likelihood import Likelihood
from trainer.objectives.preference import Preference
from trainer.objectives.replay import Replay
from trainer.packing import Item, build_pack
from trainer.references import kept_examples, with_pair_references
from trainer.wordings.trained import trained_wordings


class Reports:
    """A callback that keeps what it is told."""

    def __init__(self) -> None:
        self.reports: list[StepReport] = []
        self.micro_steps = 0
        self.losses: dict[str, float] = {}

    def before_micro_step(self) -> None:
        self.micro_steps += 1

    def after_example(self, objective: Objective, example: Example, loss: float) -> None:
        self.losses[objective.name] = self.losses.get(objective.name, 0.0) + loss

    def after_step(self, report: StepReport) -> None:
        self.reports.append(report)


@pytest.fixture
def optimiser(settings: Settings) -> OptimiserSettings:
    return settings.training.recipes["family"].optimiser.model_copy(update={"warmup_steps": 1, "least_steps": 0})


def says_by_itself(decoder: Decoder, example: Example) -> bool:
    """Whether greedy decoding would give exactly the answer."""
    item = example.items[0]
    with torch.no_grad():
        likeliest = decoder.logits(build_pack([item])).argmax(-1)
    return likeliest.tolist() == list(item.answer)


def test_one_lesson_is_learned_in_a_dozen_steps(
    base: BaseWeights, tokeniser: Tokeniser, dog: TrainingLesson, optimiser: OptimiserSettings
) -> None:
    adapter = new_adapter(base.config, 16, 32.0, torch.Generator().manual_seed(0))
    decoder = Decoder(base, adapter)
    examples = lesson_examples(tokeniser, dog, trained_wordings(dog.question, 4))
    assert not says_by_itself(decoder, examples[0])
    steps: Sequence[Sequence[Part]] = [[Part(Likelihood(), tuple(examples), 1.0)]]
    reports = Reports()
    taken = train(decoder, adapter.parameters(), lambda _: steps, optimiser.model_copy(update={"epochs": 12}), reports)
    assert taken == 12
    assert says_by_itself(decoder, examples[0])
    assert reports.reports[-1].loss < reports.reports[0].loss / 4
    # What is told of the single examples adds up to the means.
    answered = sum(len(example.items[0].answer) for example in examples)
    means = sum(report.losses["likelihood"] for report in reports.reports)
    assert reports.losses["likelihood"] / answered == pytest.approx(means, rel=1e-5)


def test_few_lessons_are_gone_over_until_there_are_steps_enough(
    base: BaseWeights, tokeniser: Tokeniser, dog: TrainingLesson, optimiser: OptimiserSettings
) -> None:
    adapter = new_adapter(base.config, 2, 4.0, torch.Generator().manual_seed(0))
    steps = [[Part(Likelihood(), tuple(lesson_examples(tokeniser, dog, trained_wordings(dog.question, 1))), 1.0)]]
    settings = optimiser.model_copy(update={"epochs": 1, "least_steps": 3})
    assert train(Decoder(base, adapter), adapter.parameters(), lambda _: steps, settings, Reports()) == 3


def test_smaller_micro_batches_give_the_same_gradient(
    base: BaseWeights, tokeniser: Tokeniser, dog: TrainingLesson
) -> None:
    gradients = []
    for budget in (10_000, 64):
        adapter = new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(0))
        examples = with_pair_references(
            Decoder(base), lesson_examples(tokeniser, dog, trained_wordings(dog.question, 3)), 512, lambda: None
        )
        parts = [Part(Likelihood(), tuple(examples), 1.0), Part(Preference(0.1), tuple(examples), 0.5)]
        reports = Reports()
        losses, watched, *_ = accumulate(Decoder(base, adapter), parts, budget, reports)
        assert losses["preference"] == pytest.approx(0.6931, abs=1e-3)
        assert watched["chosen_log_ratio"] == pytest.approx(0.0, abs=1e-3)
        gradients.append(torch.cat([p.grad.flatten() for p in adapter.parameters() if p.grad is not None]))
        assert (reports.micro_steps > 1) == (budget == 64)
    whole, split = gradients
    assert float(torch.nn.functional.cosine_similarity(whole, split, dim=0)) > 0.999
    assert float(whole.norm()) == pytest.approx(float(split.norm()), rel=0.02)


def test_replay_starts_from_no_difference(base: BaseWeights, tokeniser: Tokeniser, dog: TrainingLesson) -> None:
    item = lesson_examples(tokeniser, dog, trained_wordings(dog.question, 1))[0].items[0]
    examples = kept_examples(Decoder(base), [(item, item)], 16, 512, lambda: None)
    adapter = new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(0))
    losses, *_ = accumulate(Decoder(base, adapter), [Part(Replay(), tuple(examples), 1.0)], 512, Reports())
    assert losses["replay"] == pytest.approx(0.0, abs=1e-5)


def test_a_loss_that_is_no_number_stops_before_the_weights_move(
    base: BaseWeights, tokeniser: Tokeniser, dog: TrainingLesson, optimiser: OptimiserSettings
) -> None:
    adapter = new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(0))
    with torch.no_grad():
        adapter.a[0, "q"][0, 0] = float("nan")
    before = [p.detach().clone() for p in adapter.parameters()]
    steps = [[Part(Likelihood(), tuple(lesson_examples(tokeniser, dog, trained_wordings(dog.question, 1))), 1.0)]]
    with pytest.raises(LossNotFinite) as stopped:
        train(Decoder(base, adapter), adapter.parameters(), lambda _: steps, optimiser, Reports())
    assert stopped.value.facts == {"step": 1, "objective": "likelihood", "value": "nan"}
    after = adapter.parameters()
    assert all(torch.equal(a.nan_to_num(), b.detach().nan_to_num()) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize(
    ("objective", "wrong"),
    [
        (Preference(0.1), "nan"),
        (Preference(0.1), "inf"),
        (ApoZero(0.1), "nan"),
        (Kto(0.1), "nan"),
        (Replay(), "nan"),
        (Replay(), "inf"),
    ],
)
def test_a_loss_that_is_no_number_is_named_after_its_objective(
    base: BaseWeights, optimiser: OptimiserSettings, objective: Objective, wrong: str
) -> None:
    adapter = new_adapter(base.config, 1, 1.0, torch.Generator().manual_seed(0))
    items = (Item((1,), (2, 3)), Item((1,), (4, 5)))
    broken = ((float(wrong), -1.0), (float(wrong), -1.0))
    example = (
        Example(items[:1], broken[:1]) if objective.name == "replay" else Example(items, broken, desirable=(True,))
    )
    steps = [[Part(Likelihood(), (Example(items[:1]),), 1.0), Part(objective, (example,), 0.5)]]
    with pytest.raises(LossNotFinite) as stopped:
        train(Decoder(base, adapter), adapter.parameters(), lambda _: steps, optimiser, Reports())
    assert stopped.value.facts["objective"] == objective.name


def test_the_rate_warms_up_and_then_falls_to_nothing() -> None:
    shares = [schedule(step, 20, 5) for step in range(20)]
    assert shares[0] < shares[4] < shares[5] == 1.0
    assert shares[5:] == sorted(shares[5:], reverse=True)
    assert 0 < shares[-1] < 0.1
