"""The compose file of an exported snapshot: a server with a memory limit, a health check and a port on the loopback.

https://github.com/compose-spec/compose-spec/blob/main/spec.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from configs.sections.exporting import ExportSettings

MODEL_FOLDER = "/model"
OLLAMA_PORT, LLAMA_PORT = 11434, 8080
MB = 1 << 20
CHECKED = {"interval": "10s", "timeout": "5s", "retries": 30, "start_period": "60s"}


@dataclass(frozen=True)
class Need:
    """What serving a snapshot takes: bytes of its files and of the cache of one token, tokens, answers at a time."""

    weights: int
    adapters: int
    cache_per_token: int
    context_size: int
    slots: int

    def megabytes(self, overhead_mb: int) -> int:
        """All of it: the weights stay in memory, and every slot may be filled to its end."""
        needed = self.weights + self.adapters + self.cache_per_token * self.context_size * self.slots
        return -(-needed // MB) + overhead_mb


def compose_file(
    name: str, model: str, adapters: Sequence[tuple[str, float]], need: Need, settings: ExportSettings, remark: str
) -> str:
    """The file for the model ``name`` made of ``model`` and ``adapters``, both beside it; ``remark`` at its top."""
    limit = f"{need.megabytes(settings.overhead_mb)}m"
    folder = f"./:{MODEL_FOLDER}:ro"
    ollama: dict[str, Any] = {
        "image": settings.ollama_image,
        "restart": "unless-stopped",
        "mem_limit": limit,
        "ports": [f"127.0.0.1:{settings.ollama_port}:{OLLAMA_PORT}"],
        "volumes": [folder, "ollama:/root/.ollama"],
        "environment": {
            "OLLAMA_CONTEXT_LENGTH": str(need.context_size),
            "OLLAMA_NUM_PARALLEL": str(need.slots),
            "OLLAMA_MAX_LOADED_MODELS": "1",
        },
        "healthcheck": {"test": ["CMD", "ollama", "list"], **CHECKED},
    }
    create: dict[str, Any] = {
        "image": settings.ollama_image,
        "restart": "no",
        "mem_limit": f"{settings.create_mb}m",
        "depends_on": {"ollama": {"condition": "service_healthy"}},
        "volumes": [folder],
        "environment": {"OLLAMA_HOST": f"http://ollama:{OLLAMA_PORT}"},
        "entrypoint": ["ollama", "create", name, "-f", f"{MODEL_FOLDER}/Modelfile"],
    }
    llama: dict[str, Any] = {
        # Only where it is asked for: docker compose --profile llama-server up llama-server
        "profiles": ["llama-server"],
        "image": settings.llama_server_image,
        "restart": "unless-stopped",
        "mem_limit": limit,
        "ports": [f"127.0.0.1:{settings.llama_server_port}:{LLAMA_PORT}"],
        "volumes": [folder],
        "command": llama_arguments(model, adapters, need),
        "healthcheck": {"test": ["CMD", "curl", "-f", f"http://127.0.0.1:{LLAMA_PORT}/health"], **CHECKED},
    }
    content = {"services": {"ollama": ollama, "create": create, "llama-server": llama}, "volumes": {"ollama": {}}}
    lines = [f"# {line}".rstrip() for line in remark.strip().splitlines()]
    return "\n".join(lines) + "\n" + yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def llama_arguments(
    model: str, adapters: Sequence[tuple[str, float]], need: Need, folder: str = MODEL_FOLDER
) -> list[str]:
    """The options of llama-server; its context is that of all slots together."""
    arguments = ["--host", "0.0.0.0", "--port", str(LLAMA_PORT)]  # noqa: S104 - inside the container
    arguments += ["--model", f"{folder}/{model}"]
    arguments += ["--ctx-size", str(need.context_size * need.slots), "--parallel", str(need.slots)]
    for adapter, scale in adapters:
        path = f"{folder}/{adapter}"
        arguments += ["--lora", path] if scale == 1 else ["--lora-scaled", f"{path}:{scale:g}"]
    return arguments
