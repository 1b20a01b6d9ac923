"""The current snapshot's adapters, fitted to the form in which its model is served; what comes of it goes on record.

What the snapshot is does not change: its name, its adapters, the way back from it. Where merging fails, loses too
much, is slower, or is interrupted, the adapters go on being applied over the weights.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from configs.errors import EnlaceError, Reported
from configs.home import Home
from configs.locks import take_lock
from configs.sections.forms import FormSettings
from configs.settings import Settings
from engine.catalogue import model_path
from engine.client import EngineClient
from engine.fingerprint import remember_sha256
from engine.forms.machine import fingerprint
from engine.forms.records import (
    AS_PULLED,
    PRUNED,
    AdaptedRecord,
    FormRecord,
    adapters_key,
    folder,
    list_adapted,
    read_adapted,
    read_form,
    write_adapted,
)
from engine.served import adapter_file
from memory.household import Household
from memory.snapshots import Snapshot
from trainer.admission import sorted_out
from trainer.beginning import known_recipe
from trainer.errors import BaseReplaced, RunStopped, StageDied, StageOverBudget
from trainer.fitting.worker import ERROR, MERGED, REPORT, TASK, FitTask
from trainer.run_files import read_json, write_json
from trainer.staging import POLL_SECONDS, worker_environment

# Why adapters are not merged, so that trying again would find the same.
LOSES, UNSTEADY, SLOW = FINAL = ("loses_too_much", "not_steady", "not_faster")
WORKSHOP = "fit-"
STAGE = "fit"


class Fitter:
    """Fits the current snapshot. ``stopping`` is looked at all the time; ``clock`` gives the time of day."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        household: Household,
        clock: Callable[[], float],
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._home = home
        self._settings = settings
        self._household = household
        self._clock = clock
        self._stopping = stopping

    def run(self) -> AdaptedRecord | None:
        """What is on record of the current snapshot then; None where it has no adapters.

        Returns at once where it was fitted to this form on this machine before. Raises BaseReplaced, ModelMissing,
        RecipeUnknown, RunStopped, OSError; why it could not be merged is in the record.
        """
        snapshot = self._household.snapshots.current()
        if not snapshot.adapters:
            return None
        model = model_path(self._home, snapshot.base_name)
        found = self._household.snapshots.file_digest(model)
        if found != snapshot.base_sha256:
            raise BaseReplaced(path=str(model), expected=snapshot.base_sha256, found=found)
        key = adapters_key([(each.sha256, each.scale) for each in snapshot.adapters])
        with self._workshop(snapshot.base_sha256) as workshop:
            form = self._form(snapshot.base_sha256)
            known = read_adapted(self._home, snapshot.base_sha256, key)
            name = (form.sha256 if form else None) or AS_PULLED
            if known and known.machine == fingerprint() and known.form == name and known.why in ("", *FINAL):
                return known
            record = self._fitted(snapshot, model, form, workshop)
            write_adapted(self._home, snapshot.base_sha256, key, record)
        self._prune(snapshot.base_sha256)
        self._take_up(snapshot)
        return record

    def _form(self, original: str) -> FormRecord | None:
        """The form that is served on this machine."""
        record = read_form(self._home, original)
        return record if record and record.machine == fingerprint() else None

    def _fitted(self, snapshot: Snapshot, model: Path, form: FormRecord | None, workshop: Path) -> AdaptedRecord:
        weights = folder(self._home, snapshot.base_sha256) / form.file if form and form.file else model
        adapters = tuple(adapter_file(self._household.artifacts.path(a.sha256), a.scale) for a in snapshot.adapters)
        engine = form.shaped(self._settings.engine) if form else self._settings.engine
        if any(adapter.route for adapter in adapters):
            # What is part of the weights cannot be left out of the answers that it is not for.
            engine = engine.model_copy(update={"form": engine.form.model_copy(update={"merge": False})})
        name = (form.sha256 if form else None) or AS_PULLED
        nothing = AdaptedRecord(
            fingerprint(), name, snapshot.id, weights == model, None, None, None, {}, "", self._clock()
        )
        task = FitTask(
            original=model,
            weights=weights,
            adapters=adapters,
            lessons=self._lessons(),
            system_prompt=self._settings.assistant.system_prompt,
            engine=engine,
            busy_flag=self._home.busy_flag,
            busy_wait_s=self._settings.training.budget.busy_wait_seconds,
            busy_poll_s=self._settings.training.budget.busy_poll_seconds,
            idle_priority=self._settings.training.idle_priority,
        )
        if weights == model and not engine.form.merge:
            return nothing
        write_json(workshop / TASK, task.as_json())
        try:
            report = self._worked(workshop)
        except RunStopped:
            raise
        except EnlaceError as error:
            return replace(nothing, why=error.code)
        return self._judged(nothing, report, workshop, engine.form)

    def _judged(
        self, record: AdaptedRecord, report: dict[str, Any], workshop: Path, form: FormSettings
    ) -> AdaptedRecord:
        """The record of what was measured; merged weights that are to be served are in the store then."""
        record = replace(
            record,
            overlay=report["overlay_loss"] <= form.most_adapter_loss,
            overlay_loss=report["overlay_loss"],
            merged_loss=report.get("merged_loss"),
            speeds=report.get("speeds", {}),
        )
        if not form.merge:
            return record
        if report["merged_loss"] > form.most_adapter_loss:
            return replace(record, why=LOSES)
        if not report["steady"]:
            return replace(record, why=UNSTEADY)
        if record.speeds["merged_turn_s"] * (1 + form.merged_least_gain) > record.speeds["overlay_turn_s"]:
            return replace(record, why=SLOW)
        merged = self._household.artifacts.put_file(workshop / MERGED)
        # Or else the engine would read all of it once more before it loads it.
        remember_sha256(self._home, self._home.artifact(merged), merged)
        return replace(record, merged=merged)

    def _lessons(self) -> tuple[dict[str, Any], ...]:
        """A few of the lessons that the adapters were trained for."""
        recipe = known_recipe(self._settings, self._settings.training.recipe)
        kept, _ = sorted_out(self._household.corrections(), recipe)
        return tuple(lesson.as_json() for lesson in kept[: self._settings.training.evaluation.parity_answers])

    def _worked(self, workshop: Path) -> dict[str, Any]:
        """The worker's report. Raises what it reports, StageDied, StageOverBudget and RunStopped."""
        deadline = time.monotonic() + self._settings.training.budget.run_seconds
        with (workshop / "output.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "trainer.fitting.worker", str(workshop), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **worker_environment(self._settings.engine)},
                cwd=Path(__file__).parents[2],
            )
            try:
                while process.poll() is None:
                    self._look()
                    if time.monotonic() > deadline:
                        raise StageOverBudget(stage=STAGE, seconds=self._settings.training.budget.run_seconds)
            finally:
                # It works on files of its own that are about to be removed: nothing of it has to be ended in order.
                process.kill()
                process.wait()
        if (workshop / REPORT).is_file():
            report: dict[str, Any] = read_json(workshop / REPORT)
            return report
        if (workshop / ERROR).is_file():
            told = read_json(workshop / ERROR)
            raise Reported(told["code"], told["facts"])
        raise StageDied(stage=STAGE, status=process.returncode, log=str(workshop / "output.log"))

    def _look(self, seconds: float = POLL_SECONDS) -> None:
        """Wait a moment. Raises RunStopped where this was told to end."""
        if self._stopping():
            raise RunStopped(run=STAGE)
        time.sleep(seconds)

    def _prune(self, original: str) -> None:
        """Give back the room of merged weights that are neither the current snapshot's nor among the newest."""
        current = self._household.snapshots.current()
        kept = {adapters_key([(each.sha256, each.scale) for each in current.adapters])}
        merged = [(path, record) for path, record in list_adapted(self._home, original) if record.merged]
        for path, record in merged:
            if len(kept) < self._settings.engine.form.merged_kept:
                kept.add(path.stem)
            if path.stem not in kept and record.merged:
                write_adapted(self._home, original, path.stem, replace(record, merged=None, why=PRUNED))
                self._household.artifacts.remove(record.merged)

    def _take_up(self, snapshot: Snapshot) -> None:
        """Have a running engine serve what is on record now; one that starts later does so by itself.

        It exchanges what it has loaded, for which new questions wait: so not while anybody is answered. Raises
        RunStopped.
        """
        snapshots = self._household.snapshots
        client = EngineClient(self._home, self._settings.engine, lambda: snapshots.current().digest)
        while snapshots.current().digest == snapshot.digest:
            try:
                status = asyncio.run(client.status())
                if status is None:
                    return
                if not (status.busy or status.waiting):
                    asyncio.run(client.load(snapshot.digest))
                    return
            except EnlaceError:
                # It serves what it served; the next one that starts takes it up.
                return
            self._look(self._settings.engine.form.take_up_poll_s)

    @contextlib.contextmanager
    def _workshop(self, original: str) -> Iterator[Path]:
        """A folder for what is made on the way, gone at the end; one fitting at a time, the others wait."""
        place = folder(self._home, original)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (place / "fit.lock").open("wb") as lock:
            while not take_lock(lock):
                self._look()
            for left in place.glob(f"{WORKSHOP}*/"):
                # Of a fitting that was killed: nobody else is here.
                shutil.rmtree(left)
            workshop = Path(tempfile.mkdtemp(prefix=WORKSHOP, dir=place))
            try:
                yield workshop
            finally:
                shutil.rmtree(workshop)
