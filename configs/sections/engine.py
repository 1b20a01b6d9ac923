"""Settings of the section ``engine``; defaults in ``configs/defaults/engine.yaml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class EngineSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
