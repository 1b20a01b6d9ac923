"""``enlace models bench``: tries the forms of a model on this machine and keeps the best that loses little enough."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from configs.home import Home
from configs.locks import take_lock
from configs.sections.engine import EngineSettings
from engine.errors import BenchRunning, FormNotMeasured, ModelBroken, ModelTooBig
from engine.fingerprint import file_sha256
from engine.fit import check_fits
from engine.forms.children import TaskFailed, run_task
from engine.forms.keeping import keep_form
from engine.forms.machine import fingerprint
from engine.forms.records import AS_PULLED, FormRecord, Shape, folder
from engine.forms.rows import FormRow, Speeds
from engine.forms.shapes import shapes_to_try
from engine.gguf import check_gguf

WORKSHOP = "bench-"


@dataclass(frozen=True)
class Told:
    """How far the measurement is: ``done`` of ``tasks``, and what is done now to which form."""

    done: int
    tasks: int
    what: str
    form: str


@dataclass(frozen=True)
class Chosen:
    """What a measurement found: ``gain`` times the speed of the file as pulled, a usual turn taken together.

    ``kept``: whether it is on record, and served from now on.
    """

    record: FormRecord
    gain: float
    kept: bool


class Bench:
    """One measurement. ``tell`` is called as it goes on; ``clock`` gives the time of day in seconds.

    ``carry_out`` does one task in a process of its own, within so many seconds.
    """

    def __init__(
        self,
        home: Home,
        settings: EngineSettings,
        model: Path,
        name: str,
        system_prompt: str,
        *,
        clock: Callable[[], float],
        tell: Callable[[Told], None] = lambda _told: None,
        carry_out: Callable[[dict[str, Any], float], dict[str, Any]] = run_task,
    ) -> None:
        self._home = home
        self._settings = settings
        self._forms = settings.form
        self._model = model
        self._name = name
        self._system_prompt = system_prompt
        self._clock = clock
        self._tell = tell
        self._carry_out = carry_out
        self._done = self._tasks = 0

    def run(self, *, dry: bool) -> Chosen:
        """Measure, and unless ``dry`` keep what was found best.

        Raises ModelBroken, BenchRunning, FormNotMeasured (the file as pulled cannot be measured) and OSError. What a
        form fails at is in its row. Interrupted at any instant, it leaves what was served before.
        """
        check_gguf(self._model)
        original = file_sha256(self._home, self._model)
        with self._workshop(original) as workshop:
            usual = Shape.of(self._settings)
            rows = self._made(workshop)
            self._measure_loss(rows, workshop)
            self._measure_speed([(row, self._settings, row.speeds) for row in rows if not row.why])
            base = rows[0]
            if not base.measured:
                raise FormNotMeasured(path=str(self._model), reason=base.why or "no speed")
            best, shape, gain = self._best(rows)
            record = FormRecord(
                original=original,
                machine=fingerprint(),
                form=best.form,
                file=None,
                sha256=None,
                shape=shape,
                usual=usual,
                measured_at=self._clock(),
                rows=tuple(row.as_json(self._forms) for row in rows),
            )
            if dry:
                return Chosen(record, gain, kept=False)
            return Chosen(keep_form(self._home, record, best.path if best is not base else None), gain, kept=True)

    def _made(self, workshop: Path) -> list[FormRow]:
        """The file as pulled, and every form of it that could be written and fits into memory."""
        tried = self._forms.tried
        self._tasks = 2 + len(tried) * (2 + self._forms.rounds) + self._forms.rounds
        rows = [FormRow(AS_PULLED, self._model, self._model.stat().st_size)]
        for form, recipe in tried.items():
            row = FormRow(form, workshop / f"{form}.gguf")
            task = {"do": "make", "source": str(self._model), "target": str(row.path), **recipe.model_dump()}
            result = self._task("make", row, {**task, "threads": self._settings.threads})
            if result:
                row.bytes = result["bytes"]
                self._check_fits(row)
            rows.append(row)
        return rows

    def _check_fits(self, row: FormRow) -> None:
        """See that a form is whole and that there is memory for it; else why not, in its row."""
        try:
            summary = check_gguf(row.path)
            size = min(self._settings.context_size, summary.context_length or self._settings.context_size)
            check_fits(summary, size * self._settings.slots, self._settings.memory_reserve_mb)
        except ModelTooBig as error:
            row.why = f"needs {error.facts['needed_mb']} MB, {error.facts['available_mb']} MB are free"
        except ModelBroken as error:
            row.why = str(error.facts["reason"])

    def _measure_loss(self, rows: Sequence[FormRow], workshop: Path) -> None:
        base = rows[0]
        store = workshop / "reference.f32"
        text = {
            "store": str(store),
            "system_prompt": self._system_prompt,
            "loss_tokens": self._forms.loss_tokens,
            "context_size": self._settings.context_size,
            "adapters": [],
            "settings": self._settings.model_dump(),
        }
        if self._task("reference", base, {"do": "reference", "model": str(base.path), **text}) is None:
            raise FormNotMeasured(path=str(self._model), reason=base.why)
        base.kl, base.agreement = 0.0, 1.0
        for row in rows[1:]:
            if not row.why and (found := self._task("loss", row, {"do": "loss", "model": str(row.path), **text})):
                row.kl, row.agreement = found["kl"], found["agreement"]
        store.unlink()

    def _measure_speed(self, candidates: Sequence[tuple[FormRow, EngineSettings, Speeds]]) -> None:
        """Measure each in turn, so that what else the machine does meets them all alike."""
        failed: set[int] = set()
        for _ in range(self._forms.rounds):
            for place, (row, settings, speeds) in enumerate(candidates):
                if place in failed:
                    continue
                task = {
                    "do": "speed",
                    "model": str(row.path),
                    "settings": settings.model_dump(),
                    "read_tokens": self._forms.read_tokens,
                    "written_tokens": self._forms.written_tokens,
                    "adapters": [],
                }
                result = self._task("speed", row, task)
                if result is None:
                    failed.add(place)
                else:
                    speeds.add(result)

    def _best(self, rows: Sequence[FormRow]) -> tuple[FormRow, Shape, float]:
        """The form to serve, in its best shape, and how many times as fast as the file as pulled it then is."""
        base = rows[0]
        eligible = [row for row in rows if row.measured and self._loses_little(row)]
        ranked = sorted(eligible, key=lambda row: row.speeds.turn_s(self._forms))
        bound = base.speeds.turn_s(self._forms) / (1 + self._forms.least_gain)
        faster = [row for row in ranked if row is not base and row.speeds.turn_s(self._forms) <= bound]
        for row in [*faster, base]:
            settings, gain = self._shaped(row)
            if self._is_steady(row, settings):
                return row, Shape.of(settings), gain * base.speeds.turn_s(self._forms) / row.speeds.turn_s(self._forms)
        # Not even the file as pulled is steady here: then it is served by the settings, as ever.
        return base, Shape.of(self._settings), 1.0

    def _loses_little(self, row: FormRow) -> bool:
        if row.kl is not None and row.kl <= self._forms.most_loss:
            return True
        row.why = row.why or "loses too much"
        return False

    def _shaped(self, row: FormRow) -> tuple[EngineSettings, float]:
        """The settings in which a form is fastest, one after the other, and what was gained by them."""
        best, gain, offload = self._settings, 1.0, self._offload(row)
        for step in shapes_to_try(self._settings, row.path, offload):
            candidates = [(row, settings, Speeds()) for settings in step(best)]
            if not candidates:
                continue
            # What there is is measured again beside its rivals: the machine may be busier than it was.
            now = Speeds()
            self._tasks += (len(candidates) + 1) * self._forms.rounds
            self._measure_speed([(row, best, now), *candidates])
            if not now.read:
                continue
            usual = now.turn_s(self._forms)
            rivals = [
                (measured.turn_s(self._forms), settings)
                for _, settings, measured in candidates
                if measured.read and median(measured.step_s) <= self._forms.longest_step_s
            ]
            seconds, settings = min(rivals, key=lambda rival: rival[0], default=(usual, best))
            if seconds <= usual / (1 + self._forms.least_gain):
                best, gain = settings, gain * usual / seconds
        row.why = ""
        return best, gain

    def _offload(self, row: FormRow) -> bool:
        result = self._task("device", row, {"do": "device"})
        return bool(result and result["offload"])

    def _is_steady(self, row: FormRow, settings: EngineSettings) -> bool:
        task = {"do": "steady", "model": str(row.path), "settings": settings.model_dump(), "adapters": []}
        row.steady = self._task("steady", row, {**task, "tokens": self._forms.steady_tokens})
        if row.steady is not None and not any(row.steady.values()):
            return True
        row.why = row.why or "does not give the same answer every time"
        return False

    def _task(self, what: str, row: FormRow, task: dict[str, Any]) -> dict[str, Any] | None:
        """The result of a task; where it fails, None, and the reason in the row."""
        self._tell(Told(self._done, max(self._tasks, self._done + 1), what, row.form))
        self._done += 1
        try:
            return self._carry_out({"spins": self._settings.thread_spins, **task}, self._forms.child_timeout_s)
        except TaskFailed as error:
            row.why = str(error)
            return None

    @contextlib.contextmanager
    def _workshop(self, original: str) -> Iterator[Path]:
        """A folder for what is made on the way, gone at the end. Raises BenchRunning."""
        place = folder(self._home, original)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (place / "bench.lock").open("wb") as lock:
            if not take_lock(lock):
                raise BenchRunning(model=self._name)
            for left in place.glob(f"{WORKSHOP}*/"):
                # Of a measurement that was killed: nobody else is here.
                shutil.rmtree(left)
            workshop = Path(tempfile.mkdtemp(prefix=WORKSHOP, dir=place))
            try:
                yield workshop
            finally:
                shutil.rmtree(workshop)
