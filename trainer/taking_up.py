"""A run that was interrupted is taken up by the next one that starts from the same; what it did is not done again."""

from __future__ import annotations

from typing import Any

from memory import runlog
from memory.runs import Run, Runs
from trainer.errors import SPENT, NoRoom, StageDied, TrainingDataBroken
from trainer.plan import STAGES
from trainer.room import room_at
from trainer.run_files import RunFiles, discard_checkpoints, read_json
from trainer.searching.trials import FOLDER

# Of the settings: when a run begins, what it may take and how that is reckoned, and what is done after it.
NO_PART = ("night", "budget", "estimate", "energy", "blame")
# Failures that came from outside: what was done before them is as good as ever.
FROM_OUTSIDE = (StageDied.code, NoRoom.code, *(each.code for each in SPENT))


def take_up(runs: Runs, run: Run, files: RunFiles) -> str | None:
    """Move what the run before ``run`` left into ``files``, whose inputs are written; its id, or None for none.

    What its stages told is told again, so that the log of the run that comes to its end holds the whole story.

    Only the last training that came to a beginning, and only where it was killed, stopped, or failed for a reason from
    outside, and started from the same to the letter; else its checkpoints are removed, which nobody will take up any
    more. Raises NoRoom.
    """
    earlier = _before(runs, run, files)
    if earlier is None:
        return None
    left = RunFiles(files.folder.with_name(earlier.id))
    with room_at(files.folder):
        if not (_interrupted(earlier) and start_of(left) == start_of(files)):
            discard_checkpoints(left)
            return None
        # What took longest first: killed in between, this run has that, and makes the rest again.
        for stage in (FOLDER, *reversed(STAGES)):
            if left.stage(stage).is_dir():
                left.error(stage).unlink(missing_ok=True)
                left.stage(stage).replace(files.stage(stage))
        for event in runlog.read(left.folder)[0]:
            if event.stage:
                runlog.append(files.folder, event)
    return earlier.id


def _before(runs: Runs, run: Run, files: RunFiles) -> Run | None:
    """The run before, or, of those that ended before they wrote what they start from, the last one that did."""
    earlier = runs.before(run)
    while earlier and earlier.state in ("stopped", "failed"):
        if RunFiles(files.folder.with_name(earlier.id)).inputs.is_file():
            break
        earlier = runs.before(earlier)
    return earlier


def _interrupted(run: Run) -> bool:
    return run.state == "stopped" or (run.state == "failed" and run.summary.get("code") in FROM_OUTSIDE)


def start_of(files: RunFiles) -> dict[str, Any]:
    """All that a run depends on; nothing of one that came to no beginning.

    By which numbers it trained follows from that: those that it began with do, and what it found. Not so how much it
    may take: one that had too little is to go on where there is more.
    """
    try:
        found = {key: value for key, value in read_json(files.inputs).items() if key not in ("run", "choice")}
    except TrainingDataBroken:
        return {}
    training = {key: value for key, value in found.get("training", {}).items() if key not in NO_PART}
    return {**found, "training": training}
