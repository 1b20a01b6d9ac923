"""The form that was chosen is put in its place, and taken out of it again; whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from configs.disk import sync
from configs.home import Home
from engine.fingerprint import remember_sha256
from engine.forms.records import RECORD, FormRecord, adapters_key, folder, read_adapted, read_form, write_form

SHOWN_DIGITS = 12


def keep_form(home: Home, record: FormRecord, file: Path | None) -> FormRecord:
    """Have a form served, moving its ``file`` into place; None: the original itself. What is on record then.

    The record is written last: until then what was served before is served. Raises OSError.
    """
    place = folder(home, record.original)
    if file is not None:
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        # Its content is in its name: a file that an engine has open is never another one's place.
        kept = place / f"{record.form}-{digest[:SHOWN_DIGITS]}.gguf"
        file.replace(kept)
        remember_sha256(home, kept, digest)
        sync(place)
        record = replace(record, file=kept.name, sha256=digest)
    write_form(home, record)
    _remove_others(place, record.file)
    return record


def forget_form(home: Home, original: str) -> bool:
    """Have the file as pulled served again; whether anything else was. Raises OSError.

    Adapters that were measured over the form stay on record: they are served over what they were trained on.
    """
    place = folder(home, original)
    known = read_form(home, original) is not None
    (place / RECORD).unlink(missing_ok=True)
    if place.is_dir():
        _remove_others(place, None)
    return known


def merged_weights(home: Home, original: str, adapters: Sequence[tuple[str, float]]) -> tuple[str, ...]:
    """The artifact in which these adapters (SHA-256, scale) are part of the weights of ``original``; none or one."""
    record = read_adapted(home, original, adapters_key(adapters))
    return (record.merged,) if record and record.merged else ()


def forget_adapted(home: Home, kept: Collection[tuple[str, Sequence[tuple[str, float]]]]) -> None:
    """Forget how other adapters than the ``kept`` ones of an original are served. Raises OSError."""
    known = {(original, adapters_key(adapters)) for original, adapters in kept}
    for path in home.forms.glob("*/adapted/*.json"):
        if (path.parents[1].name, path.stem) not in known:
            path.unlink(missing_ok=True)


def _remove_others(place: Path, kept: str | None) -> None:
    for path in place.glob("*.gguf"):
        if path.name != kept:
            # An engine that serves it still has it open, and lets go of it at the next swap.
            path.unlink(missing_ok=True)
    sync(place)
