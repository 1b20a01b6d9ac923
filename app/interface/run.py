"""The interface's one way in."""

from __future__ import annotations

from app.interface.app import EnlaceApp
from app.session import Session


def run(session: Session) -> int:
    """Show the interface until its member leaves; returns the exit code. Raises what nobody foresaw."""
    app = EnlaceApp(session)
    try:
        result = app.run()
    finally:
        app.locking.papers.end()
    if app.unexpected is not None:
        raise app.unexpected
    return result or 0
