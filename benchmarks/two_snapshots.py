"""Two snapshots of a home's model to go back and forth between: the base, and an adapter of rank 16 over all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np

from configs.home import Home
from configs.settings import load_settings
from engine.catalogue import model_path
from memory.household import Household
from memory.manifests import Adapter

RANK = 16
PROJECTIONS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
# Weak enough that the answers stay answers.
STRENGTH = 1e-4


def two_snapshots(home: Home) -> tuple[str, str]:
    """The digests of the two manifests; the first is what the home serves now."""
    settings = load_settings(home, {})
    with Household.open(home, settings.memory) as household:
        base = household.snapshots.current()
        path = home.root / "benchmark-adapter.gguf"
        write_adapter(path, model_path(home, base.base_name))
        artifact = household.artifacts.put_file(path)
        other = household.snapshots.create(
            base.base_name, base.base_sha256, adapters=[Adapter(artifact, 1.0)], parent=base.id, run=None,
            reason="a benchmark", gate=None,
        )  # fmt: skip
    return base.digest, other.digest


def write_adapter(path: Path, model: Path) -> None:
    """A random adapter over every projection of ``model``."""
    random = np.random.default_rng(7)
    reader: Any = gguf.GGUFReader(model)
    writer = gguf.GGUFWriter(path, reader.fields["general.architecture"].contents())
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(RANK))
    for tensor in reader.tensors:
        if tensor.name.split(".")[-2] in PROJECTIONS:
            inputs, outputs = (int(size) for size in tensor.shape)
            for side, shape in (("a", (RANK, inputs)), ("b", (outputs, RANK))):
                values = random.normal(size=shape) * (STRENGTH if side == "b" else 1)
                writer.add_tensor(f"{tensor.name}.lora_{side}", values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
