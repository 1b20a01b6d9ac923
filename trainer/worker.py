"""One stage of one run, as a process of its own: ``python -m trainer.worker STAGE RUN_DIR [PARENT]``. Files only.

PARENT is the process that it ends with. Whoever starts it names itself, since a starter that is killed while this
process still imports would not be its parent any more when it comes to ask; without it, whoever is the parent then.

Several processes train together where torchrun or accelerate starts them, which tell each its number in the
environment: ``torchrun --nproc-per-node N -m trainer.worker train RUN_DIR``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from configs.errors import EnlaceError
from memory import runlog
from memory.runlog import RunEvent
from trainer.courtesy import Courtesy, die_with, step_back
from trainer.errors import NoRoom, ProcessLost
from trainer.pipeline.sources import graph_for, taken_by
from trainer.pipeline.stages import STAGES
from trainer.place import Place, place_in
from trainer.plan import SHARED_OUT, share_of_run
from trainer.resident import peak_resident_bytes
from trainer.run_files import RunFiles, read_inputs, write_json
from trainer.stages.context import StageContext


def main(arguments: list[str]) -> int:
    """Run a stage; 0 when its result is there, 1 when ``error.json`` says why not, 2 for wrong usage."""
    if len(arguments) not in (2, 3) or arguments[0] not in STAGES or not all(map(str.isdigit, arguments[2:])):
        sys.stderr.write(f"python -m trainer.worker {'|'.join(STAGES)} RUN_DIR [PARENT]\n")
        return 2
    stage, files, place = arguments[0], RunFiles(Path(arguments[1])), place_in(os.environ)
    if place.size > 1 and stage not in SHARED_OUT:
        sys.stderr.write(f"of the stages, only {', '.join(SHARED_OUT)} runs in several processes\n")
        return 2
    die_with(int(arguments[2]) if len(arguments) == 3 else os.getppid())
    try:
        files.stage(stage).mkdir(parents=True, exist_ok=True)
        _run(stage, files, place)
    except ProcessLost as error:
        # Why is for the lost one to say. Where it was killed, nothing is wrong with the stage: it can be begun again.
        sys.stderr.write(json.dumps(_told(error)) + "\n")
        return 1
    except EnlaceError as error:
        write_json(files.error(stage), _told(error))
        return 1
    except OSError as error:
        refused = NoRoom(path=str(error.filename or files.folder), reason=error.strerror or str(error))
        write_json(files.error(stage), _told(refused))
        return 1
    return 0


def _told(error: EnlaceError) -> dict[str, Any]:
    return {"code": error.code, "facts": error.facts}


def _run(stage: str, files: RunFiles, place: Place) -> None:
    inputs = read_inputs(files)
    budget = inputs.training.budget
    if inputs.training.idle_priority:
        step_back()
    start = time.monotonic()

    def emit(kind: str, share: float, facts: Mapping[str, Any]) -> None:
        if place.first:
            runlog.append(files.folder, RunEvent(time.time(), kind, stage, share_of_run(stage, share), facts))

    courtesy = Courtesy(inputs.busy_flag, longest=budget.busy_wait_seconds, poll=budget.busy_poll_seconds)
    context = StageContext(files, inputs, emit, courtesy, place)
    emit("stage_started", 0.0, {})
    step = graph_for(inputs).step(stage)
    made = step.stage.function(context, **taken_by(step, files, inputs))
    if not place.first:
        return
    # When it began by the system's clock tells its supervisor how much of its time it was held.
    report: dict[str, Any] = {"seconds": time.monotonic() - start, "began": start, "waited": courtesy.waited}
    report |= {"peak_bytes": peak_resident_bytes(), "output": made.sha256}
    report |= context.report
    write_json(files.report(stage), report)
    emit("stage_done", 1.0, report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
