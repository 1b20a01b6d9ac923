"""Settings of ``engine.form``: the form in which a model is served; defaults in ``configs/defaults/engine.yaml``."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

WeightType = Literal["f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"]


class FormRecipe(BaseModel):
    """How a form is made of a model's file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: WeightType = Field(description="How the weights of this form are written.")
    tensors: dict[str, WeightType] = Field(
        description="Weights that are written in another way: a regular expression for their names, and how."
    )

    @field_validator("tensors")
    @classmethod
    def _compile(cls, tensors: dict[str, WeightType]) -> dict[str, WeightType]:
        for pattern in tensors:
            try:
                re.compile(pattern)
            except re.error as error:
                told = {"pattern": pattern, "because": str(error)}
                raise PydanticCustomError(
                    "no_regular_expression", "{pattern} is no regular expression: {because}", told
                ) from error
        return tensors


class FormSettings(BaseModel):
    """The form in which a model is served."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tried: dict[str, FormRecipe] = Field(description="By name, the forms that are tried beside the file as pulled.")
    most_loss: float = Field(ge=0, description="Nats a token that a form may lose against the file as pulled, at most.")
    least_gain: float = Field(
        ge=0, description="How much faster than what there is something must be to take its place (0.05: 5 %)."
    )
    rounds: int = Field(ge=1, description="How often each speed is measured, in turn; the median counts.")
    read_tokens: int = Field(ge=16, description="Tokens of a prompt that are read in each measurement.")
    written_tokens: int = Field(ge=4, description="Tokens that are written after it.")
    turn_read_tokens: int = Field(
        ge=1, description="Tokens read in a usual turn: with the next setting, what the speeds are weighed by."
    )
    turn_written_tokens: int = Field(ge=1, description="Tokens written in a usual turn.")
    thread_shares: list[float] = Field(description="Numbers of threads that are tried, as shares of the cores.")
    chunks: list[int] = Field(description="Values of engine.prompt_chunk that are tried.")
    longest_step_s: float = Field(
        gt=0, description="How long one chunk of a prompt may take, at most: so long everybody else waits."
    )
    layer_shares: list[float] = Field(
        description="Shares of the layers that are tried on an accelerator, where there is one."
    )
    steady_tokens: int = Field(
        ge=8,
        description="Tokens with which it is tested that an answer depends neither on how its prompt was cut nor on "
        "who else is answered.",
    )
    loss_tokens: int = Field(ge=16, description="The longest piece of text that the loss is measured on, in tokens.")
    child_timeout_s: float = Field(gt=0, description="How long one measurement may take before it is given up.")
    merge: bool = Field(description="Whether a new snapshot's adapters are merged into the weights in the background.")
    merged_type: Literal["q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "f16"] = Field(
        description="How merged weights are written."
    )
    most_adapter_loss: float = Field(
        ge=0, description="Nats a token that an adapter may lose by a form or by being merged, at most."
    )
    merged_least_gain: float = Field(
        gt=-1,
        description="How much faster merged weights must be than the adapters over the weights to be served (0.05: "
        "5 %; below 0 they may be slower).",
    )
    take_up_poll_s: float = Field(
        gt=0, description="How often a fitted snapshot looks whether nobody is being answered, to be taken up then."
    )
    merged_kept: int = Field(ge=1, description="How many snapshots' merged weights are kept, the newest.")
