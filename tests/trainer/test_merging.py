"""A model with its adapters merged computes what the model and its adapters did, and appears whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt
import pytest

from configs.home import Home
from configs.settings import load_settings
from engine.native import Adapter, Context, ContextShape, Model
from engine.scoring import LocalModel, kl
from engine.served import AdapterFile
from tests.engine.snapshots import write_adapter
from tests.project import ROOT
from tests.trainer.random_model import FEED_FORWARD, HEAD_SIZE, HEADS, KV_HEADS, WIDTH, write_random_model
from trainer.errors import NotMergeable
from trainer.fitting.merging import merge
from trainer.model.gguf_file import GGUFFile

SHAPES = {
    "attn_q": (HEADS * HEAD_SIZE, WIDTH), "attn_k": (KV_HEADS * HEAD_SIZE, WIDTH),
    "attn_v": (KV_HEADS * HEAD_SIZE, WIDTH), "attn_output": (WIDTH, HEADS * HEAD_SIZE),
    "ffn_gate": (FEED_FORWARD, WIDTH), "ffn_up": (FEED_FORWARD, WIDTH), "ffn_down": (WIDTH, FEED_FORWARD),
}  # fmt: skip
RANK, ALPHA = 3, 6.0
TOKENS = [3, 141, 59, 26, 53, 58, 97, 93]


def write_whole_adapter(path: Path, architecture: str, *, layers: int, seed: int) -> Path:
    """An adapter over every projection of a random model."""
    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, ALPHA)
    for layer in range(layers):
        for name, (rows, columns) in SHAPES.items():
            full = f"blk.{layer}.{name}.weight"
            writer.add_tensor(f"{full}.lora_a", random.normal(size=(RANK, columns)).astype(np.float32) / columns)
            writer.add_tensor(f"{full}.lora_b", random.normal(size=(rows, RANK)).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def logits(model: Path, adapters: list[tuple[Path, float]]) -> npt.NDArray[np.float32]:
    """Of every token of a fixed text."""
    loaded = Model(model)
    shape = ContextShape(context_size=64, slots=1, batch_size=16, outputs=16, threads=1, flash_attention=False)
    context = Context(loaded, shape)
    context.set_adapters([(Adapter(loaded, path), scale) for path, scale in adapters])
    context.decode([(token, place, 0, True) for place, token in enumerate(TOKENS)])
    found = np.array([context.logits(row).copy() for row in range(len(TOKENS))])
    context.close()
    loaded.close()
    return found


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3", "gemma3"])
def test_merged_weights_give_the_logits_of_the_adapters_over_the_model(architecture: str, tmp_path: Path) -> None:
    base, merged = tmp_path / "base.gguf", tmp_path / "merged.gguf"
    write_random_model(base, architecture, layers=3)
    adapters = [
        (write_whole_adapter(tmp_path / f"{seed}.gguf", architecture, layers=3, seed=seed), scale)
        for seed, scale in ((1, 1.0), (2, -0.5))
    ]
    merge(base, base, adapters, merged, "f16")
    plain, over, within = logits(base, []), logits(base, adapters), logits(merged, [])
    assert np.abs(over - plain).max() > 0.1
    assert np.abs(within - over).max() < 0.02 * np.abs(over - plain).max()


def test_the_starter_with_merged_weights_is_the_starter_with_the_adapter(starter: Path, tmp_path: Path) -> None:
    adapter, merged = write_adapter(tmp_path / "a.gguf", strength=0.05), tmp_path / "merged.gguf"
    merge(starter, starter, [(adapter, 1.0)], merged, "q8_0")
    original, written = GGUFFile(starter), GGUFFile(merged)
    assert written.names == original.names
    assert {name for name in written.names if written.kind(name) != original.kind(name)} == {"blk.0.attn_v.weight"}
    assert written.metadata == {**original.metadata, "general.file_type": 7}
    settings = load_settings(Home(tmp_path), {}).engine
    text = "Our dog is called Toby, and he sleeps in the kitchen beside the warm stove."

    def held(model: Path, adapters: list[AdapterFile]) -> npt.NDArray[np.float32]:
        with LocalModel(model, settings, context_size=64, threads=1) as scorer:
            scorer.set_adapters(adapters)
            ids = scorer.vocabulary.tokenize(text, special=False)
            return scorer.log_probs(ids[:1], ids[1:])

    plain, over, within = held(starter, []), held(starter, [AdapterFile(adapter, 1.0)]), held(merged, [])
    # What is left is the rounding of activations, which differs between the kernels of two kinds of weights.
    assert kl(over, plain) / len(over) > 0.1
    assert kl(over, within) < 0.1 * kl(over, plain)


def test_an_adapter_that_does_not_fit_the_weights_is_not_merged(starter: Path, tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "a.gguf", width=64)
    with pytest.raises(NotMergeable):
        merge(starter, starter, [(adapter, 1.0)], tmp_path / "merged.gguf", "q8_0")
    assert [path.name for path in tmp_path.glob("merged*")] == []


def test_a_merging_that_is_killed_leaves_no_file_of_its_name(starter: Path, tmp_path: Path) -> None:
    adapter, merged = write_adapter(tmp_path / "a.gguf"), tmp_path / "merged.gguf"
    code = (
        "import sys, time; from pathlib import Path; from trainer.fitting.merging import merge;"
        "a, b, c = map(Path, sys.argv[1:]); merge(a, a, [(b, 1.0)], c, 'q8_0', pause=lambda: time.sleep(0.05))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(starter), str(adapter), str(merged)], cwd=ROOT)
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in tmp_path.glob("merged.gguf.part")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not merged.exists()


def test_a_merging_that_fails_gives_its_room_back(starter: Path, tmp_path: Path) -> None:
    adapter, merged = write_adapter(tmp_path / "a.gguf"), tmp_path / "merged.gguf"
    calls = 0

    def full_disk() -> None:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        merge(starter, starter, [(adapter, 1.0)], merged, "q8_0", full_disk)
    assert [path.name for path in tmp_path.glob("merged*")] == []
