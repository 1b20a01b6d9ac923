"""What the frozen base says, taken once before training: log-probabilities for DPO, likely tokens for replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
            found.append(Example(example.items, reference, example.name))
    return found


@torch.no_grad()
def replay_examples(
    base: Decoder, items: Sequence[Item], kept: int, budget: int, pause: Callable[[], None]
) -> list[Example]:
    """Replay examples: at each answer position the base's ``kept`` most likely tokens and their log-probabilities."""
    found = []
    for group in in_budget([item.length for item in items], budget):
        pause()
        pack = build_pack([items[index] for index in group])
        logits = base.logits(pack)
        for index, (start, stop) in zip(group, pack.spans, strict=True):
            rows = logits[pack.pair_rows[start:stop]]
            likely = rows.topk(kept, dim=-1)
            log_probs = likely.values - torch.logsumexp(rows, dim=-1, keepdim=True)
            item = items[index]
            targets = tuple(tuple(row) for row in likely.indices.tolist())
            found.append(Example((Item(item.prompt, item.answer, targets),), (tuple(log_probs.flatten().tolist()),)))
    return found
