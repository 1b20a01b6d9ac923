"""What a step made is kept, and taken again where it would make the same: nothing is done twice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from configs.errors import EnlaceError
from memory import runlog
from memory.artifacts import ArtifactStore
from memory.made import Made, MadeRecords
from memory.runlog import RunEvent
from trainer.errors import NoRoom
from trainer.pipeline.graph import Graph
from trainer.pipeline.keys import key_of
from trainer.pipeline.sources import graph_for, sources_of, taken_by
from trainer.room import room_at, write_whole
from trainer.run_files import Inputs, RunFiles, write_json

REPORT, EVENTS = "report.json", "events.jsonl"


class Kept:
    """In the store of one home, or of one member's part of it."""

    def __init__(self, records: MadeRecords, artifacts: ArtifactStore) -> None:
        self._records = records
        self._artifacts = artifacts

    def take(self, stage: str, files: RunFiles, inputs: Inputs) -> Made | None:
        """Put into a run's folder what the stage would make there, with what it told; None where nobody made it yet.

        Its report comes last, so that a kill leaves a stage that is not done. Raises ArtifactChanged, NoRoom,
        TrainingDataBroken.
        """
        made = self._records.find(self._key(stage, files, inputs))
        if made is None:
            return None
        content = {name: self._artifacts.read_bytes(digest) for name, digest in made.files.items()}
        self._tell_again(content.pop(EVENTS), files)
        report = json.loads(content.pop(REPORT))
        for name, held in content.items():
            write_whole(files.stage(stage) / name, held)
        write_json(files.report(stage), {**report, "made_by": made.run})
        return made

    def keep(self, stage: str, files: RunFiles, inputs: Inputs) -> None:
        """Keep what the stage has left in a run's folder. Raises ArtifactChanged, NoRoom, TrainingDataBroken."""
        lessons = [each.id for each in (*inputs.lessons, *inputs.known)]
        lessons += [each.id for each in inputs.dropped] + [each.id for each in inputs.ratings]
        path = files.stage(stage) / graph_for(inputs).step(stage).stage.file
        told = (json.dumps(asdict(event)) for event in runlog.read(files.folder)[0] if event.stage == stage)
        events = "".join(f"{line}\n" for line in told).encode()
        left: dict[str, Path | bytes] = {path.name: path, REPORT: files.report(stage), EVENTS: events}
        try:
            self._records.keep(self._key(stage, files, inputs), stage, inputs.run, left, lessons)
        except (OSError, EnlaceError) as error:
            reason = str(getattr(error, "strerror", None) or getattr(error, "facts", {}).get("reason") or error)
            raise NoRoom(path=str(files.stage(stage)), reason=reason) from error

    def known(self, inputs: Inputs) -> Mapping[str, Made]:
        """The stages of a run that is not begun whose results are there already."""
        return known_outputs(graph_for(inputs), inputs, self._records)

    def _key(self, stage: str, files: RunFiles, inputs: Inputs) -> str:
        step = graph_for(inputs).step(stage)
        takes = taken_by(step, files, inputs)
        return key_of(step, inputs, {argument: artifact.sha256 for argument, artifact in takes.items()})

    def _tell_again(self, content: bytes, files: RunFiles) -> None:
        with room_at(files.folder):
            for line in content.splitlines():
                runlog.append(files.folder, RunEvent(**json.loads(line)))


def known_outputs(graph: Graph, inputs: Inputs, records: MadeRecords) -> Mapping[str, Made]:
    """Of the steps of a run that is not begun, those whose results are there already, by name."""
    known, digests = {}, {name: artifact.sha256 for name, artifact in sources_of(inputs).items()}
    for step in graph.steps:
        if not all(source in digests for source in step.takes.values()):
            continue
        takes = {argument: digests[source] for argument, source in step.takes.items()}
        if (made := records.find(key_of(step, inputs, takes))) is not None:
            known[step.name] = made
            digests[step.name] = made.files[step.stage.file]
    return known
