"""The gate's verdict on the training that lies in a run's folder."""

from __future__ import annotations

from configs.sections.judging import GateSettings
from trainer.energy.energy import Energy, energy_of
from trainer.gate import Verdict, judge
from trainer.pipeline.sources import order_of
from trainer.run_files import RunFiles, read_inputs, read_json, read_measures

WATT_HOURS = "watt_hours"


def verdict_on(files: RunFiles, bounds: GateSettings) -> Verdict:
    """What was measured of it, and what it took, against ``bounds``. Raises TrainingDataBroken."""
    measures, _ = read_measures(files)
    inputs = read_inputs(files)
    reports = [read_json(files.report(stage)) for stage in order_of(inputs)]
    energy, reckoned = energy_measure(energy_of(reports, inputs.training.estimate.watts))
    bounded = {**measures, "seconds": stage_seconds(files), **energy}
    return judge(bounded, bounds, read_json(files.measures)["intervals"], reckoned)


def stage_seconds(files: RunFiles) -> float:
    """What all stages of a training worked. Raises TrainingDataBroken."""
    return float(sum(read_json(files.report(stage))["seconds"] for stage in order_of(read_inputs(files))))


def energy_measure(energy: Energy) -> tuple[dict[str, float], frozenset[str]]:
    """What the gate judges of it by name, and that name where it was reckoned."""
    return {WATT_HOURS: energy.watt_hours}, frozenset({WATT_HOURS} if energy.estimated else ())
