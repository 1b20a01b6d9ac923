"""Settings of the section ``assistant``; defaults in ``configs/defaults/assistant.yaml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class AssistantSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
