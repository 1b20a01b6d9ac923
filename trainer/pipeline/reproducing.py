"""A run done again from its manifest, to see whether the same comes of it. A run of its own, which promotes nothing.

The numbers that the gate judges have to be the same within the tolerance of the settings, and so has its verdict; that
each file is the same to the bit is told, and not asked for.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from configs.errors import EnlaceError
from configs.home import Home
from configs.sections.planning import ToleranceSettings
from configs.settings import Settings
from memory.errors import FileNotWritten
from memory.household import Household
from memory.runs import REPRODUCE
from trainer.beginning import put_on_record
from trainer.courtesy import stop_on_signals
from trainer.errors import ManifestNotDone
from trainer.judging import verdict_on
from trainer.pipeline.planning import resolve_manifest
from trainer.pipeline.resolving import Resolved, check_fresh
from trainer.pipeline.sources import order_of
from trainer.run_files import RunFiles, read_json, read_measures, write_json
from trainer.staging import StageProcesses, make_folder
from trainer.telling import leave_reports, tell, tell_failed

# Another version may come to the same, and what answers here now was not trained.
MAY_DIFFER = ("code", "versions", "current")


@dataclass(frozen=True)
class Reproduction:
    """``first``: the first difference, a stage whose file is another one or else a measure; empty where reproduced.

    ``stages``: whether each left the same to the bit. ``measures``: by name, what was expected and what was found.
    ``otherwise``: what of the manifest is not as here, and need not be.
    """

    run: str
    reproduced: bool
    first: str
    stages: Mapping[str, bool]
    measures: Mapping[str, tuple[float | None, float | None]]
    otherwise: tuple[str, ...]


def compared(
    manifest: Mapping[str, Any], files: RunFiles, run: str, settings: Settings, otherwise: tuple[str, ...]
) -> Reproduction:
    """What a run in ``files`` came to, beside what its manifest says. Raises TrainingDataBroken."""
    stages = {
        name: read_json(files.report(name))["output"] == told["output"] for name, told in manifest["stages"].items()
    }
    found, _ = read_measures(files)
    expected = manifest["measures"]
    apart = [name for name, value in expected.items() if not _near(value, found.get(name), settings.training.tolerance)]
    decision = verdict_on(files, settings.training.gate).decision
    if not apart and decision != manifest["verdict"]["decision"]:
        apart = [decision]
    changed = [name for name, same in stages.items() if not same]
    return Reproduction(
        run=run,
        reproduced=not apart,
        first=next(iter([*changed, *apart]), "") if apart else "",
        stages=stages,
        measures={name: (value, found.get(name)) for name, value in expected.items()},
        otherwise=otherwise,
    )


def _near(expected: Any, found: Any, tolerance: ToleranceSettings) -> bool:
    if expected is None or found is None:
        return expected is found
    return bool(abs(found - expected) <= max(tolerance.absolute, tolerance.relative * abs(expected)))


class Reproducer:
    """Carries one. ``stop`` may be called from a signal handler."""

    def __init__(self, home: Home, household: Household, clock: Callable[[], float]) -> None:
        self._home = home
        self._household = household
        self._clock = clock
        self._stopping = False
        self._folder = home.runs

    def stop(self) -> None:
        """End it cleanly at the next look."""
        self._stopping = True

    def run(self, found: Resolved, file: str, who: str) -> Reproduction:
        """Do all of the manifest again. Raises ManifestStale, RunAlreadyRunning, RunStopped, NoRoom and what stages do.

        ``found``: the manifest as it is here.
        """
        check_fresh(_but_for_what_may(found), file)
        run = self._household.runs.create(REPRODUCE)
        self._folder = self._home.runs / run.id
        seconds = found.settings.training.budget.report_seconds
        try:
            return self._carried(found, file, run.id, who)
        except EnlaceError as error:
            tell_failed(self._household, run, error, self._tell)
            raise
        finally:
            with contextlib.suppress(FileNotWritten):
                leave_reports(self._home, self._household, self._household.forget_withdrawn(), seconds)

    def _carried(self, found: Resolved, file: str, run: str, who: str) -> Reproduction:
        files = RunFiles(self._folder)
        make_folder(self._folder)
        inputs = check_fresh(_but_for_what_may(found), file)
        self._tell("run_started", 0.0, {"run": run, "recipe": inputs.recipe_name, "who": who})
        put_on_record(self._household, inputs)
        write_json(files.inputs, inputs.as_json())
        self._tell("planned", None, {"stages": list(order_of(inputs))})
        processes = StageProcesses(
            self._home, found.settings, lambda: self._stopping, lambda kind, facts: self._tell(kind, None, facts)
        )
        processes.go_on(order_of(inputs), files)
        self._tell("took", None, processes.took().as_json())
        otherwise = tuple(stale.what for stale in found.stale)
        outcome = compared(found.manifest, files, run, found.settings, otherwise)
        # Told first: whoever sees that it has ended finds what came of it.
        self._tell("run_done", 1.0, {key: value for key, value in asdict(outcome).items() if key != "run"})
        self._household.runs.finish(run, "done", summary={"reproduced": outcome.reproduced, "first": outcome.first})
        return outcome

    def _tell(self, kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
        tell(self._folder, self._clock(), kind, fraction, facts)


def _but_for_what_may(found: Resolved) -> Resolved:
    stale = tuple(each for each in found.stale if each.what not in MAY_DIFFER)
    return Resolved(found.manifest, found.settings, found.stages, found.inputs, stale)


def carry_reproduction(
    home: Home, settings: Settings, path: Path, who: str, environ: Mapping[str, str]
) -> dict[str, Any]:
    """A whole reproduction in this process, stopped by SIGTERM or SIGINT; what came of it.

    Raises ManifestNotDone and what ``Reproducer.run`` does.
    """
    with Household.open(home, settings.memory, unattended=True) as household:
        upcoming = household.runs.upcoming(REPRODUCE).id
        found = resolve_manifest(home, settings, household, path, environ, upcoming)
        if not found.manifest.get("measures"):
            raise ManifestNotDone(file=str(path))
        reproducer = Reproducer(home, household, time.time)
        stop_on_signals(reproducer.stop)
        return asdict(reproducer.run(found, str(path), who))
