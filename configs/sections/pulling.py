"""Settings of ``engine.pull``: how models are downloaded; defaults in ``configs/defaults/engine.yaml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class PullSettings(BaseModel):
    """How models are downloaded."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    connections: int = Field(
        ge=1, le=16, description="Parts of a model that are fetched at the same time, where the server allows it."
    )
    part_mb: int = Field(ge=1, description="Size of such a part, in MB.")
    first_attempts: int = Field(ge=1, description="How often a server that cannot be reached is tried at the start.")
    attempts: int = Field(
        ge=1, description="How often in a row a connection may fail without bringing anything new, once it has begun."
    )
    backoff_s: float = Field(ge=0, description="The wait after the first failure; it doubles with every further one.")
    longest_backoff_s: float = Field(ge=0, description="The longest of these waits.")
    connect_timeout_s: float = Field(gt=0, description="How long a server may take to accept a connection.")
    stall_timeout_s: float = Field(gt=0, description="How long nothing may arrive before the connection is made anew.")
    redirects: int = Field(ge=0, description="How many redirects are followed.")
    fresh_starts: int = Field(
        ge=0, description="How often a download starts again because the file changed or arrived damaged."
    )
    checkpoint_s: float = Field(
        gt=0, description="How often it is written down what has arrived: the most that a power cut loses."
    )
    progress_s: float = Field(gt=0, description="How often a terminal is shown how far it is.")
    line_s: float = Field(gt=0, description="The same where there is no terminal: a line each time.")
    rate_window_s: float = Field(gt=0, description="The time over which the speed is measured.")
    lock_poll_s: float = Field(gt=0, description="How often it is looked whether another download of the model ended.")
    disk_reserve_mb: int = Field(ge=0, description="Disk space that a new model must leave free.")
    cpu_model_mb: int = Field(
        ge=1,
        description="The largest model that is recommended where the processor alone computes: a larger one would "
        "answer too slowly to talk with.",
    )
