"""The gate's verdict on the training that lies in a run's folder."""

from __future__ import annotations

from configs.sections.judging import GateSettings
from trainer.gate import Verdict, judge
from trainer.pipeline.sources import order_of
from trainer.run_files import RunFiles, read_inputs, read_json, read_measures


def verdict_on(files: RunFiles, bounds: GateSettings) -> Verdict:
    """What was measured of it, and the time it took, against ``bounds``. Raises TrainingDataBroken."""
    measures, _ = read_measures(files)
    return judge({**measures, "seconds": stage_seconds(files)}, bounds, read_json(files.measures)["intervals"])


def stage_seconds(files: RunFiles) -> float:
    """What all stages of a training took. Raises TrainingDataBroken."""
    return float(sum(read_json(files.report(stage))["seconds"] for stage in order_of(read_inputs(files))))
