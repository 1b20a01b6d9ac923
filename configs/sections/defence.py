"""Settings of what of the family's lessons is trained; a part of the section ``training``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class DefenceSettings(BaseModel):
    """What keeps one member, or one answer taught many times, from deciding what everybody is answered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    most_a_member: int = Field(
        ge=1, description="New corrections of one member that a training takes; the others wait for the next one."
    )
    alike: float = Field(
        gt=0,
        le=1,
        description="Share of their words that two questions with one answer have in common to count as one lesson.",
    )
