"""What the frozen base says, taken once before training: log-probabilities for preferences, likely tokens for a KL."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import torch

from trainer.distributed import ALONE, Together
from trainer.model.decoder import Decoder
from trainer.objectives.interface import Example
from trainer.packing import Item, build_pack, in_packs
from trainer.reference_cache import ReferenceCache, Row, row_name


@torch.no_grad()
def with_pair_references(
    base: Decoder,
    examples: Sequence[Example],
    budget: int,
    pause: Callable[[], None],
    cache: ReferenceCache | None = None,
    together: Together = ALONE,
) -> list[Example]:
    """Each example with the base's log-probability of every token of its items' answers; from ``cache`` what it has.

    The processes ask the base for their share each and tell each other; the first one's ``cache`` serves all.
    """
    found: dict[int, list[torch.Tensor]] = {}
    for index, example in enumerate(examples):
        known = [cache.get(row_name("pair", item)) for item in example.items] if cache else [None]
        rows = [row["log_probs"] for row in known if row]
        if len(rows) == len(example.items):
            found[index] = rows
    found = together.first(found)
    missing = [index for index in range(len(examples)) if index not in found]
    mine: dict[int, list[torch.Tensor]] = {}
    for group, counts in together.mine(in_packs([examples[index].items for index in missing], budget)):
        pause()
        asked = [missing[place] for place in group]
        pack = build_pack([item for index in asked for item in examples[index].items])
        log_probs = base.log_probs(pack)
        spans = iter(pack.spans)
        for index in asked if counts else ():
            mine[index] = [log_probs[slice(*next(spans))].clone() for _ in examples[index].items]
    for told in together.gathered(mine):
        found |= told
    if cache:
        for index in missing:
            for item, answer in zip(examples[index].items, found[index], strict=True):
                cache.put(row_name("pair", item), {"log_probs": answer})
    return [
        replace(example, reference=tuple(tuple(answer.tolist()) for answer in found[index]))
        for index, example in enumerate(examples)
    ]


@torch.no_grad()
def kept_examples(
    base: Decoder,
    taught: Sequence[tuple[Item, Item]],
    kept: int,
    budget: int,
    pause: Callable[[], None],
    cache: ReferenceCache | None = None,
    together: Together = ALONE,
) -> list[Example]:
    """Examples of objectives/kept.py from pairs of what is trained and what the base reads, of equal answers.

    At each answer position the base's ``kept`` most likely tokens and their log-probabilities; from ``cache`` what it
    has. For replay, both of a pair are the same. Shared out as ``with_pair_references`` does.
    """
    names = [row_name(f"kept{kept}", shown) for _, shown in taught]
    found = together.first({name: row for name in names if cache and (row := cache.get(name))})
    missing = [index for index, name in enumerate(names) if name not in found]
    mine: dict[str, Row] = {}
    for group, counts in together.mine(in_packs([[taught[index][1]] for index in missing], budget)):
        pause()
        asked = [missing[place] for place in group]
        pack = build_pack([taught[index][1] for index in asked])
        logits = base.logits(pack)
        for index, (start, stop) in zip(asked, pack.spans, strict=True):
            rows = logits[pack.pair_rows[start:stop]]
            likely = rows.topk(kept, dim=-1)
            log_probs = likely.values - torch.logsumexp(rows, dim=-1, keepdim=True)
            if counts:
                mine[names[index]] = {"tokens": likely.indices.int(), "log_probs": log_probs}
    for told in together.gathered(mine):
        found |= told
        if cache:
            for name, row in told.items():
                cache.put(name, row)
    examples = []
    for (item, _), name in zip(taught, names, strict=True):
        targets = tuple(tuple(row) for row in found[name]["tokens"].tolist())
        reference = tuple(found[name]["log_probs"].flatten().tolist())
        examples.append(Example((Item(item.prompt, item.answer, targets),), (reference,)))
    return examples


def references_digest(examples: Iterable[Example]) -> str:
    """The SHA-256 of what the base said of ``examples``, to the bit."""
    digest = hashlib.sha256()
    for example in examples:
        for item, reference in zip(example.items, example.reference, strict=bool(example.reference)):
            digest.update(np.array(item.targets, dtype=np.int64).tobytes())
            digest.update(np.array(reference, dtype=np.float64).tobytes())
    return digest.hexdigest()
