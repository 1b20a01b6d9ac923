"""The trainings of one search on disk: what each gave is kept from one run to the next, its weights only while it may
be the best.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

from memory import runlog
from trainer.pipeline.usual import SCORE
from trainer.room import room_at, write_whole
from trainer.run_files import Inputs, RunFiles, read_json, write_json
from trainer.searching.choice import Choice
from trainer.searching.moves import Score, Trial
from trainer.staging import make_folder

FOLDER = "search"  # in a run's
NAMED = 16  # hex digits of a hash in a folder's name
SEARCHED = ("train", "export")  # what each training makes for itself; what is prepared is the same for all


class TrialFiles:
    """Those in the folder of one run. That of the choice ``first`` is the run's own, as if there were no search."""

    def __init__(self, files: RunFiles, first: Choice) -> None:
        self._files = files
        self._first = first

    def of(self, choice: Choice) -> RunFiles:
        """Where the training by ``choice`` lies."""
        return self._files if choice == self._first else RunFiles(self._path(choice, ""))

    def name(self, choice: Choice) -> str:
        """Its folder, as seen from the run's."""
        return str(self.of(choice).folder.relative_to(self._files.folder))

    def begin(self, choice: Choice, inputs: Inputs) -> RunFiles:
        """Make it ready for its stages, with the ``inputs`` of the run. Raises NoRoom."""
        files = self.of(choice)
        if choice != self._first:
            make_folder(files.folder)
            write_json(files.inputs, replace(inputs, choice=choice).as_json())
            write_whole(files.data, self._files.data.read_bytes())
        return files

    def known(self, choice: Choice) -> Trial | None:
        """What it gave, where it came to its end. Raises TrainingDataBroken."""
        path = self._path(choice, ".json")
        if not path.is_file():
            return None
        told = read_json(path)
        return Trial(**{**told, "choice": Choice(**told["choice"]), "score": told["score"] and Score(**told["score"])})

    def keep(self, trial: Trial) -> None:
        """Remember what it gave. Raises NoRoom."""
        write_json(self._path(trial.choice, ".json"), asdict(trial))

    def chosen(self) -> Choice | None:
        """Whose weights are the run's, where that was decided."""
        return Choice(**read_json(self._chosen)) if self._chosen.is_file() else None

    def choose(self, choice: Choice) -> None:
        """Decide so. Raises NoRoom."""
        write_json(self._chosen, choice.as_json())

    def put_in_place(self, inputs: Inputs, choice: Choice) -> Inputs:
        """Make the training by ``choice`` the run's own, with what its stages told, and remove the others.

        The inputs that it is of, which are the run's from then on. Killed in between, it ends the same when called
        again. Raises NoRoom.
        """
        place = self.of(choice)
        if place != self._files:
            self._move(place)
            inputs = replace(inputs, choice=choice)
            write_json(self._files.inputs, inputs.as_json())
        for folder in (self._files.stage(SCORE), *(self._files.folder / FOLDER).glob("*/")):
            shutil.rmtree(folder, ignore_errors=True)
        return inputs

    def _move(self, place: RunFiles) -> None:
        left = [stage for stage in SEARCHED if place.stage(stage).is_dir()]
        with room_at(self._files.folder):
            for event in runlog.read(place.folder)[0] if left else ():
                # How far it was is no longer how far the run is.
                runlog.append(self._files.folder, replace(event, fraction=None))
            for stage in left:
                shutil.rmtree(self._files.stage(stage), ignore_errors=True)
                place.stage(stage).replace(self._files.stage(stage))

    @property
    def _chosen(self) -> Path:
        return self._files.folder / FOLDER / "chosen.json"

    def _path(self, choice: Choice, suffix: str) -> Path:
        name = hashlib.sha256(json.dumps(choice.as_json()).encode()).hexdigest()[:NAMED]
        return self._files.folder / FOLDER / f"{name}{suffix}"
