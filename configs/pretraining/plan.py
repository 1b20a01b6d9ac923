"""The group ``train`` of a run: how its weights are made; files in ``configs/plans``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from configs.sections.training import LossScaleSettings


class _Part(BaseModel):
    """What every part of the plan is."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AdamWPlan(_Part):
    """AdamW (arXiv 1711.05101): of all weights, or beside Muon of the embedding and the norms."""

    learning_rate: float = Field(gt=0, description="The highest step size, between warmup and decay.")
    beta1: float = Field(ge=0, lt=1, description="Memory of the gradient.")
    beta2: float = Field(ge=0, lt=1, description="Memory of the gradient's size.")
    epsilon: float = Field(gt=0, description="Guard against division by zero.")
    weight_decay: float = Field(ge=0, description="How strongly matrices are pulled to zero; norms never are.")


class MuonPlan(_Part):
    """Muon (Jordan et al. 2024; arXiv 2502.16982): of the matrices within the blocks."""

    learning_rate: float = Field(gt=0, description="The highest step size, between warmup and decay.")
    momentum: float = Field(ge=0, lt=1, description="Memory of the gradient.")
    nesterov: bool = Field(description="Whether the momentum looks one step ahead.")
    iterations: int = Field(ge=1, description="Newton-Schulz steps that make a gradient orthogonal.")
    weight_decay: float = Field(ge=0, description="How strongly the matrices are pulled to zero.")


class SpikePlan(_Part):
    """When a loss is a spike, and how often a run goes back for one."""

    factor: float = Field(gt=1, description="A loss above so many times the median of the last ones is a spike.")
    window: int = Field(ge=2, description="Steps of which that median is taken.")
    most: int = Field(ge=0, description="Times that a run goes back to its last good checkpoint before it gives up.")


class Plan(_Part):
    """The budget, the steps, and what is looked at on the way."""

    seed: int = Field(ge=0, description="Decides every random choice: initial weights, order of the text, samples.")
    tokens: int = Field(ge=1, description="Tokens that are trained on, the whole budget.")
    batch: int = Field(ge=1, description="Sequences of each step, over all processes.")
    micro_batch: int = Field(
        ge=1, description="Sequences that a process runs at once: more is faster and takes more memory."
    )
    optimiser: Literal["muon", "adamw"] = Field(description="What moves the matrices; all else is moved by AdamW.")
    adamw: AdamWPlan
    muon: MuonPlan
    warmup_steps: int = Field(ge=0, description="Steps over which the step size grows to its highest.")
    decay_share: float = Field(
        ge=0, le=1, description="Share of the steps, at the end, over which the step size falls (0.2: a fifth)."
    )
    decay_to: float = Field(ge=0, lt=1, description="Share of the highest step size at which the last step arrives.")
    clip: float = Field(gt=0, description="The longest gradient that is used at full length.")
    z_loss: float = Field(ge=0, description="Weight of the squared log of softmax's sum in the loss (0: none).")
    validate_steps: int = Field(ge=1, description="Steps between two looks at the validation text.")
    validation_sequences: int = Field(ge=1, description="Sequences of each look.")
    checkpoint_seconds: float = Field(gt=0, description="Time between two checkpoints.")
    checkpoints_kept: int = Field(ge=1, description="Checkpoints that stay; the oldest goes first.")
    spike: SpikePlan
    sample_steps: int = Field(ge=0, description="Steps between two looks at what the model writes (0: never).")
    sample_tokens: int = Field(ge=1, description="Length of such a sample.")
    sample_temperature: float = Field(ge=0, description="How freely it is drawn (0: the likeliest token each time).")
    sample_prompts: tuple[str, ...] = Field(description="Beginnings that the model goes on from.")
    loss_scale: LossScaleSettings

    def steps(self, context: int) -> int:
        """Steps of the run; the last one makes the budget whole."""
        return -(-self.tokens // (self.batch * context))

    def decay_steps(self, context: int) -> int:
        """Steps at the end over which the step size falls."""
        return round(self.decay_share * self.steps(context))
