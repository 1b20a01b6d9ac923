"""Settings of the section ``tools``; defaults in ``configs/defaults/tools.yaml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ToolsSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
