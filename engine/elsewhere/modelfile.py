"""What Ollama is told of a model: as a Modelfile, and as the JSON of its interface.

https://github.com/ollama/ollama/blob/main/docs/modelfile.mdx
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from configs.sections.engine import SamplingSettings
from engine.elsewhere.go_template import Turns

QUOTE = '"""'


@dataclass(frozen=True)
class Described:
    """``turns`` None leaves the template to what Ollama finds in the file; ``system`` empty says nothing."""

    turns: Turns | None
    context_size: int
    sampling: SamplingSettings
    system: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """Ollama's names for how a token is chosen, and for how much a conversation may hold."""
        sampling = self.sampling
        found: dict[str, Any] = {
            "num_ctx": self.context_size,
            "num_predict": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_k": sampling.top_k,
            "top_p": sampling.top_p,
            "min_p": sampling.min_p,
            "repeat_penalty": sampling.repeat_penalty,
            "repeat_last_n": sampling.repeat_window,
        }
        if self.turns is not None and self.turns.stop:
            found["stop"] = [self.turns.stop]
        return found

    def modelfile(self, base: str, adapters: Sequence[str]) -> str:
        """The Modelfile over these files, named as seen from where it lies."""
        lines = [f"FROM {base}", *(f"ADAPTER {adapter}" for adapter in adapters)]
        if self.turns is not None:
            lines.append(f"TEMPLATE {quoted(self.turns.go())}")
        if self.system:
            lines.append(f"SYSTEM {quoted(self.system)}")
        for name, value in self.parameters.items():
            each = value if isinstance(value, list) else [value]
            lines += [f"PARAMETER {name} {quoted(one) if isinstance(one, str) else f'{one:g}'}" for one in each]
        return "\n".join(lines) + "\n"

    def request(self, name: str, base: str, adapters: Sequence[str]) -> dict[str, Any]:
        """The body of ``POST /api/create`` for files that were uploaded under these SHA-256 digests."""
        body: dict[str, Any] = {
            "model": name,
            "files": {"model.gguf": f"sha256:{base}"},
            "parameters": self.parameters,
            "stream": False,
        }
        if adapters:
            body["adapters"] = {f"adapter{n}.gguf": f"sha256:{digest}" for n, digest in enumerate(adapters)}
        if self.turns is not None:
            body["template"] = self.turns.go()
        if self.system:
            body["system"] = self.system
        return body


def quoted(text: str) -> str:
    """``text`` as an argument in a Modelfile. Three quotation marks would end it, and cannot be escaped there."""
    return f"{QUOTE}{text.replace(QUOTE, 3 * chr(39))}{QUOTE}"
