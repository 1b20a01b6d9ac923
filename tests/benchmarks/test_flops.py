"""The operations that a step needs, counted by hand for a small model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.flops import needed
from tests.trainer.random_model import FEED_FORWARD, HEAD_SIZE, HEADS, KV_HEADS, VOCABULARY, WIDTH, write_random_model
from trainer.model.reading import read_base
from trainer.packing import Item, build_pack

RANK, LAYERS = 2, 3


def test_every_token_row_and_look_is_counted_once(tmp_path: Path) -> None:
    write_random_model(tmp_path / "model.gguf", "llama", layers=LAYERS)
    config = read_base(tmp_path / "model.gguf").config
    # Four tokens are read, 1 2 3 4; after 3 and after 4 something is asked; they look back at 1, 2, 3 and 4 of them.
    pack = build_pack([Item((1, 2, 3), (4, 5)), Item((1, 2, 3), (6,))])
    queries, keys = HEADS * HEAD_SIZE, KV_HEADS * HEAD_SIZE
    shapes = [(queries, WIDTH), (keys, WIDTH), (keys, WIDTH), (WIDTH, queries)]
    shapes += [(FEED_FORWARD, WIDTH), (FEED_FORWARD, WIDTH), (WIDTH, FEED_FORWARD)]
    frozen = sum(4 * rows * columns for rows, columns in shapes)
    adapter = sum(6 * RANK * (rows + columns) for rows, columns in shapes)
    looks = 12 * queries * (1 + 2 + 3 + 4)
    head = 4 * 2 * VOCABULARY * WIDTH
    assert needed(config, RANK, pack) == LAYERS * (4 * (frozen + adapter) + looks) + head
    # A layer that looks back at two tokens at most has fewer looks.
    near = replace(config, sliding_window=2, sliding_layers=(0,))
    assert needed(config, RANK, pack) - needed(near, RANK, pack) == 12 * queries * (1 + 2)
