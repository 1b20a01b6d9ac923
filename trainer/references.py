"""What the frozen base says, taken once before training: log-probabilities for preferences, likely tokens for a KL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from trainer.model.decoder import Decoder
from trainer.objectives.interface import Example
from trainer.packing import Item, build_pack, in_budget


@torch.no_grad()
def with_pair_references(
    base: Decoder, examples: Sequence[Example], budget: int, pause: Callable[[], None]
) -> list[Example]:
    """Each example with the base's log-probability of every token of its items' answers."""
    found = []
    for group in in_budget([sum(item.length for item in example.items) for example in examples], budget):
        pause()
        chosen = [examples[index] for index in group]
        pack = build_pack([item for example in chosen for item in example.items])
        log_probs = base.log_probs(pack)
        spans = iter(pack.spans)
        for example in chosen:
            reference = tuple(tuple(log_probs[slice(*next(spans))].tolist()) for _ in example.items)
            found.append(replace(example, reference=reference))
    return found


@torch.no_grad()
def kept_examples(
    base: Decoder, taught: Sequence[tuple[Item, Item]], kept: int, budget: int, pause: Callable[[], None]
) -> list[Example]:
    """Examples of objectives/kept.py from pairs of what is trained and what the base reads, of equal answers.

    At each answer position the base's ``kept`` most likely tokens and their log-probabilities. For replay, both of a
    pair are the same.
    """
    found = []
    for group in in_budget([shown.length for _, shown in taught], budget):
        pause()
        pack = build_pack([taught[index][1] for index in group])
        logits = base.logits(pack)
        for index, (start, stop) in zip(group, pack.spans, strict=True):
            rows = logits[pack.pair_rows[start:stop]]
            likely = rows.topk(kept, dim=-1)
            log_probs = likely.values - torch.logsumexp(rows, dim=-1, keepdim=True)
            item, _ = taught[index]
            targets = tuple(tuple(row) for row in likely.indices.tolist())
            found.append(Example((Item(item.prompt, item.answer, targets),), (tuple(log_probs.flatten().tolist()),)))
    return found
