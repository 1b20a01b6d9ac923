"""The gate's verdict on what a manifest says was measured, by the bounds that the manifest has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from configs.home import Home
from trainer.energy.energy import energy_from_json
from trainer.errors import ManifestNotDone, ManifestRefused
from trainer.gate import Verdict, judge
from trainer.judging import energy_measure
from trainer.pipeline.recipe_file import settings_with
from trainer.pipeline.resolving import read_manifest


def judged(path: Path, home: Home, environ: Mapping[str, str]) -> Verdict:
    """Nothing is promoted. Raises ManifestNotDone, ManifestRefused without a gate, and what reading one raises."""
    manifest = read_manifest(path)
    if not manifest.get("measures"):
        raise ManifestNotDone(file=str(path))
    if not manifest.get("gate"):
        raise ManifestRefused(file=str(path), reasons="no_gate")
    settings = settings_with({"training": {"gate": manifest["gate"]}}, str(path), home, environ)
    measures = {**manifest["measures"], "seconds": manifest.get("seconds")}
    if "energy" not in manifest:
        return judge(measures, settings.training.gate, manifest["intervals"])
    cost, reckoned = energy_measure(energy_from_json(manifest["energy"]))
    return judge({**measures, **cost}, settings.training.gate, manifest["intervals"], reckoned)
