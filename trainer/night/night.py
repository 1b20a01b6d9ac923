"""Whether a training is due in a home, what keeps it from beginning now, and who may begin it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo

from configs.sections.night import NightSettings
from memory.household import Household
from memory.pausing import paused
from memory.runs import LESSONS
from trainer.night.conditions import Reason, lasting, of_the_house, tried_lately
from trainer.night.machine import Machine
from trainer.night.markers import Claim, Marker, Markers
from trainer.night.members import is_due


@dataclass(frozen=True)
class NightState:
    """``pairs``: shared ones that no training has judged yet; ``preference`` of them have a rejected answer.

    ``needed``: from how many on a training is due. ``marker``: the state of the one that is not completed. ``reasons``:
    all that keeps a training from beginning now; where there is none, the next look begins one.
    """

    pairs: int
    preference: int
    needed: int
    marker: str | None
    reasons: tuple[Reason, ...]


class Night:
    """One home's. ``clock``: seconds since 1970; ``zone``: in which the quiet hours are, this machine's for None."""

    def __init__(
        self,
        settings: NightSettings,
        household: Household,
        markers: Markers,
        machine: Machine,
        clock: Callable[[], float],
        zone: tzinfo | None = None,
    ) -> None:
        self._settings = settings
        self._household = household
        self._markers = markers
        self._machine = machine
        self._clock = clock
        self._zone = zone

    def state(self) -> NightState:
        """How things stand; nothing is changed."""
        lessons = self._household.lessons_unjudged()
        marker = self._markers.open()
        reasons = self._reasons(len(lessons), marker)
        preference = sum(bool(lesson.rejected) for lesson in lessons)
        state = marker.state if marker else None
        return NightState(len(lessons), preference, self._settings.pairs, state, tuple(reasons))

    def look(self) -> tuple[Claim | None, tuple[Reason, ...]]:
        """The claim of a training that is to begin now, or what keeps one from it. Raises NoRoom."""
        marker = self._kept()
        reasons = self.state().reasons
        if reasons or marker is None:
            return None, reasons
        claim = self._markers.claim(marker)
        return claim, () if claim else (_claimed(marker),)

    def look_at_members(self) -> str | None:
        """The id of a member whose own training is to begin now: the family's is not due, or has to be tried later."""
        codes = {reason.code for reason in self.state().reasons}
        if not codes or codes - {"few_pairs", "tried_lately"}:
            return None
        now = self._clock()
        # An encrypted file opens to nobody who does not give its passphrase, and nobody is awake.
        secret_of = self._household.doors.secret_of
        wanting = [
            member.id
            for member in self._household.members.list()
            if member.private_training and secret_of(member.id) != "passphrase"
        ]
        return next((member for member in wanting if is_due(self._household, member, self._settings, now)), None)

    def lasting(self) -> list[Reason]:
        """What a training that began by itself is stopped for now."""
        warmest = self._settings.stop_above_celsius
        return lasting(self._settings, self._clock(), self._machine, self._zone, warmest)

    def _kept(self) -> Marker | None:
        """The marker of a training that is due: written where there is none, completed where it is done with."""
        marker = self._markers.open()
        if marker is not None and self._done_with(marker):
            claim = self._markers.claim(marker)
            if claim is None:
                return marker
            claim.complete()
            marker = None
        # What a training that runs has begun with is none of the next one's business, once it is judged.
        if marker is None and self._household.runs.running() is None:
            pairs = len(self._household.lessons_unjudged())
            if pairs >= self._settings.pairs:
                return self._markers.write(self._clock(), pairs, self._household.runs.last_judged())
        return marker

    def _reasons(self, pairs: int, marker: Marker | None) -> list[Reason]:
        runs = self._household.runs
        reasons = []
        if pairs < self._settings.pairs and (marker is None or self._done_with(marker)):
            reasons.append(Reason("few_pairs", {"pairs": pairs, "needed": self._settings.pairs}))
        if (wish := paused(self._household.home)) is not None:
            reasons.append(Reason("paused", {"who": wish.who}))
        if runs.running() is not None:
            reasons.append(Reason("trainer_busy"))
        elif marker is not None and marker.state == "claimed" and not self._markers.abandoned(marker):
            reasons.append(_claimed(marker))
        now = self._clock()
        reasons += tried_lately(self._settings, now, (run for run in runs.list() if run.kind == LESSONS))
        return reasons + of_the_house(self._settings, now, self._machine, self._zone)

    def _done_with(self, marker: Marker) -> bool:
        """Whether a verdict has come since the marker was written, on all of its pairs, or none of them is left."""
        return marker.judged != self._household.runs.last_judged() or not self._household.lessons_unjudged()


def _claimed(marker: Marker) -> Reason:
    return Reason("claimed", {"number": marker.number})
