"""Settings of the section ``training``; defaults in ``configs/defaults/training.yaml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class TrainingSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
