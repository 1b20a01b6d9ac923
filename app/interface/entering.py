"""Who sits at the screen: whoever has a PIN or a passphrase gives it, at the start and when they sit down later."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.errors_text import explain
from app.interface.entry_dialog import EntryDialog
from app.terminal_text import clean
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp
    from app.session import Session


class Entering:
    """Of one interface."""

    def __init__(self, app: EnlaceApp) -> None:
        self._app = app

    def choose(self) -> None:
        """Ask who is here."""
        from app.interface.members_screen import MembersScreen

        app = self._app
        # At the start nobody may have proven who they are yet: then there is nothing to be changed.
        inside = app.session.inside and not app.locking.locked
        app.push_screen(MembersScreen(app.catalogue, app.session, app.theme_choice, inside=inside), self._chosen)

    def _chosen(self, member_id: str | None) -> None:
        app = self._app
        if member_id is None:
            if not app.is_open:
                # Nobody is in: there is nothing to go back to.
                app.exit(0)
        elif not (app.is_open and member_id == app.session.whoever.id):
            self.enter(app.session.as_member(member_id))

    def enter(self, session: Session, problem: str = "") -> None:
        """Let ``session`` be the interface's, once its member has proven who they are."""
        waits = session.household.doors.waits_for(session.whoever.id)
        if waits is None:
            self._app.run_worker(self._app.sit_down(session), exclusive=True, group="enter")
            return
        words, name = session.catalogue, clean(session.whoever.name)
        title = words.text(f"command.members.ask.{waits}", name=name)

        def given(secret: str | None) -> None:
            if secret is not None:
                self._try(session, secret)
            elif not self._app.is_open:
                self.choose()

        hint = words.text("screen.entry.keys" if self._app.is_open else "screen.entry.keys_at_start")
        self._app.push_screen(EntryDialog(words, title, hint=hint, hidden=True, problem=problem), given)

    def _try(self, session: Session, secret: str) -> None:
        self._app.run_worker(self._prove(session, secret), exclusive=True, group="enter")

    async def _prove(self, session: Session, secret: str) -> None:
        try:
            # To look at one takes a third of a second, on purpose.
            await asyncio.to_thread(session.enter, secret)
        except EnlaceError as error:
            self.enter(session, str(explain(error, session.catalogue)))
            return
        await self._app.sit_down(session)
