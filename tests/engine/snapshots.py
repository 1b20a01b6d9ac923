"""Manifests and small real LoRA adapters for the starter model, written as the rest of the house writes them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import gguf
import numpy as np

from configs.home import Home
from engine.routes import ROUTE_KEY

WIDTH, VALUES, RANK = 576, 192, 4  # the starter's embedding and value widths


def write_adapter(
    path: Path,
    *,
    strength: float = 1.0,
    seed: int = 0,
    alpha: float | None = 8.0,
    arch: str = "llama",
    width: int = WIDTH,
    route: str = "",
) -> Path:
    """An adapter of rank 4 over the first layer's values; strength 0 changes nothing. ``route``: as its file has it."""
    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, arch)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    if alpha is not None:
        writer.add_float32("adapter.lora.alpha", alpha)
    if route:
        writer.add_string(ROUTE_KEY, route)
    a, b = random.normal(size=(RANK, width)), random.normal(size=(VALUES, RANK)) * strength
    writer.add_tensor("blk.0.attn_v.weight.lora_a", a.astype(np.float32))
    writer.add_tensor("blk.0.attn_v.weight.lora_b", b.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def store(home: Home, content: bytes) -> str:
    """Put ``content`` into the store; its digest."""
    digest = hashlib.sha256(content).hexdigest()
    path = home.artifact(digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return digest


def write_manifest(
    home: Home, starter: Path, *, name: str = "v0", adapter: Path | None = None, model: str = "smollm2-135m"
) -> str:
    """A snapshot's manifest in the store; its digest."""
    with starter.open("rb") as file:
        base = hashlib.file_digest(file, "sha256").hexdigest()
    adapters = [{"sha256": store(home, adapter.read_bytes()), "scale": 1.0}] if adapter else []
    manifest = {
        "format": 1, "name": name, "base": {"name": model, "sha256": base}, "adapters": adapters,
        "run": None, "gate": None, "parent": None, "created_at": "2026-01-01T00:00:00+00:00",
    }  # fmt: skip
    return store(home, json.dumps(manifest).encode())


def write_thinker(home: Home, starter: Path) -> None:
    """The model ``thinker``: the starter with a template that says that its model thinks, and a token of Llama's."""
    content = starter.read_bytes()
    # The first is said where a system message is missing, so that prompts stay the same; the second, a control token.
    for old, new in (
        (b"named SmolLM, trained by Hugging Face", b"named SmolLM <think></think> trained."),
        (b"<jupyter_code>", b"<|python_tag|>"),
    ):
        assert (content.count(old), len(old)) == (1, len(new))
        content = content.replace(old, new)
    (home.models / "thinker.gguf").write_bytes(content)
