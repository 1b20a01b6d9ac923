"""Merges and measures, as a process of its own: ``python -m trainer.fitting.worker FOLDER PARENT``. Files only.

It reads ``task.json`` in FOLDER and writes ``merged.gguf`` and, last, ``report.json``; why it could not is in
``error.json``. It ends with PARENT, runs at idle priority, and waits while somebody's answer is written.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from configs.errors import EnlaceError
from configs.sections.engine import EngineSettings
from engine.fit import physical_cores
from engine.forms.children import TaskFailed, run_task
from engine.forms.losses import keep_reference, measure_loss
from engine.forms.rows import Speeds
from engine.forms.texts import Piece, pieces
from engine.prompt import render_pair
from engine.scoring import LocalModel
from engine.served import AdapterFile
from trainer.courtesy import Courtesy, die_with, step_back
from trainer.errors import NoRoom
from trainer.fitting.merging import merge
from trainer.lessons import lesson_from_json, under_system
from trainer.run_files import adapters_from_json, adapters_json, read_json, write_json

TASK, REPORT, ERROR, MERGED, REFERENCE = "task.json", "report.json", "error.json", "merged.gguf", "reference.f32"


@dataclass(frozen=True)
class FitTask:
    """What the worker is given. ``weights``: the file in which the model is served; the original, as pulled."""

    original: Path
    weights: Path
    adapters: tuple[AdapterFile, ...]
    lessons: tuple[dict[str, Any], ...]
    system_prompt: str
    engine: EngineSettings
    busy_flag: Path
    busy_wait_s: float
    busy_poll_s: float
    idle_priority: bool

    def as_json(self) -> dict[str, Any]:
        """``read_task`` reads it back."""
        return {
            "original": str(self.original),
            "weights": str(self.weights),
            "adapters": adapters_json(self.adapters),
            "lessons": list(self.lessons),
            "system_prompt": self.system_prompt,
            "engine": self.engine.model_dump(),
            "busy_flag": str(self.busy_flag),
            "busy_wait_s": self.busy_wait_s,
            "busy_poll_s": self.busy_poll_s,
            "idle_priority": self.idle_priority,
        }


def read_task(path: Path) -> FitTask:
    """The reverse of ``FitTask.as_json``. Raises TrainingDataBroken."""
    value = read_json(path)
    return FitTask(
        original=Path(value["original"]),
        weights=Path(value["weights"]),
        adapters=adapters_from_json(value["adapters"]),
        lessons=tuple(value["lessons"]),
        system_prompt=value["system_prompt"],
        engine=EngineSettings.model_validate(value["engine"]),
        busy_flag=Path(value["busy_flag"]),
        busy_wait_s=value["busy_wait_s"],
        busy_poll_s=value["busy_poll_s"],
        idle_priority=value["idle_priority"],
    )


class Fitting:
    """The work of one process: what the adapters lose over the form and in the weights, and how fast each is."""

    def __init__(self, folder: Path, task: FitTask) -> None:
        self._folder = folder
        self._task = task
        self._form = task.engine.form
        self._pause = Courtesy(task.busy_flag, longest=task.busy_wait_s, poll=task.busy_poll_s)

    def run(self) -> dict[str, Any]:
        """The report. Raises NotMergeable, OSError and what LocalModel raises."""
        task, merged = self._task, self._folder / MERGED
        adapters = [(each.path, each.scale) for each in task.adapters]
        with self._scorer(task.original, task.adapters) as scorer:
            keep_reference(scorer, self._pieces(scorer), self._folder / REFERENCE)
        over_form = 0.0 if task.weights == task.original else self._loss(task.weights, task.adapters)
        report: dict[str, Any] = {"overlay_loss": over_form}
        if self._form.merge:
            merge(task.original, task.weights, adapters, merged, self._form.merged_type, self._pause)
            report["merged_loss"] = self._loss(merged, ())
            report["steady"] = self._steady(merged)
            served = task.weights if over_form <= self._form.most_adapter_loss else task.original
            report["speeds"] = self._speeds({"overlay": (served, task.adapters), "merged": (merged, ())})
        (self._folder / REFERENCE).unlink()
        return report

    def _scorer(self, model: Path, adapters: Sequence[AdapterFile]) -> LocalModel:
        engine = self._task.engine
        return LocalModel(
            model,
            engine,
            context_size=engine.context_size,
            threads=engine.threads or physical_cores(),
            adapters=adapters,
            pause=self._pause,
        )

    def _pieces(self, scorer: LocalModel) -> list[Piece]:
        """The fixed texts, and what the adapters were trained for."""
        system, longest = self._task.system_prompt, self._form.loss_tokens
        found = list(pieces(scorer.vocabulary, scorer.template, system, longest))
        for lesson in map(lesson_from_json, self._task.lessons):
            messages = under_system(lesson.messages, system)
            given, measured = render_pair(scorer.template, scorer.vocabulary, messages, lesson.chosen)
            found.append(Piece(given, measured[:longest]))
        return found

    def _loss(self, model: Path, adapters: Sequence[AdapterFile]) -> float:
        with self._scorer(model, adapters) as scorer:
            return measure_loss(scorer, self._pieces(scorer), self._folder / REFERENCE).kl

    def _steady(self, model: Path) -> bool:
        """Whether an answer of ``model`` depends neither on its prompt's cuts nor on other answers."""
        found = self._measured("steady", model, (), {"tokens": self._form.steady_tokens})
        return not any(found.values())

    def _speeds(self, ways: dict[str, tuple[Path, Sequence[AdapterFile]]]) -> dict[str, float]:
        """Tokens a second and seconds of a usual turn, each way in turn with the others."""
        speeds = {name: Speeds() for name in ways}
        lengths = {"read_tokens": self._form.read_tokens, "written_tokens": self._form.written_tokens}
        for _ in range(self._form.rounds):
            for name, (model, adapters) in ways.items():
                speeds[name].add(self._measured("speed", model, adapters, lengths))
        return {
            f"{name}_{key}": value
            for name, measured in speeds.items()
            for key, value in measured.medians(self._form).items()
        }

    def _measured(
        self, what: str, model: Path, adapters: Sequence[AdapterFile], more: dict[str, Any]
    ) -> dict[str, Any]:
        self._pause()
        return run_task(
            {
                "do": what,
                "spins": self._task.engine.thread_spins,
                "model": str(model),
                "settings": self._task.engine.model_dump(),
                "adapters": adapters_json(adapters),
                **more,
            },
            self._form.child_timeout_s,
        )


def main(arguments: list[str]) -> int:
    """0 when the report is there, 1 when ``error.json`` says why not, 2 for wrong usage."""
    if len(arguments) != 2 or not arguments[1].isdigit():
        sys.stderr.write("python -m trainer.fitting.worker FOLDER PARENT\n")
        return 2
    folder = Path(arguments[0])
    die_with(int(arguments[1]))
    try:
        task = read_task(folder / TASK)
        if task.idle_priority:
            step_back()
        write_json(folder / REPORT, Fitting(folder, task).run())
    except EnlaceError as error:
        write_json(folder / ERROR, {"code": error.code, "facts": error.facts})
        return 1
    except TaskFailed as error:
        write_json(folder / ERROR, {"code": "form_not_measured", "facts": {"path": str(folder), "reason": str(error)}})
        return 1
    except OSError as error:
        refused = NoRoom(path=str(error.filename or folder), reason=error.strerror or str(error))
        write_json(folder / ERROR, {"code": refused.code, "facts": refused.facts})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
