"""Which file is loaded for a snapshot: the one as pulled, a faster form of it, or one with the adapters in its weights.

What the snapshot is stays as its manifest says: base, adapters, name. A form or a merged file that is missing,
damaged, or was measured on another machine is passed over, and the file as pulled is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from configs.home import Home
from engine.fingerprint import file_sha256
from engine.forms.machine import fingerprint
from engine.forms.records import (
    AS_PULLED,
    PRUNED,
    FormRecord,
    adapters_key,
    folder,
    read_adapted,
    read_form,
)


@dataclass(frozen=True)
class ServedForm:
    """``weights`` is loaded; ``merged``: the adapters are part of it. ``record``: what was measured, if anything."""

    weights: Path
    merged: bool
    record: FormRecord | None


def served_form(home: Home, model: Path, adapters: Sequence[tuple[str, float]]) -> ServedForm | None:
    """How ``model`` with these adapters (SHA-256, scale) is served; None: as pulled, by the settings alone."""
    if not home.forms.is_dir():
        # Nothing was ever measured: not even the file's hash is needed.
        return None
    original = file_sha256(home, model)
    machine = fingerprint()
    record = read_form(home, original)
    if record is not None and record.machine != machine:
        record = None
    form = (record.sha256 if record else None) or AS_PULLED
    if adapters:
        adapted = read_adapted(home, original, adapters_key(adapters))
        known = adapted if adapted and adapted.machine == machine and adapted.form == form else None
        if known and known.merged and _whole(home, merged := home.artifact(known.merged), known.merged):
            return ServedForm(merged, True, record)
        if form != AS_PULLED and not (known and known.overlay):
            # An adapter is served over what it was trained on until it was measured over the form.
            return None
    if record is None:
        return None
    if record.file is None:
        return ServedForm(model, False, record)
    weights = folder(home, original) / record.file
    return ServedForm(weights, False, record) if _whole(home, weights, record.sha256) else None


def form_on_record(home: Home, model: Path) -> tuple[str, bool] | None:
    """The form that was chosen for a model, and whether it was on this machine; None where none was measured."""
    if not home.forms.is_dir():
        return None
    record = read_form(home, file_sha256(home, model))
    return (record.form, record.machine == fingerprint()) if record else None


def wants_fitting(home: Home, original: str, adapters: Sequence[tuple[str, float]]) -> bool:
    """Whether these adapters (SHA-256, scale) could be served better once they are fitted to what is served now.

    So it is where another form than the file as pulled is served, over which they were not measured, and where their
    merged weights had to make room.
    """
    machine, record = fingerprint(), read_form(home, original)
    form = record.sha256 if record and record.machine == machine else None
    known = read_adapted(home, original, adapters_key(adapters))
    if known and (known.machine, known.form) == (machine, form or AS_PULLED):
        return known.why == PRUNED
    return form is not None


def _whole(home: Home, path: Path, sha256: str | None) -> bool:
    try:
        return file_sha256(home, path) == sha256
    except OSError:
        return False
