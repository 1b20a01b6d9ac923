"""Run in the peer environment ``trl``: the losses of TRL's own trainers over random log-probabilities, as JSON.

    python trl_losses.py SEED > FILE.json

The trainers' ``_compute_loss`` runs as it is, on a stand-in for the model that gives the log-probabilities: each case
says what went in, and the loss and its gradient by every log-probability that came out. tests/trainer/trl_losses.json
was written with seed 7.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import torch
from trl import DPOTrainer, KTOTrainer

LENGTHS = (3, 1, 6, 4, 5, 2)  # tokens of the answers
BETAS = (0.1, 0.7)


def main(seed: int) -> None:
    """Print every case."""
    generator = torch.Generator().manual_seed(seed)
    cases = [_pairs(loss, beta, generator) for beta in BETAS for loss in ("sigmoid", "apo_zero", "sft")]
    # Where the mismatched answers became less likely, the KL is clamped to 0.
    cases += [_ratings(beta, shift, generator) for beta in BETAS for shift in (2.0, -2.0)]
    found = {"script": "benchmarks/peers/trl_losses.py", "trl": version("trl"), "seed": seed, "cases": cases}
    print(json.dumps(found))


def _pairs(loss_type: str, beta: float, generator: torch.Generator) -> dict[str, Any]:
    """DPOTrainer: the first half of the answers are chosen, the other half rejected."""
    answers, reference = _answers(generator, 0.0), _answers(generator, 0.0)
    padded, mask = _padded(answers)
    chosen, rejected = _sums(reference).chunk(2)
    inputs = {
        "input_ids": torch.zeros_like(mask),
        "attention_mask": torch.ones_like(mask),
        "completion_mask": mask,
        "ref_chosen_logps": chosen,
        "ref_rejected_logps": rejected,
    }
    trainer = _trainer(beta, loss_types=[loss_type], loss_weights=[1.0], f_divergence_type="reverse_kl")
    loss = DPOTrainer._compute_loss(trainer, _Model(padded), inputs, return_outputs=False)
    return _case(loss_type, beta, loss, answers, reference)


def _ratings(beta: float, shift: float, generator: torch.Generator) -> dict[str, Any]:
    """KTOTrainer: good and bad answers in turn, and the same answers to other prompts for the KL."""
    answers, reference = _answers(generator, 0.0), _answers(generator, 0.0)
    mismatched, mismatched_reference = _answers(generator, shift), _answers(generator, 0.0)
    desirable = [number % 2 == 0 for number in range(len(answers))]
    padded, mask = _padded(answers)
    inputs = {
        "input_ids": torch.zeros_like(mask),
        "attention_mask": torch.ones_like(mask),
        "completion_mask": mask,
        "KL_input_ids": torch.ones_like(mask),
        "KL_attention_mask": torch.ones_like(mask),
        "KL_completion_mask": mask,
        "label": torch.tensor(desirable),
        "ref_logps": _sums(reference),
        "ref_KL_logps": _sums(mismatched_reference),
    }
    trainer = _trainer(beta, loss_type="kto", calculate_KL=True, desirable_weight=1.0, undesirable_weight=1.0)
    trainer._compute_kl_logps = lambda model, batch: KTOTrainer._compute_kl_logps(trainer, model, batch)
    model = _Model(padded, _padded(mismatched)[0])
    loss = KTOTrainer._compute_loss(trainer, model, inputs, return_outputs=False)
    case = _case("kto", beta, loss, answers, reference)
    return case | {
        "desirable": desirable,
        "mismatched": [each.tolist() for each in mismatched],
        "mismatched_reference": [each.tolist() for each in mismatched_reference],
    }


class _Model:
    """What TRL's losses see of a model. Tokens of ones are the mismatched sequences."""

    def __init__(self, log_probs: torch.Tensor, mismatched: torch.Tensor | None = None) -> None:
        self._log_probs = log_probs
        self._mismatched = mismatched

    def __call__(self, **inputs: Any) -> SimpleNamespace:
        wanted = self._mismatched if inputs["input_ids"].any() else self._log_probs
        nothing = torch.zeros_like(self._log_probs)
        return SimpleNamespace(log_probs=wanted, entropy=nothing, mean_logits=nothing, is_top1=nothing.bool())


def _trainer(beta: float, **fields: Any) -> Any:
    """The attributes of a trainer that its loss reads."""
    accelerator = SimpleNamespace(
        device=torch.device("cpu"), gather=lambda value: value, gather_for_metrics=lambda value: value
    )
    return SimpleNamespace(
        accelerator=accelerator,
        aux_loss_enabled=False,
        beta=beta,
        ld_alpha=None,
        model=SimpleNamespace(training=True),
        precompute_ref_logps=True,
        use_weighting=False,
        _metrics={"train": defaultdict(list)},
        _total_train_tokens=0,
        _tp_size=1,
        **fields,
    )


def _answers(generator: torch.Generator, shift: float) -> list[torch.Tensor]:
    """Log-probabilities of each answer's tokens; the higher ``shift``, the likelier."""
    drawn = (torch.randn(length, generator=generator) + shift for length in LENGTHS)
    return [torch.nn.functional.logsigmoid(each).requires_grad_() for each in drawn]


def _sums(answers: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.stack([each.detach().sum() for each in answers])


def _padded(answers: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probabilities [answers, longest], zero past the end, and the mask [answers, 1 + longest] after a prompt."""
    padded = torch.nn.utils.rnn.pad_sequence(list(answers), batch_first=True)
    mask = torch.zeros(len(answers), 1 + padded.shape[1], dtype=torch.int64)
    for row, answer in enumerate(answers):
        mask[row, 1 : 1 + len(answer)] = 1
    return padded, mask


def _case(
    name: str, beta: float, loss: torch.Tensor, answers: Sequence[torch.Tensor], reference: Sequence[torch.Tensor]
) -> dict[str, Any]:
    gradients = torch.autograd.grad(loss, answers, allow_unused=True, materialize_grads=True)
    return {
        "loss_type": name,
        "beta": beta,
        "log_probs": [each.tolist() for each in answers],
        "reference": [each.tolist() for each in reference],
        "loss": float(loss.detach()),
        "gradients": [each.tolist() for each in gradients],
    }


if __name__ == "__main__":
    main(int(sys.argv[1]))
