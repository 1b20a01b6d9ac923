"""AdamW (arXiv 1711.05101) over torch's fused kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch.autograd.graph import increment_version
from torch.optim.adamw import adamw

# torch's names of what is kept of each parameter: a count of steps and the two moments.
STEP, MEAN, SQUARE = "step", "exp_avg", "exp_avg_sq"


class AdamWNumbers(Protocol):
    """What the settings of an AdamW hold."""

    @property
    def learning_rate(self) -> float: ...
    @property
    def beta1(self) -> float: ...
    @property
    def beta2(self) -> float: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...


class OneGroup(torch.optim.Optimizer):
    """What a GradScaler takes for an optimiser, and nothing of what torch's own keep beside their state."""

    def __init__(self, parameters: Sequence[torch.Tensor]) -> None:
        super().__init__(parameters, {})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """The one group, which a GradScaler goes through."""
        self.param_groups.append(param_group)


class Moving(OneGroup):
    """The trained ``parameters``, moved at the ``rate`` that was set last by what is kept of each."""

    def __init__(self, parameters: Sequence[torch.Tensor], rate: float) -> None:
        super().__init__(parameters)
        self.rate = rate
        self._parameters = list(parameters)

    def clear_gradients(self) -> None:
        """Forget the gradients, and their memory."""
        for parameter in self._parameters:
            parameter.grad = None

    def kept(self) -> dict[int, dict[str, torch.Tensor]]:
        """What is kept of each parameter, by its place."""
        places = enumerate(self._parameters)
        return {place: self.state[each] for place, each in places if each in self.state}

    def take_up(self, kept: Mapping[int, Mapping[str, torch.Tensor]]) -> None:
        """Go on from what was kept, and from nothing else."""
        self.state.clear()
        for place, state in kept.items():
            self.state[self._parameters[place]] = dict(state)


class AdamW(Moving):
    """The trained ``parameters``, moved by their gradients.

    As ``torch.optim.AdamW`` with ``fused=True`` does, to the bit. That one imports torch's compiler, which nothing here
    uses: a second and 70 MB of each training.
    """

    def __init__(self, parameters: Sequence[torch.Tensor], settings: AdamWNumbers) -> None:
        super().__init__(parameters, settings.learning_rate)
        self._settings = settings

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move every parameter that has a gradient."""
        moved = [each for each in self._parameters if each.grad is not None]
        for parameter in moved:
            if parameter not in self.state:
                zeros = {name: torch.zeros_like(parameter) for name in (MEAN, SQUARE)}
                self.state[parameter] = {STEP: torch.zeros(()), **zeros}
        kept = [self.state[parameter] for parameter in moved]
        with torch.no_grad():
            adamw(
                moved,
                [each.grad for each in moved if each.grad is not None],
                [each[MEAN] for each in kept],
                [each[SQUARE] for each in kept],
                [],
                [each[STEP] for each in kept],
                fused=True,
                amsgrad=False,
                beta1=self._settings.beta1,
                beta2=self._settings.beta2,
                lr=self.rate,
                weight_decay=self._settings.weight_decay,
                eps=self._settings.epsilon,
                maximize=False,
            )
        # The fused kernel does not say that it changed them, and whoever keeps them in another format has to know.
        increment_version(moved)
