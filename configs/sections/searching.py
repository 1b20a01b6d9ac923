"""Settings of what trains several times to find something out; a part of the section ``training``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class SearchSettings(BaseModel):
    """What is searched inside a training beside the weights, starting from what last worked for the base."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: float = Field(
        ge=0,
        description="A training with other numbers is begun only where it ends within so long of the run's beginning; "
        "what is measured at the end comes on top (0: no search, and the recipe's own numbers always).",
    )
    enough: float = Field(
        gt=0,
        le=1,
        description="Share of right answers that ends the search: to the questions of the lessons and of what was "
        "known before, and in wordings that the gate does not use.",
    )
    within: float = Field(
        gt=0,
        le=1,
        description="Share of the gate's bound on the KL that a training has to keep to be preferred.",
    )
    wordings: int = Field(ge=0, description="Untrained wordings of each question by which trainings are compared.")
    prompts: int = Field(ge=1, description="Unrelated prompts on which their KL from the base is compared.")
    rate_factor: float = Field(gt=1, description="By how much the learning rate is multiplied or divided.")
    epochs_step: int = Field(ge=1, description="How many epochs more or fewer.")
    rank_factor: int = Field(ge=2, description="By how much the rank is multiplied or divided.")


class BlameSettings(BaseModel):
    """How the lesson is searched for that made the gate hold a training (``enlace train blame``)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: float = Field(ge=0, description="No further training is begun that would end after this long.")
    alike: float = Field(
        gt=0,
        le=1,
        description="Share of their questions' words that two lessons have in common when their answers are compared.",
    )
