"""The models that Enlace knows (``configs/models.yaml``): where each is, what it takes, which suits this machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

import configs
from configs.layers import read_layer
from configs.sections.engine import EngineSettings
from engine.fit import MB

CATALOGUE = Path(configs.__file__).parent / "models.yaml"


class Offer(BaseModel):
    """A model of the catalogue. ``sha256`` is None where it is not known for certain; a ``package`` has its file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    title: str
    package: str | None = None
    repository: str | None = Field(default=None, pattern=r"^[\w.-]+/[\w.-]+$")
    revision: str | None = Field(default=None, pattern=r"^[\w.-]+$")
    file: str | None = Field(default=None, pattern=r"^[\w./-]+\.gguf$")
    bytes: int = Field(gt=0)
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    licence: str = Field(min_length=1)
    languages: tuple[str, ...] = Field(min_length=1)
    context_length: int = Field(gt=0)
    cache_bytes_per_token: int = Field(gt=0)

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        where = (self.repository, self.revision, self.file)
        if (self.package is None) == (None in where):
            raise ValueError("either a package or a repository, a revision and a file")
        return self

    def address(self, hub: str) -> str | None:
        """Where its file is at ``hub``; None where it comes with a package."""
        if self.package:
            return None
        return f"{hub.rstrip('/')}/{self.repository}/resolve/{self.revision}/{self.file}"


def offers() -> tuple[Offer, ...]:
    """Every model of the catalogue, in its order."""
    return tuple(Offer.model_validate(entry) for entry in read_layer(CATALOGUE)["models"])


def memory_needed(file_bytes: int, cache_bytes_per_token: int, context_length: int, settings: EngineSettings) -> int:
    """Bytes that a model takes as the engine would load it: weights, caches of all slots, what must stay free."""
    context = min(settings.context_size, context_length or settings.context_size)
    return file_bytes + cache_bytes_per_token * context * settings.slots + settings.memory_reserve_mb * MB


def needs(offer: Offer, settings: EngineSettings) -> int:
    """Bytes of memory that ``offer`` takes with these settings."""
    return memory_needed(offer.bytes, offer.cache_bytes_per_token, offer.context_length, settings)


def recommended(
    known: Iterable[Offer], available: int | None, settings: EngineSettings, languages: Sequence[str]
) -> Offer | None:
    """The model to have on a machine with ``available`` bytes of memory (None: nobody knows, so nothing is too big).

    The largest that fits, among those that speak the first of ``languages`` that any of them speaks; of two as large,
    the one that the catalogue names first. Without an accelerator (``engine.gpu_layers`` 0) none that is too slow to
    talk with. None where nothing fits.
    """
    largest = settings.pull.cpu_model_mb * MB if settings.gpu_layers == 0 else None
    fitting = [
        offer
        for offer in known
        if (available is None or needs(offer, settings) <= available) and (largest is None or offer.bytes <= largest)
    ]
    for language in languages:
        speaking = [offer for offer in fitting if language in offer.languages]
        if speaking:
            return max(speaking, key=lambda offer: offer.bytes)
    return max(fitting, key=lambda offer: offer.bytes, default=None)
