"""Which of how many processes of a training this one is, told in the environment as torchrun and accelerate tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Where a starter of processes has them meet, in its words.
MEETING = ("MASTER_ADDR", "MASTER_PORT")


@dataclass(frozen=True)
class Place:
    """Process ``rank`` of ``size``, ``here`` of which are on this machine."""

    rank: int = 0
    size: int = 1
    here: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the one that writes files and tells what happens."""
        return self.rank == 0

    def environment(self) -> dict[str, str]:
        """``place_in`` reads it back; all processes are on this machine."""
        told = {"RANK": self.rank, "LOCAL_RANK": self.rank, "WORLD_SIZE": self.size, "LOCAL_WORLD_SIZE": self.here}
        return {name: str(number) for name, number in told.items()}


ALONE = Place()


def environments(count: int, own: Mapping[str, str]) -> list[dict[str, str]]:
    """What each of ``count`` processes finds that are begun on this machine by one whose environment is ``own``.

    Only whoever starts processes by its own means says where they meet; these do so in a file.
    """
    inherited = {name: value for name, value in own.items() if name not in MEETING}
    return [{**inherited, **Place(rank, count, count).environment()} for rank in range(count)]


def begun_by_a_starter(environment: Mapping[str, str]) -> bool:
    """Whether whoever began this process has told it its place."""
    return "RANK" in environment


def place_in(environment: Mapping[str, str]) -> Place:
    """The place that ``environment`` tells; the only process where it tells none."""
    if not begun_by_a_starter(environment):
        return ALONE
    size = int(environment["WORLD_SIZE"])
    return Place(int(environment["RANK"]), size, int(environment.get("LOCAL_WORLD_SIZE", size)))
