"""Opens the session of a command, and remembers it so that an error is told in the language of whoever asked."""

from __future__ import annotations

import os

from app.catalogue import Catalogue
from app.commands.proving import ask_secret
from app.session import Session

_opened: list[Session] = []


def open_session(*, member: str | None = None, asks: bool = True) -> Session:
    """The session of this command, for ``member`` where one is named; a PIN is asked for here unless ``asks`` is false.

    Raises HomeNotWritable.
    """
    session = Session(os.environ, member=member, ask=ask_secret if asks else None)
    _opened.append(session)
    session.home.look()
    return session


def forget_sessions() -> None:
    """Those of a command line before this one, in the same process, say nothing about the language of this one."""
    _opened.clear()


def last_catalogue() -> Catalogue:
    """The texts in the language of the session opened last; where none is, of whoever would be talking."""
    return (_opened[-1] if _opened else Session(os.environ)).catalogue_unopened()
