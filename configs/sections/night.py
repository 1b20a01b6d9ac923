"""Settings of the part ``training.night``; defaults in ``configs/defaults/training_night.yaml``."""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

_HOUR_MINUTES = 60
_DAY_MINUTES = 24 * _HOUR_MINUTES
_WRITTEN = re.compile(r"([01]?\d|2[0-3]):[0-5]\d")


def _time_of_day(value: Any) -> str:
    """YAML reads 23:00 as the number 1380 (base 60, YAML 1.1), and 07:00 as text: both mean a time of day.

    No time before 1:00 is read as a number, so that 9 is none: whoever writes it means nine o'clock.
    """
    if isinstance(value, int) and not isinstance(value, bool) and _HOUR_MINUTES <= value < _DAY_MINUTES:
        value = f"{value // _HOUR_MINUTES:02d}:{value % _HOUR_MINUTES:02d}"
    if not (isinstance(value, str) and _WRITTEN.fullmatch(value)):
        raise PydanticCustomError("no_time_of_day", 'it must be a time of day, as "23:00"')
    return value


TimeOfDay = Annotated[str, BeforeValidator(_time_of_day)]


class NightSettings(BaseModel):
    """When the shared lessons are trained without anybody asking for it (``enlace trainer run``)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pairs: int = Field(ge=1, description="Shared pairs that no training has judged yet, from which on one is due.")
    private_pairs: int = Field(
        ge=1,
        description="Private ones of a member who wants a training of their own, from which on that is due, after the "
        "family's; it is also due where the family's weights have changed under what it made.",
    )
    quiet_from: TimeOfDay = Field(description="When the quiet hours begin, in which trainings begin by themselves.")
    quiet_to: TimeOfDay = Field(
        description="When they end, and with them a training that began by itself; as quiet_from: they never do."
    )
    mains_only: bool = Field(description="Whether they wait for mains power; a machine without a battery has it.")
    begin_below_celsius: float = Field(
        gt=0, description="None begins while the processor is this warm; where no sensor tells, it is cool."
    )
    stop_above_celsius: float = Field(gt=0, description="One that began by itself is stopped when it is this warm.")
    idle_seconds: float = Field(ge=0, description="How long nobody must have been answered before one begins.")
    look_seconds: float = Field(gt=0, description="How often all of this is looked at.")
    timer_seconds: float = Field(
        gt=0, description="The same where the system's timer looks, as `enlace trainer schedule` sets it up."
    )
    lease_seconds: float = Field(
        gt=0,
        description="A claim of another machine that is not renewed for so long counts as given up; it is renewed four "
        "times as often.",
    )
    documents_seconds: float = Field(
        gt=0, description="How long reading documents may take in one night, before the training; what is read stays."
    )
    retry_seconds: float = Field(
        ge=0,
        description="How long a training that was stopped, or failed, is not begun again by itself; twice as long with "
        "each further failure.",
    )
    retry_longest_seconds: float = Field(
        ge=0, description="But no longer than this, which is also what follows on one that ran out of time."
    )

    @model_validator(mode="after")
    def _cooler_to_begin(self) -> Self:
        if self.begin_below_celsius > self.stop_above_celsius:
            asked = "begin_below_celsius must not be above stop_above_celsius"
            raise PydanticCustomError("begins_hotter_than_it_stops", asked)
        return self
