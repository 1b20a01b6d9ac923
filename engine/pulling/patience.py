"""How often a connection is made again, and how long is waited before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from configs.sections.pulling import PullSettings
from engine.pulling.errors import HubUnreachable
from engine.pulling.events import Retrying, Tell
from engine.pulling.remote import Dropped


@dataclass(frozen=True)
class Pauses:
    """What waiting needs from outside. ``chance`` gives numbers from 0 to 1, so that many do not come back at once."""

    sleep: Callable[[float], Awaitable[None]]
    chance: Callable[[], float]
    tell: Tell


class Patience:
    """Failures in a row of one connection to ``host``."""

    def __init__(self, host: str, attempts: int, settings: PullSettings, pauses: Pauses) -> None:
        self._host, self._attempts, self._settings, self._pauses = host, attempts, settings, pauses
        self.failures = 0

    def moved(self) -> None:
        """Something new arrived."""
        self.failures = 0

    async def pause(self, failure: Dropped) -> None:
        """Wait before the next try. Raises HubUnreachable where there have been enough."""
        self.failures += 1
        if self.failures >= self._attempts:
            raise HubUnreachable(address=self._host, reason=failure.reason)
        longest = self._settings.longest_backoff_s
        wait = min(longest, self._settings.backoff_s * 2 ** (self.failures - 1)) * (1 + self._pauses.chance()) / 2
        wait = max(wait, min(failure.wait_s, longest))
        self._pauses.tell(Retrying(failure.reason, wait))
        await self._pauses.sleep(wait)
