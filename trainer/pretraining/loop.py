"""The loop: step after step to the end of the budget, from any instant at which it was ended before.

Between two steps all of it is in a checkpoint: weights, optimisers, the factor of the loss, generators, the place in
the text, and the last losses. A step that was under way is begun anew, so whoever was killed ends with the same bits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trainer.checkpoints import CheckpointFiles, Checkpoints
from trainer.corpus.loader import Loader
from trainer.errors import NoRoom
from trainer.pretraining.errors import TooManySpikes
from trainer.pretraining.looks import Text, sample, validate
from trainer.pretraining.spikes import Losses
from trainer.pretraining.training import Found, Training
from trainer.telling import Tell

End = Literal["done", "stopped"]


@dataclass(frozen=True)
class Around:
    """What a pretraining needs of others: its text, where it is kept, whom it tells, and whether it is to stop.

    ``before_step``: the place to let others go first.
    """

    text: Text
    train: Loader
    validation: Loader
    files: CheckpointFiles
    belongs: str
    tell: Tell
    stopping: Callable[[], bool] = lambda: False
    before_step: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.monotonic


class Pretraining:
    """One run's, carried by ``carry``."""

    def __init__(self, training: Training, around: Around) -> None:
        self._training = training
        self._plan = training.run.train
        self._steps = training.run.steps
        self._around = around
        self._losses = Losses(self._plan.spike)
        self._checkpoints = Checkpoints(
            around.files,
            around.belongs,
            self,
            every_s=self._plan.checkpoint_seconds,
            kept=self._plan.checkpoints_kept,
            together=training.together,
            clock=around.clock,
        )
        self._began = False

    def carry(self) -> End:
        """Train to the end, or to the end of the step in which it is asked to stop; then all of it is on the disk.

        Raises TooManySpikes, and NoRoom where what has to be kept now cannot be.
        """
        step = self._checkpoints.restore(self._training)
        if not self._began:
            # There is one to go back to from now on, and whether there is room for any is known.
            self._checkpoints.write(step, self._training)
        self._tell(
            "begun", step, {"step": step, "steps": self._steps, "parameters": self._training.run.model.parameters}
        )
        while step < self._steps:
            self._around.before_step()
            began = self._around.clock()
            found = self._training.gradient(self._rows())
            if self._astray(found):
                step = self._go_back(step, found)
                continue
            step = self._move(step, found, began)
            self._look(step)
            if self._training.together.first(self._around.stopping()):
                self._checkpoints.write(step, self._training)
                self._tell("stopped", step, {"step": step, "steps": self._steps})
                return "stopped"
            if step == self._steps:
                self._checkpoints.write(step, self._training)
            elif self._training.together.first(self._checkpoints.due):
                self._keep(step)
        self._tell("trained", step, {"step": step, "steps": self._steps})
        return "done"

    def notes(self) -> Mapping[str, Any]:
        """For the checkpoints."""
        return {"text": self._around.train.state(), "losses": self._losses.notes()}

    def take_up(self, notes: Mapping[str, Any], step: int) -> None:
        """For the checkpoints."""
        self._around.train.take_up(notes["text"])
        self._losses.take_up(**notes["losses"])
        self._began = True

    def _rows(self) -> Any:
        return self._around.train.next_batch(self._plan.batch, self._training.run.model.context)

    def _astray(self, found: Found) -> bool:
        """Whether this step must not be taken. An overflow in float16 is none: a smaller factor heals it."""
        forgiven = math.isfinite(found.norm) or self._training.scaler.forgives()
        return not forgiven or self._losses.is_spike(found.loss)

    def _move(self, step: int, found: Found, began: float) -> int:
        moved = self._training.move(step, found)
        self._losses.add(found.loss)
        step += 1
        seconds = self._around.clock() - began
        facts = {
            "step": step,
            "steps": self._steps,
            "epoch": self._around.train.epoch,
            "loss": found.loss,
            "log_sum_squares": found.squares,
            "gradient_norm": found.norm if moved else None,
            "learning_rate_share": self._training.optimiser.share,
            "tokens": step * self._training.run.step_tokens,
            "tokens_per_second": self._training.run.step_tokens / seconds if seconds else 0.0,
            "skipped": not moved,
        }
        if found.loss_scale is not None:
            facts["loss_scale"] = found.loss_scale
        self._tell("step", step, facts)
        return step

    def _look(self, step: int) -> None:
        """Look at unseen text and at what the model writes, where it is time to."""
        plan, last = self._plan, step == self._steps
        if step % plan.validate_steps == 0 or last:
            found = validate(self._training, self._around.validation, self._around.text)
            facts = {"step": step, "loss": found.loss, "bits_per_byte": found.bits}
            self._tell("validation", step, facts)
        together = self._training.together
        if (
            plan.sample_steps
            and (step % plan.sample_steps == 0 or last)
            and (together.place.first or together.lockstep)
        ):
            for prompt in plan.sample_prompts:
                written = sample(self._training, self._around.text, prompt, step)
                self._tell("sample", step, {"step": step, "prompt": prompt, "text": written})

    def _go_back(self, step: int, found: Found) -> int:
        """Be what the last checkpoint was, behind the text that led astray; its step."""
        times, usual = self._losses.times + 1, self._losses.usual
        # As texts: they may be no numbers, for which JSON has nothing.
        told = {"loss": f"{found.loss:.3f}", "usual": "—" if usual is None else f"{usual:.3f}"}
        if self._losses.spent:
            raise TooManySpikes(run=self._training.run.name, step=step + 1, times=times - 1, **told)
        self._training.give_up()
        behind = self._around.train.state()
        back = self._checkpoints.restore(self._training)
        self._around.train.take_up(behind)
        self._losses.times = times
        # Whoever is killed from now on goes on from here, not once more into the same text.
        self._keep(back)
        facts = {"step": step + 1, **told, "gradient_norm": f"{found.norm:.3f}", "to": back, "times": times}
        self._tell("went_back", back, {**facts, "most": self._plan.spike.most})
        return back

    def _keep(self, step: int) -> None:
        """Write a checkpoint; where there is no room now, the older one is whole, and there may be room later."""
        try:
            self._checkpoints.write(step, self._training)
        except NoRoom as error:
            self._checkpoints.put_off()
            self._tell("checkpoint_failed", step, {"step": step, **error.facts})
        else:
            self._tell("checkpoint", step, {"step": step})

    def _tell(self, kind: str, step: int, facts: Mapping[str, Any]) -> None:
        self._around.tell(kind, step / self._steps, facts)
