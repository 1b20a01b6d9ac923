"""``enlace engine``: the process that holds the model."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption, group, moment
from app.commands.output import remark, write, write_json
from app.errors_text import explain

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.session import Session
    from engine.interface import Engine, Status


def register(commands: typer.Typer) -> None:
    """Add the group ``engine``."""
    engine = group("engine")
    engine.command("run", help="command.engine.run")(run)
    engine.command("start", help="command.engine.start")(start)
    engine.command("stop", help="command.engine.stop")(stop)
    engine.command("status", help="command.engine.status")(status)
    commands.add_typer(engine)


def run() -> int:
    """Become the engine, in this terminal, until it is interrupted."""
    from engine.process import serve

    with open_session() as session:
        if session.settings.engine.server.kind != "own":
            return _show(session.catalogue, asyncio.run(session.engine.start()), as_json=False)
        manifest, home, texts = session.snapshot().digest, session.home, session.catalogue
        if serve(home, session.environ, manifest, lambda: write(texts.text("command.engine.running_here"))):
            return 0
        return _show(texts, asyncio.run(session.engine.status()), as_json=False)


def start(as_json: JsonOption = False) -> int:
    """Start the engine if none runs."""
    with open_session() as session:
        found = asyncio.run(session.engine.start())
        return _show(session.catalogue, found, as_json=as_json)


def stop() -> int:
    """End the running engine once the answers in flight are done."""
    from app.commands.waiting import wait_for
    from engine.starting import answers

    with open_session() as session:
        settings, words = session.settings_at_hand(), session.catalogue_at_hand()
        # It may have been started before another server was chosen, and hold its memory for nothing.
        engine = _own(session) if answers(session.home) else _at_hand(session)
        stopped = wait_for(engine.stop(), engine, words, settings.interface.status_seconds)
        write(words.text("command.engine.stopped" if stopped else "command.engine.not_running"))
        return 0


def status(as_json: JsonOption = False) -> int:
    """Tell what the engine serves and how it does, and when one last died."""
    from engine.crashes import last_crash

    with open_session() as session:
        texts = session.catalogue_at_hand()
        found = asyncio.run(_at_hand(session).status())
        crash = last_crash(session.home, session.settings_at_hand().engine)
        if problem := session.settings_problem():
            if found is None:
                # Nothing runs, and nothing will before they are mended.
                raise problem
            remark(str(explain(problem, texts)))
        if as_json:
            write_json({**_facts(found), "last_crash": asdict(crash) if crash else None})
            return 0
        _show(texts, found, as_json=False)
        if crash:
            known = texts.has(f"command.engine.cause.{crash.cause}")
            cause = texts.text(f"command.engine.cause.{crash.cause}") if known else crash.cause
            write(texts.text("command.engine.last_crash", when=moment(crash.seconds), cause=cause, report=crash.report))
        return 0


def _at_hand(session: Session) -> Engine:
    """What answers, also while the settings are broken: an engine that runs was started when they were not."""
    own = session.settings_at_hand().engine.server.kind == "own"
    return _own(session) if own else session.engine


def _own(session: Session) -> Engine:
    from engine.client import EngineClient

    return EngineClient(session.home, session.settings_at_hand().engine, lambda: session.snapshot().digest)


def _show(texts: Catalogue, found: Status | None, *, as_json: bool) -> int:
    from app.commands.forms_text import form_line
    from app.report.wording import duration
    from engine.forms.records import AS_PULLED
    from engine.interface import ServerStatus

    if as_json:
        write_json(_facts(found))
    elif isinstance(found, ServerStatus):
        from app.commands.server_status import write_server

        write_server(texts, found)
    elif found is None:
        write(texts.text("command.engine.not_running"))
    else:
        facts = asdict(found) | {
            "memory_mb": round(found.memory_bytes / 1e6),
            "uptime": duration(found.uptime_s),
            "speed": round(found.tokens_per_second),
        }
        write(texts.text("command.engine.running", **facts))
        if found.merged or found.form != AS_PULLED:
            write(form_line(texts, found.form, found.merged))
    return 0


def _facts(found: Status | None) -> dict[str, Any]:
    """``running`` says whether something answers: an engine that runs, or a server that can be reached."""
    running = found is not None and getattr(found, "reachable", True)
    return {"running": running, **(asdict(found) if found else {})}
