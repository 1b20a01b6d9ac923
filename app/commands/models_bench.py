"""``enlace models bench``: the forms of a model side by side, and the best of them served from then on."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from app.bytes_text import size_text
from app.commands.bench_view import BenchView
from app.commands.forms_text import form_text
from app.commands.opening import open_session
from app.commands.options import JsonOption
from app.commands.output import remark, write, write_json, write_table
from app.exit_codes import INTERRUPTED
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from pathlib import Path

    from app.catalogue import Catalogue
    from app.session import Session
    from engine.forms.bench import Chosen

_HEADS: Final = ("form", "size", "read", "write", "turn", "loss", "agreement", "note")


class BenchInterrupted(EnlaceError):
    """The person stopped the measurement; what was served is served still. No facts."""

    code = "bench_interrupted"
    exit_code = INTERRUPTED


def bench(
    name: Annotated[str | None, typer.Argument(help="command.forms.name")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="command.forms.dry_run")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="command.forms.forget")] = False,
    as_json: JsonOption = False,
) -> int:
    """Measure the forms of a model, the one that answers where none is named, and keep the best."""
    from engine.catalogue import model_path

    with open_session() as session:
        chosen = name or session.snapshot().base_name
        session.home.prepare()
        path = model_path(session.home, chosen)
        if forget:
            return _forget(session, chosen, path, as_json=as_json)
        return _measure(session, chosen, path, dry=dry_run, as_json=as_json)


def _measure(session: Session, name: str, path: Path, *, dry: bool, as_json: bool) -> int:
    from engine.forms.bench import Bench

    settings = session.settings
    view = BenchView(session.catalogue, settings.engine.pull.line_s)
    measurement = Bench(
        session.home,
        settings.engine,
        path,
        name,
        settings.assistant.system_prompt,
        clock=time.time,
        tell=view,
    )
    try:
        found = measurement.run(dry=dry)
    except KeyboardInterrupt as interrupted:
        raise BenchInterrupted from interrupted
    finally:
        view.end()
    if found.kept:
        _take_up(session, name)
    if as_json:
        write_json(_as_json(name, found))
        return 0
    words = session.catalogue
    write_table([words.text(f"command.forms.heads.{head}") for head in _HEADS], _rows(words, found))
    write("")
    for line in _verdict(words, name, found):
        write(line)
    return 0


def _forget(session: Session, name: str, path: Path, *, as_json: bool) -> int:
    from engine.forms.keeping import forget_form

    was = forget_form(session.home, session.household.snapshots.file_digest(path))
    if was:
        _take_up(session, name)
    if as_json:
        write_json({"model": name, "forgotten": was})
    else:
        write(session.catalogue.text("command.forms.forgotten" if was else "command.forms.nothing", name=name))
    return 0


def _take_up(session: Session, name: str) -> None:
    """Have a running engine serve what is on record now, where it is this model that answers."""
    from app.fitting import fit_current

    current = session.snapshot()
    if current.base_name != name:
        return
    try:
        asyncio.run(session.engine.load(current.digest))
    except EnlaceError:
        # It is on record; the next engine that starts serves it.
        remark(session.catalogue.text("command.forms.next_start"))
    if fit_current(session):
        remark(session.catalogue.text("command.forms.fitting", snapshot=current.id))


def _rows(words: Catalogue, found: Chosen) -> list[tuple[str, ...]]:
    return [_row(words, row, row["form"] == found.record.form) for row in found.record.rows]


def _row(words: Catalogue, row: dict[str, Any], chosen: bool) -> tuple[str, ...]:
    notes = [words.text("command.forms.chosen")] if chosen else []
    if row["why"]:
        key = f"command.forms.why.{row['why'].replace(' ', '_')}"
        notes.append(words.text(key) if words.has(key) else row["why"])
    return (
        form_text(words, row["form"]),
        size_text(words, row["bytes"]) if row["bytes"] else "-",
        _number(words, row["read"], 0),
        _number(words, row["write"], 1),
        _number(words, row["turn_s"], 2),
        _number(words, row["kl"], 4),
        "-" if row["agreement"] is None else f"{row['agreement']:.0%}",
        ", ".join(notes),
    )


def _verdict(words: Catalogue, name: str, found: Chosen) -> list[str]:
    record = found.record
    shape = words.text(
        "command.forms.shape",
        threads=record.shape.threads or words.text("command.forms.all_cores"),
        chunk=record.shape.prompt_chunk,
        attention=words.text("command.yes" if record.shape.flash_attention else "command.no"),
        layers=record.shape.gpu_layers,
    )
    key = "kept" if found.kept else "would_keep"
    verdict = words.text(
        f"command.forms.{key}", name=name, form=form_text(words, record.form), gain=_number(words, found.gain, 2)
    )
    back = [words.text("command.forms.back")] if found.kept else []
    return [verdict, shape, *back]


def _as_json(name: str, found: Chosen) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "model": name,
        "kept": found.kept,
        "gain": found.gain,
        **asdict(found.record),
    }


def _number(words: Catalogue, value: float | None, digits: int) -> str:
    if value is None:
        return "-"
    return f"{value:.{digits}f}".replace(".", words.text("command.models.decimal_mark"))
