"""A snapshot's manifest: the immutable description of what the engine serves, as JSON in the artifact store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory.clock import iso

FORMAT = 1


@dataclass(frozen=True)
class Adapter:
    """A GGUF adapter in the store (``sha256``: its digest) and the scale with which it is added to the base."""

    sha256: str
    scale: float = 1.0


def manifest_bytes(
    *,
    name: str,
    base_name: str,
    base_sha256: str,
    adapters: Sequence[Adapter],
    parent: str | None,
    run: str | None,
    gate: Mapping[str, Any] | None,
    created_at: float,
) -> bytes:
    """The manifest as stored; ``parent`` is the digest of the parent's manifest."""
    manifest = {
        "format": FORMAT,
        "name": name,
        "base": {"name": base_name, "sha256": base_sha256},
        "adapters": adapter_list(adapters),
        "run": run,
        "gate": gate,
        "parent": parent,
        "created_at": iso(created_at),
    }
    return (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode()


def adapter_list(adapters: Sequence[Adapter]) -> list[dict[str, Any]]:
    """Adapters as the manifest spells them."""
    return [{"sha256": adapter.sha256, "scale": adapter.scale} for adapter in adapters]


def read_adapters(listed: Sequence[Mapping[str, Any]]) -> tuple[Adapter, ...]:
    """The reverse of ``adapter_list``."""
    return tuple(Adapter(str(entry["sha256"]), float(entry["scale"])) for entry in listed)
