"""Settings of the part ``training.budget``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class BudgetSettings(BaseModel):
    """What a training may take, and how long its parts may wait."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run_seconds: float = Field(
        gt=0,
        description="A whole training stops without result after this long, and does not begin if it takes longer.",
    )
    run_watt_hours: float = Field(
        gt=0, description="The same of its energy, measured or reckoned (1000: what a kilowatt-hour's price buys)."
    )
    busy_wait_seconds: float = Field(
        ge=0, description="How long one step waits at most while somebody's answer is written."
    )
    busy_poll_seconds: float = Field(gt=0, description="How often a waiting step looks again.")
    checkpoint_seconds: float = Field(
        ge=0, description="How often a training is put on disk; a kill costs it so much (0: after every step)."
    )
    restarts: int = Field(
        ge=0, description="How often a stage whose process died is begun again; it goes on from what is on disk."
    )
    stages_at_once: int = Field(
        ge=1, description="Stages that do not wait for each other and may run at once; each takes memory of its own."
    )
    stop_grace_seconds: float = Field(gt=0, description="How long a worker told to stop may take.")
    report_seconds: float = Field(gt=0, description="How long the report of a training that ended may take to write.")
