"""A training in several processes: each computes its share of every step, and all sum what they found.

Data parallel (arXiv 2006.15704): every process holds the whole adapter, and takes the same step from the same sum.
The sum is one reduction of one flat tensor. DistributedDataParallel cuts it in an order that it finds anew after each
start, and so would round otherwise after a kill than without (docs/decisions/training-in-several-processes.md).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TypeVar

import psutil
import torch
import torch.distributed as dist

from configs.sections.training import DistributionSettings
from trainer import place as places
from trainer.errors import ProcessLost, SharesDoNotFit
from trainer.place import Place

T = TypeVar("T")
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Together:
    """The processes of one training, seen from one of them. ``shares``: how much of the work each does, as numbers.

    ``lockstep``: each needs all others in every forward, so that all have to do as many.
    """

    place: Place
    shares: tuple[float, ...]
    lockstep: bool = False

    def cut(self, sizes: Sequence[int]) -> list[slice]:
        """Work of these ``sizes``, in its order, as one slice for each process, by the shares."""
        whole = sum(self.shares)
        ends = [share / whole for share in accumulate(self.shares)]
        total, done, cuts = sum(sizes), 0, [0]
        for place, size in enumerate(sizes):
            # Whoever's share the middle of a piece lies in does it.
            while (done + size / 2) / total > ends[len(cuts) - 1] and len(cuts) < len(self.shares):
                cuts.append(place)
            done += size
        cuts += [len(sizes)] * (len(self.shares) + 1 - len(cuts))
        return [slice(start, stop) for start, stop in pairwise(cuts)]

    def mine(self, groups: Iterable[T]) -> Iterator[tuple[T, bool]]:
        """Those of ``groups`` that are this process's, in turn, and whether their results count.

        In lockstep, whoever has none left does the last once more for the others' sake.
        """
        listed, size = list(groups), self.place.size
        for start in range(0, len(listed), size):
            number = start + self.place.rank
            if number < len(listed):
                yield listed[number], True
            elif self.lockstep:
                yield listed[-1], False

    def gathered(self, found: T) -> list[T]:
        """What each process found, in the order of the processes."""
        if self.place.size == 1:
            return [found]
        all_found: list[T | None] = [None] * self.place.size
        dist.all_gather_object(all_found, found)
        return [each for each in all_found if each is not None]

    def first(self, found: T) -> T:
        """What the first process found; of the others, ``found`` is not looked at."""
        if self.place.size == 1:
            return found
        told = [found]
        dist.broadcast_object_list(told, src=0)
        return told[0]

    def sum_gradients(self, parameters: Sequence[torch.Tensor]) -> None:
        """Make the gradient of ``parameters`` the sum of all processes' gradients, the same to the bit in each."""
        if self.place.size == 1:
            return
        found = [torch.zeros_like(each) if each.grad is None else each.grad for each in parameters]
        flat = torch.cat([each.reshape(-1) for each in found])
        dist.all_reduce(flat)
        for parameter, summed in zip(parameters, flat.split([each.numel() for each in found]), strict=True):
            parameter.grad = summed.view_as(parameter)


ALONE = Together(places.ALONE, (1.0,))


@contextmanager
def joined(
    place: Place,
    settings: DistributionSettings,
    meeting: Path,
    seconds: float,
    *,
    lockstep: bool = False,
    backend: str = "gloo",
) -> Iterator[Together]:
    """Join the other processes; they wait for each other for ``seconds`` at most. ``backend``: torch's, of the sums.

    Where no starter has said at which address they meet (torchrun and accelerate do), they meet in the file
    ``meeting``, and then nothing listens but on this machine itself. Raises SharesDoNotFit, and ProcessLost where one
    of the others has ended.
    """
    shares = settings.shares or (1.0,) * place.size
    if len(shares) != place.size:
        raise SharesDoNotFit(shares=len(shares), processes=place.size)
    if place.size == 1:
        yield ALONE
        return
    if all(name in os.environ for name in places.MEETING):
        where = "env://"
    else:
        where = meeting.absolute().as_uri()
        os.environ["GLOO_SOCKET_IFNAME"] = _loopback()
    try:
        dist.init_process_group(
            backend, where, timeout=timedelta(seconds=seconds), rank=place.rank, world_size=place.size
        )
        yield Together(place, tuple(shares), lockstep)
    except RuntimeError as error:
        if not isinstance(error, dist.DistError) and "gloo" not in str(error):
            raise
        raise ProcessLost(process=place.rank, processes=place.size, reason=str(error)) from error
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def _loopback() -> str:
    """The name of the network interface that leads nowhere else."""
    return next(
        name for name, found in psutil.net_if_addrs().items() if any(each.address == LOOPBACK for each in found)
    )
