"""What was measured and chosen, as files in the home: which form of a model is served, and which adapters in which way.

``models/forms/<SHA-256 of the file as pulled>/`` holds the form's own file, ``form.json``, which is written last and
says that it is served, and ``adapted/<key>.json`` for each set of adapters that was measured on it. A record of
another machine counts for nothing; the file as pulled is served then.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from configs.disk import write_whole
from configs.home import Home
from configs.sections.engine import EngineSettings

FORMAT = 1
AS_PULLED = "as pulled"
RECORD = "form.json"
# Why adapters are not merged any more: their merged weights had to make room for newer ones.
PRUNED = "pruned"


@dataclass(frozen=True)
class Shape:
    """How a model is computed: settings of the engine of the same names."""

    threads: int
    prompt_chunk: int
    flash_attention: bool
    gpu_layers: int

    @classmethod
    def of(cls, settings: EngineSettings) -> Shape:
        """What the settings say."""
        return cls(settings.threads, settings.prompt_chunk, settings.flash_attention, settings.gpu_layers)


@dataclass(frozen=True)
class FormRecord:
    """The form that is served of one original.

    ``file``: its file beside the record, with that SHA-256; None where the file as pulled is served. ``usual``: the
    shape that the settings gave when ``shape`` was measured to be faster. ``rows``: the table of the measurement.
    """

    original: str
    machine: str
    form: str
    file: str | None
    sha256: str | None
    shape: Shape
    usual: Shape
    measured_at: float
    rows: tuple[dict[str, Any], ...]

    def shaped(self, settings: EngineSettings) -> EngineSettings:
        """The settings with what was measured; a setting that was changed since then stays as it is."""
        now, usual, best = asdict(Shape.of(settings)), asdict(self.usual), asdict(self.shape)
        return settings.model_copy(update={key: best[key] for key in now if now[key] == usual[key]})


@dataclass(frozen=True)
class AdaptedRecord:
    """How one set of adapters is served over one form, which is named by its file's SHA-256 or is ``AS_PULLED``.

    ``overlay_loss``, ``merged_loss``: nats a token from the same adapters over the file as pulled; None where it was
    not measured. ``overlay``: whether they may be served over the form. ``merged``: the artifact in which they are
    part of the weights, if it is to be served. ``why``: what kept them from being merged, empty where nothing did.
    """

    machine: str
    form: str
    snapshot: str
    overlay: bool
    overlay_loss: float | None
    merged: str | None
    merged_loss: float | None
    speeds: dict[str, float]
    why: str
    made_at: float


def folder(home: Home, original: str) -> Path:
    """Where the forms of the file with this SHA-256 are kept."""
    return home.forms / original


def adapters_key(adapters: Sequence[tuple[str, float]]) -> str:
    """The name of a set of adapters, each a SHA-256 and a scale, in their order."""
    return hashlib.sha256(json.dumps([[digest, scale] for digest, scale in adapters]).encode()).hexdigest()[:32]


def read_form(home: Home, original: str) -> FormRecord | None:
    """The record of the served form; None where there is none or none that can be read."""
    value = _read(folder(home, original) / RECORD)
    try:
        if value is None or value["format"] != FORMAT or value["original"] != original:
            return None
        return FormRecord(
            original=original,
            machine=str(value["machine"]),
            form=str(value["form"]),
            file=value["file"],
            sha256=value["sha256"],
            shape=Shape(**value["shape"]),
            usual=Shape(**value["usual"]),
            measured_at=float(value["measured_at"]),
            rows=tuple(value["rows"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def write_form(home: Home, record: FormRecord) -> None:
    """Have this form served from now on. Raises OSError."""
    _write(folder(home, record.original) / RECORD, record)


def adapted_path(home: Home, original: str, key: str) -> Path:
    """Where it is kept how a set of adapters is served."""
    return folder(home, original) / "adapted" / f"{key}.json"


def read_adapted(home: Home, original: str, key: str) -> AdaptedRecord | None:
    """How this set of adapters is served; None where that was not measured, or cannot be read."""
    return _adapted(adapted_path(home, original, key))


def list_adapted(home: Home, original: str) -> list[tuple[Path, AdaptedRecord]]:
    """Every set of adapters that was measured, the newest first."""
    paths = (folder(home, original) / "adapted").glob("*.json")
    found = [(path, record) for path in paths if (record := _adapted(path)) is not None]
    return sorted(found, key=lambda each: -each[1].made_at)


def write_adapted(home: Home, original: str, key: str, record: AdaptedRecord) -> None:
    """Have these adapters served in this way. Raises OSError."""
    _write(adapted_path(home, original, key), record)


def _write(path: Path, record: FormRecord | AdaptedRecord) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, json.dumps({"format": FORMAT, **asdict(record)}, ensure_ascii=False).encode())


def _adapted(path: Path) -> AdaptedRecord | None:
    value = _read(path)
    try:
        if value is None or value.pop("format") != FORMAT:
            return None
        return AdaptedRecord(**value)
    except (KeyError, TypeError):
        return None


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
