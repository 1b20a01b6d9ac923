"""Why no training begins by itself right now, or why one that did is stopped; each reason has a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Final

from configs.sections.night import NightSettings
from memory.runs import Run
from trainer.errors import SPENT
from trainer.night.hours import is_quiet
from trainer.night.machine import Machine

SPENT_CODES: Final = frozenset(each.code for each in SPENT)


@dataclass(frozen=True)
class Reason:
    """Codes and facts: few_pairs {pairs, needed}; not_quiet {begin, end}; on_battery; too_warm {celsius, bound};

    answering {quiet_s, needed_s}; paused {who}; trainer_busy; claimed {number}; tried_lately {run, wait_s}, until the
    next may begin.
    """

    code: str
    facts: dict[str, str | int | float] = field(default_factory=dict)


def of_the_house(settings: NightSettings, now: float, machine: Machine, zone: tzinfo | None) -> list[Reason]:
    """What keeps a training from beginning at ``now`` (seconds since 1970), as the clock and the machine say."""
    reasons = lasting(settings, now, machine, zone, settings.begin_below_celsius)
    idle = machine.idle_seconds()
    if idle is not None and idle < settings.idle_seconds:
        reasons.append(Reason("answering", {"quiet_s": round(idle), "needed_s": round(settings.idle_seconds)}))
    return reasons


def lasting(settings: NightSettings, now: float, machine: Machine, zone: tzinfo | None, warmest: float) -> list[Reason]:
    """Those of them that end a training as well. Somebody who asks does not: it gives way to them as it is."""
    reasons = []
    if not is_quiet(now, settings.quiet_from, settings.quiet_to, zone):
        reasons.append(Reason("not_quiet", {"begin": settings.quiet_from, "end": settings.quiet_to}))
    if settings.mains_only and machine.on_mains() is False:
        reasons.append(Reason("on_battery"))
    celsius = machine.celsius()
    if celsius is not None and celsius >= warmest:
        reasons.append(Reason("too_warm", {"celsius": round(celsius), "bound": round(warmest)}))
    return reasons


def tried_lately(settings: NightSettings, now: float, runs: Iterable[Run]) -> list[Reason]:
    """Whether the last of these trainings came to no verdict a short while ago; ``runs``: of one kind, newest first.

    One that was killed could not write its end: nothing has to be waited for, and it is gone on with.
    """
    failures, last = 0, None
    for run in runs:
        last = last or run
        if run.state != "failed":
            break
        failures += 1
    if last is None or last.ended_at is None or last.state not in ("failed", "stopped"):
        return []
    wait = min(settings.retry_seconds * 2 ** max(0, failures - 1), settings.retry_longest_seconds)
    if last.summary.get("code") in SPENT_CODES:
        # It has had its time, or its energy, of this night, or would take more than there is.
        wait = settings.retry_longest_seconds
    passed = now - last.ended_at
    # A clock that was set back makes nobody wait.
    return [Reason("tried_lately", {"run": last.id, "wait_s": round(wait - passed)})] if 0 <= passed < wait else []
