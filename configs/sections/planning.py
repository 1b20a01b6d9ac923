"""Settings of ``training.estimate``, ``preflight`` and ``tolerance``: before a training, and doing it again."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class EstimateSettings(BaseModel):
    """By what it is reckoned before a training what it will take."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    flops_per_second: float = Field(
        gt=0, description="Operations a second of a stage, as long as no training here has shown how many there are."
    )
    watts: float = Field(gt=0, description="What the machine draws while it trains, where nothing measures it.")
    characters_a_token: float = Field(gt=0, description="Letters that one token stands for, about.")
    turn_tokens: int = Field(ge=0, description="Tokens that the chat template puts around each turn, about.")


class PreflightSettings(BaseModel):
    """How a run of pretraining is tried before it begins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: float = Field(gt=0, description="How long steps of a trial are measured; one is, however long it takes.")
    micro_batches: int = Field(
        ge=1, description="Micro-batches of a trial's step at most; a longer one is reckoned from it."
    )
    most_trials: int = Field(ge=2, description="Trials at most, in search of the largest that fits.")
    patience_seconds: float = Field(gt=0, description="How long processes of a trial wait for each other.")
    poll_seconds: float = Field(gt=0, description="How often the memory of a trial is looked at while it runs.")


class ToleranceSettings(BaseModel):
    """How near the numbers of a training that is done again have to come to those of its manifest."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    absolute: float = Field(ge=0, description="As much apart is as good as the same.")
    relative: float = Field(ge=0, description="And so much of the number itself (0.05: 5 %).")
