"""Settings of the part ``training.energy``: how it is measured what a training draws."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class EnergySettings(BaseModel):
    """Where the machine's own counters of energy are, and how they are read; without any, it is reckoned."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    powercap: str = Field(description="The kernel's folder of processor energy counters (RAPL).")
    power_supply: str = Field(description="The kernel's folder of batteries and mains adapters.")
    sample_seconds: float = Field(
        gt=0, description="How often they are read while a stage runs; a counter must not come around twice in between."
    )
    most_watts: float = Field(
        gt=0, description="What counts as a counter that was set back, and not as use: more than this machine can draw."
    )
