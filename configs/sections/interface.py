"""Settings of the section ``interface``; defaults in ``configs/defaults/interface.yaml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class InterfaceSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
