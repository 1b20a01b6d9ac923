"""Settings of the section ``memory``; defaults in ``configs/defaults/memory.yaml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class MemorySettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
