"""What every stage is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.scoring import LocalModel
from engine.served import AdapterSet, adapter_file
from trainer.courtesy import Courtesy
from trainer.pipeline.artifacts import BaseWeights, ServedWeights
from trainer.place import ALONE, Place
from trainer.run_files import Inputs, RunFiles

Emit = Callable[[str, float, Mapping[str, Any]], None]


@dataclass
class StageContext:
    """``emit(kind, share, facts)``: an event, ``share`` of the stage done. ``report``: what it says when it ends.

    ``place``: which of the stage's processes this is; only the first writes files.
    """

    files: RunFiles
    inputs: Inputs
    emit: Emit
    pause: Courtesy
    place: Place = ALONE
    report: dict[str, Any] = field(default_factory=dict)

    def served_model(self, base: BaseWeights) -> LocalModel:
        """What the run trains over, as it is served, with nothing over that. Raises what LocalModel raises."""
        training = self.inputs.training
        served = LocalModel(
            base.path,
            self.inputs.engine,
            context_size=self.measured_tokens,
            threads=self.inputs.threads,
            slots=training.evaluation.side_by_side,
            pause=self.pause,
        )
        try:
            served.set_adapters(base.adapters)
        except Exception:
            served.close()
            raise
        return served

    def candidate(self, base: BaseWeights, trained: ServedWeights) -> AdapterSet:
        """What was trained, over what it was trained over, each with its route. Raises AdapterMismatch."""
        return tuple(adapter_file(file.path, file.scale) for file in (*base.adapters, *trained.adapters))

    @property
    def measured_tokens(self) -> int:
        """The longest prompt and answer that are measured."""
        return self.inputs.training.longest_pair_tokens + self.inputs.training.evaluation.answer_tokens
