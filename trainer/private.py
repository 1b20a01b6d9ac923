"""A member's private lessons, trained over what the family is served, for that member's answers alone.

Everything that holds their words, or was made of them, lies in the member's part of the home.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from configs.home import Home
from configs.settings import Settings
from engine.served import AdapterFile
from memory.entrance_errors import TrainedInTheOpen
from memory.errors import ArtifactDamaged, ArtifactMissing
from memory.household import Household
from memory.numbered import number_in
from memory.private import PrivateTraining
from memory.runs import PRIVATE, run_folder
from memory.snapshots import Snapshot
from trainer.admission import sorted_out
from trainer.beginning import inputs_of, known_recipe, start_of, with_what_worked
from trainer.defence import family_lessons
from trainer.errors import NothingPrivate, NothingPrivateLeft, PrivateTrainingOff
from trainer.gate import Verdict
from trainer.learned import learned
from trainer.pipeline.kept import Kept
from trainer.ratings import latest_opinions
from trainer.run_files import Inputs, RunFiles, write_json
from trainer.settling import settled


class PrivateLearning:
    """The private lessons of a member (a name or an id).

    Raises MemberUnknown, PrivateTrainingOff, and TrainedInTheOpen of one whose file is encrypted.
    """

    kind = PRIVATE

    def __init__(self, home: Home, settings: Settings, household: Household, member: str) -> None:
        self._home = home
        self._settings = settings
        self._household = household
        found = household.members.get(member)
        if household.doors.secret_of(found.id) == "passphrase":
            raise TrainedInTheOpen(name=found.name)
        if not found.private_training:
            raise PrivateTrainingOff(name=found.name)
        self.member = found.id
        self._private: PrivateTraining = household.member(found.id).private
        self.kept = Kept(self._private.made, self._private.artifacts)

    def begin(self, run: str, recipe: str, files: RunFiles) -> Inputs:
        """Raises RecipeUnknown, NothingPrivate, NothingPrivateLeft, BaseReplaced, ModelMissing, ModelBroken,
        NotTrainable, ShapeNotTrainable, ArtifactMissing, ArtifactDamaged, NoRoom.
        """
        numbers = known_recipe(self._settings, recipe)
        corrections = self._private.corrections()
        kept, dropped = sorted_out(corrections, numbers)
        if not corrections and (left := self._private.leave()) is not None:
            # All that it learned was taken back: so it answers no longer, and there is nothing in its place.
            raise NothingPrivateLeft(adapter=left.id)
        if not kept:
            raise NothingPrivate(dropped=len(dropped))
        ratings = latest_opinions(self._private.ratings()) if numbers.rating_weight else []
        start = start_of(self._home, self._settings, self._household)
        own = {lesson.id for lesson in kept}
        # Where the family was taught another answer to the same question, the member's own counts for them.
        shared, _ = family_lessons(self._household, self._settings.training.defence, numbers)
        counting, _ = settled([*shared, *kept])
        inputs = replace(
            inputs_of(self._home, self._settings, start, run, recipe, kept, dropped, ratings),
            current_adapters=(*start.adapters, *self._answering(start.snapshot)),
            cache=self._home.of_member(self.member).cache,
            member=self.member,
            beneath=start.adapters,
            known=tuple(lesson for lesson in counting if lesson.id not in own),
        )
        self._private.give(run, [*own, *(rating.id for rating in ratings), *(lesson.id for lesson in dropped)])
        # What is measured of the family's lessons is in this run's files too, and leaves them with the lesson.
        self._household.runs.give(run, [lesson.id for lesson in inputs.known])
        inputs = with_what_worked(inputs, self._household, self._household.runs.get(run))
        write_json(files.inputs, inputs.as_json())
        return inputs

    def taken_back(self, run: str) -> frozenset[str]:
        # The family's lessons are replayed in it, so it would go on knowing those as well.
        found = (self._private.taken_back(), self._household.runs.taken_back())
        return frozenset().union(*(each.get(run, frozenset()) for each in found))

    def promote(
        self, inputs: Inputs, adapter: Path, verdict: Verdict, who: str, on_record: Callable[[str], object]
    ) -> str:
        """In force for the member's next question; nothing that others are answered with changes."""
        over = self._household.snapshots.get(inputs.current)
        files = RunFiles(run_folder(self._home, self._household.runs.get(inputs.run)))
        known = learned(files, inputs.lessons, self._private.corrections())
        made = self._private.promote(adapter, over, inputs.run, verdict.as_json()).id
        self._private.learned.record(number_in(made, "p"), known)
        # Another database than the one that has the runs: killed in between, the member is answered by it all the same,
        # and whoever opens their file next puts the run on record by that.
        on_record(made)
        return made

    def forget_withdrawn(self) -> tuple[str, ...]:
        own, shared = self._household.forget_private(self.member), self._household.forget_withdrawn()
        return tuple(dict.fromkeys([*own, *shared]))

    def _answering(self, snapshot: Snapshot) -> tuple[AdapterFile, ...]:
        """What answers the member now beside the family's; none where it cannot be read, which this run makes good."""
        record = self._private.answering(snapshot)
        with contextlib.suppress(ArtifactMissing, ArtifactDamaged, OSError):
            if record is not None:
                return (AdapterFile(self._private.path(record.sha256), 1.0),)
        return ()
