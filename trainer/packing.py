"""Several token sequences as one flat tree: what they begin alike is computed once, and nothing is padded.

A system prompt shared by all, a question shared by the chosen and the rejected answer: under causal attention
their states do not depend on what follows, so one copy serves (and gathers the gradient of) all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from trainer.model.attention import AttentionPlan

# Tokens of one path that are answered in one padded row of the attention, at least and at most. Shorter rows pad less
# but read the keys of the path again more often, which takes as long as so many tokens more; the result is the same,
# so these are no settings.
QUERY_ROW = range(8, 65)
READING_KEYS = 8
# A row's keys come in as many, so that the processor has whole vectors, and two steps more often the same shapes.
KEY_BLOCK = 16


@dataclass(frozen=True)
class Item:
    """A prompt, its answer, and at each answer position the tokens whose log-probability is wanted.

    ``targets`` [answer][any number]; empty means the answer's own tokens.
    """

    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    targets: tuple[tuple[int, ...], ...] = ()

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self.answer)


@dataclass(frozen=True)
class Pack:
    """One forward's worth of tokens. All index tensors are int64.

    ``rows`` are the tokens whose next-token distribution is asked for; pair i asks for token ``pair_tokens[i]`` after
    row ``pair_rows[i]``; ``spans`` says which pairs are whose, in the order of the items.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    plan: AttentionPlan
    rows: torch.Tensor
    pair_rows: torch.Tensor
    pair_tokens: torch.Tensor
    spans: tuple[tuple[int, int], ...]


class _Tree:
    """Tokens with parents; a path from the root is a sequence."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.depths: list[int] = []
        self.children: dict[tuple[int, int], int] = {}
        self.paths: list[tuple[int, list[int]]] = []  # each path that has tokens of its own, and the first of these

    def add(self, sequence: Sequence[int]) -> list[int]:
        """Insert a sequence; returns its path."""
        path: list[int] = []
        parent = -1
        first_new = len(self.tokens)
        for depth, token in enumerate(sequence):
            node = self.children.get((parent, token), -1)
            if node < 0:
                node = len(self.tokens)
                self.children[parent, token] = node
                self.tokens.append(token)
                self.depths.append(depth)
            path.append(node)
            parent = node
        shared = sum(1 for node in path if node < first_new)
        if shared < len(path):
            self.paths.append((shared, path))
        return path

    def pieces(self) -> list[tuple[list[int], list[int]]]:
        """The rows of the attention: the tokens answered there, and the path up to them."""
        own = [len(path) - shared for shared, path in self.paths]
        row = min(QUERY_ROW, key=lambda length: sum(-(-count // length) for count in own) * (length + READING_KEYS))
        starts = [(path, start) for shared, path in self.paths for start in range(shared, len(path), row)]
        return [(path[start : start + row], path[: start + row]) for path, start in starts]


def build_pack(items: Sequence[Item]) -> Pack:
    """The pack of ``items``. The last token of an answer predicts nothing and is left out."""
    tree = _Tree()
    rows: dict[int, int] = {}
    pair_rows: list[int] = []
    pair_tokens: list[int] = []
    spans: list[tuple[int, int]] = []
    for item in items:
        path = tree.add(_read(item))
        targets = item.targets or tuple((token,) for token in item.answer)
        start = len(pair_rows)
        for node, wanted in zip(path[len(item.prompt) - 1 :], targets, strict=True):
            row = rows.setdefault(node, len(rows))
            pair_rows.extend([row] * len(wanted))
            pair_tokens.extend(wanted)
        spans.append((start, len(pair_rows)))
    return Pack(
        tokens=torch.tensor(tree.tokens),
        positions=torch.tensor(tree.depths),
        plan=_attention_plan(tree),
        rows=torch.tensor(list(rows)),
        pair_rows=torch.tensor(pair_rows),
        pair_tokens=torch.tensor(pair_tokens),
        spans=tuple(spans),
    )


def _attention_plan(tree: _Tree) -> AttentionPlan:
    pieces = tree.pieces()
    queries = max(len(piece) for piece, _ in pieces)
    keys = -(-max(len(path) for _, path in pieces) // KEY_BLOCK) * KEY_BLOCK
    count = len(pieces)
    query_index, key_index = torch.full((count, queries), -1), torch.full((count, keys), -1)
    ends = torch.zeros(count, queries, dtype=torch.int64)
    spot = torch.zeros(len(tree.tokens), dtype=torch.int64)
    for row, (piece, path) in enumerate(pieces):
        piece_index = torch.tensor(piece)
        query_index[row, : len(piece)] = piece_index
        key_index[row, : len(path)] = torch.tensor(path)
        ends[row, : len(piece)] = torch.arange(len(path) - len(piece), len(path)) + 1
        spot[piece_index] = row * queries + torch.arange(len(piece))
    return AttentionPlan(query_index, key_index, spot, torch.zeros_like(ends), ends)


def in_packs(wanted: Sequence[Sequence[Item]], budget: int) -> Iterator[list[int]]:
    """Indices of ``wanted``, in their order, in groups whose packs have at most ``budget`` tokens (or are of one).

    What a pack computes once is counted once: the more its items begin alike, the more of them it holds.
    """
    group: list[int] = []
    tree = _Tree()
    for index, items in enumerate(wanted):
        for item in items:
            tree.add(_read(item))
        if group and len(tree.tokens) > budget:
            yield group
            group, tree = [], _Tree()
            for item in items:
                tree.add(_read(item))
        group.append(index)
    if group:
        yield group


def computed_tokens(wanted: Sequence[Sequence[Item]]) -> list[int]:
    """How many tokens each of ``wanted`` adds to a pack that holds all those before it."""
    tree = _Tree()
    ends = [0]
    for items in wanted:
        for item in items:
            tree.add(_read(item))
        ends.append(len(tree.tokens))
    return [after - before for before, after in pairwise(ends)]


def _read(item: Item) -> tuple[int, ...]:
    """What is computed of an item."""
    return (*item.prompt, *item.answer[:-1])


def in_budget(sizes: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices of ``sizes``, in their order, in groups that together hold at most ``budget`` tokens (or one)."""
    group: list[int] = []
    used = 0
    for index, size in enumerate(sizes):
        if group and used + size > budget:
            yield group
            group, used = [], 0
        group.append(index)
        used += size
    if group:
        yield group
