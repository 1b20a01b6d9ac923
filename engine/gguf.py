"""A structural check of GGUF files in plain Python, made before native code sees them."""

from __future__ import annotations

import mmap
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

from engine.errors import AdapterMismatch, ModelBroken
from engine.gguf_reader import SMALLEST_HEADER, Array, Contents, Malformed, Reader, whole
from engine.gguf_rules import check_model
from engine.routes import ROUTE_KEY

FLOAT16_BYTES = 2


@dataclass(frozen=True)
class GGUFSummary:
    """What the header of a GGUF file says. ``context_length`` 0 and empty texts where it says nothing.

    ``cache_bytes_per_token``: bytes of a float16 KV cache for one token of one sequence. ``route``: what an adapter
    says of the conversations that it is for (engine/routes.py).
    """

    path: Path
    file_size: int
    architecture: str
    name: str
    kind: str
    context_length: int
    tensor_count: int
    layers: int
    cache_bytes_per_token: int
    has_template: bool
    adapter_alpha: float | None
    route: str = ""


def check_gguf(path: Path) -> GGUFSummary:
    """The header's summary, every count, length and offset checked against the file.

    What is accepted, llama.cpp loads or refuses; it does not die of it. Raises ModelBroken.
    """
    try:
        # A pipe would be waited for.
        if not stat.S_ISREG(path.stat().st_mode):
            raise Malformed("not a file")
        with path.open("rb") as file:
            if path.stat().st_size < SMALLEST_HEADER:
                raise Malformed(f"only {path.stat().st_size} bytes long")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _summary(path, len(content), Reader(content).read())
    except OSError as error:
        raise ModelBroken(path=str(path), reason=error.strerror or str(error)) from error
    except (Malformed, struct.error) as error:
        raise ModelBroken(path=str(path), reason=str(error)) from error


def check_adapter(path: Path, model: Path) -> GGUFSummary:
    """The summary of a LoRA adapter that may be applied to ``model``. Raises AdapterMismatch."""
    try:
        summary = check_gguf(path)
    except ModelBroken as error:
        raise AdapterMismatch(path=str(path), reason=str(error.facts["reason"])) from error
    if summary.kind != "adapter":
        raise AdapterMismatch(path=str(path), reason="not an adapter")
    if not summary.adapter_alpha:
        raise AdapterMismatch(path=str(path), reason="adapter.lora.alpha is missing")
    architecture = check_gguf(model).architecture
    if summary.architecture != architecture:
        raise AdapterMismatch(path=str(path), reason=f"made for {summary.architecture}, the model is {architecture}")
    return summary


def _summary(path: Path, size: int, contents: Contents) -> GGUFSummary:
    architecture = contents.get("general.architecture")
    if not isinstance(architecture, str) or not architecture:
        raise Malformed("it names no architecture")
    kind = contents.get("general.type", "model")
    if kind == "model":
        if not contents.tensors:
            raise Malformed("it holds no weights")
        check_model(contents, architecture)
    alpha = contents.get("adapter.lora.alpha")
    return GGUFSummary(
        path=path,
        file_size=size,
        architecture=architecture,
        name=str(contents.get("general.name", "")),
        kind=str(kind),
        context_length=_number(contents, f"{architecture}.context_length"),
        tensor_count=len(contents.tensors),
        layers=_number(contents, f"{architecture}.block_count"),
        cache_bytes_per_token=_cache(contents, architecture),
        has_template=bool(contents.get("tokenizer.chat_template")),
        adapter_alpha=float(alpha) if isinstance(alpha, int | float) else None,
        route=str(contents.get(ROUTE_KEY, "")),
    )


def _cache(contents: Contents, architecture: str) -> int:
    """Bytes of the keys and values of one token in all layers."""
    heads = _number(contents, f"{architecture}.attention.head_count", 1) or 1
    width = _number(contents, f"{architecture}.embedding_length") // heads
    keys = _number(contents, f"{architecture}.attention.key_length", width)
    values = _number(contents, f"{architecture}.attention.value_length", width)
    shared = contents.get(f"{architecture}.attention.head_count_kv", heads)
    layers = _number(contents, f"{architecture}.block_count")
    # Some models have a number for each layer.
    count = sum(whole(shared)) * (1 if isinstance(shared, Array) else layers)
    return max(0, count * (keys + values) * FLOAT16_BYTES)


def _number(contents: Contents, key: str, otherwise: int = 0) -> int:
    """The whole number of ``key``; of one for each layer the largest."""
    return max(whole(contents.get(key)), default=otherwise)
