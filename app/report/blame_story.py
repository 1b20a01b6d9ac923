"""What a search for the lesson for which a training was held has told of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.runlog import RunEvent, read
from memory.suspects import Suspect

if TYPE_CHECKING:
    from memory.runs import Run


@dataclass(frozen=True)
class Trial:
    """A training without some lessons (ids); ``reasons``: the checks for which the gate would hold it, if any."""

    without: tuple[str, ...]
    passed: bool
    reasons: tuple[str, ...]
    seconds: float


@dataclass
class BlameStory:
    """``blamed``: the run that was held; ``lessons`` (ids): what was found; ``complete``: none of them may stay."""

    run: Run
    blamed: str = ""
    reasons: tuple[str, ...] = ()
    taken_up: str = ""
    suspects: list[Suspect] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    lessons: tuple[str, ...] = ()
    complete: bool = False
    failure: Mapping[str, Any] = field(default_factory=dict)

    def take(self, event: RunEvent) -> None:
        """One more event."""
        facts = event.facts or {}
        match event.kind:
            case "run_started":
                self.blamed, self.reasons = str(facts["blamed"]), tuple(facts["reasons"])
            case "taken_up":
                self.taken_up = str(facts["run"])
            case "suspect":
                self.suspects.append(Suspect(**facts))
            case "trial_done":
                reasons = tuple(facts["reasons"])
                self.trials.append(Trial(tuple(facts["without"]), facts["passed"], reasons, facts["seconds"]))
            case "run_done":
                self.lessons, self.complete = tuple(facts["lessons"]), bool(facts["complete"])
            case "run_failed":
                self.failure = facts


def read_blame(folder: Path, run: Run) -> BlameStory:
    """What the events in ``folder`` say of ``run``."""
    story = BlameStory(run)
    for event in read(folder)[0]:
        story.take(event)
    return story
