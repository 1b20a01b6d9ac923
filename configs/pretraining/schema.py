"""A whole run: the machine, the shape of the model, how it is trained, and on what."""

from __future__ import annotations

from math import isqrt
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from configs.pretraining.corpus import Corpus
from configs.pretraining.hardware import Hardware
from configs.pretraining.plan import Plan
from configs.pretraining.rules import broken
from configs.pretraining.shape import Shape


class Run(BaseModel):
    """Everything that a run depends on; written down whole with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern="^[a-z0-9][a-z0-9._-]*$", description="What it is called, and its folder.")
    hardware: Hardware
    model: Shape
    train: Plan
    data: Corpus

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return self.train.steps(self.model.context)

    @property
    def step_tokens(self) -> int:
        """Tokens of each step, over all processes."""
        return self.train.batch * self.model.context

    @property
    def accumulated(self) -> int:
        """Micro-batches that each process runs for one step."""
        return self.train.batch // (self.train.micro_batch * self.hardware.processes)

    @property
    def micro_batches(self) -> list[int]:
        """Every micro-batch that a process's share of a step is made of, the smallest first."""
        share = self.train.batch // self.hardware.processes
        halves = [each for each in range(1, isqrt(share) + 1) if share % each == 0]
        return sorted({*halves, *(share // each for each in halves)})

    @model_validator(mode="after")
    def _hold_together(self) -> Self:
        for rule in broken(self):
            raise PydanticCustomError(rule.kind, rule.reason, {"key": rule.key, **rule.facts})
        return self
