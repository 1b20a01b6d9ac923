"""The interface locks itself when nobody has been at it for a while, or by a key: then its member comes in again.

What was going on goes on behind it. A member's file is closed as soon as nothing is written into it, and with it goes
what opens it where it is encrypted.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from app.errors_text import explain
from app.interface.lock_screen import LockScreen
from app.interface.papers import PapersRead
from configs.errors import EnlaceError
from memory.entrance_errors import SecretNeeded

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp

_MINUTE_S: Final = 60


class Locking:
    """Of one interface."""

    def __init__(self, app: EnlaceApp) -> None:
        self._app = app
        self._touched = app.clock()
        self._screen: LockScreen | None = None
        self._errors: list[Exception] = []
        self.papers = PapersRead()

    @property
    def locked(self) -> bool:
        return self._screen is not None

    def touched(self) -> bool:
        """Somebody is at it. False where nobody has been for so long that it has to lock first: that key is dropped."""
        before = self.locked
        self.look()
        self._touched = self._app.clock()
        return before or not self.locked

    def look(self) -> None:
        """Lock where nobody has been at it for long enough."""
        if self._screen is None and self._is_idle():
            self._lock_where_asked()

    def lock(self) -> None:
        """Lock now; who has nothing to come in by is told so."""
        if self._screen is None and self._app.is_open and not self._lock_where_asked():
            chat = self._app.chat()
            if chat is not None:
                chat.say("screen.lock.open")

    def hold(self, error: Exception) -> None:
        """Keep an error for whoever comes in."""
        self._errors.append(error)

    def say(self, error: EnlaceError) -> None:
        """Tell of one on the locked screen."""
        if self._screen is not None and not self._app.left_alone(error):
            self._screen.say(str(explain(error, self._app.catalogue)))

    def try_secret(self, secret: str) -> None:
        """Somebody typed what the member comes in by."""
        self._app.run_worker(self._prove(secret), exclusive=True, group="enter")

    async def give_up(self) -> None:
        """Somebody else sits down, locked or not: what was going on ends, and is kept."""
        self.papers.end()
        chat = self._app.chat()
        if chat is not None and self._app.is_open:
            await chat.stop_and_wait()
            self._app.drafts.keep(self._app.session.whoever.id, chat)
        self._end()

    def _is_idle(self) -> bool:
        longest = self._app.settings.lock_minutes * _MINUTE_S
        # A clock that was set back is no reason to wait for longer than that.
        self._touched = min(self._touched, self._app.clock())
        return bool(longest) and self._app.is_open and self._app.clock() - self._touched >= longest

    def _lock_where_asked(self) -> bool:
        session = self._app.session
        secret = session.household.doors.secret_of(session.whoever.id)
        if secret is None:
            return False
        self._screen = LockScreen(session.whoever, secret)
        self._app.push_screen(self._screen)
        self._app.run_worker(self._leave(), exclusive=True, group="lock")
        return True

    async def _leave(self) -> None:
        """Close the member's file, once the answer that is being written is stored."""
        chat, session = self._app.chat(), self._app.session
        self.papers.end()
        if chat is not None:
            await chat.answered()
        if self._screen is not None:
            await asyncio.to_thread(session.household.rest, session.whoever.id)

    async def _prove(self, secret: str) -> None:
        session = self._app.session
        try:
            session.household.members.get(session.whoever.id)
            asked = session.household.doors.secret_of(session.whoever.id) is not None
            # To look at one takes a third of a second, on purpose.
            await asyncio.to_thread(session.enter, secret)
        except EnlaceError as error:
            self.say(error)
            return
        await self._unlock(anew=not asked)

    async def _unlock(self, *, anew: bool) -> None:
        """``anew``: nothing is asked for any more, so that nobody has proven whose screen this is: it begins empty."""
        errors = self._errors
        self._end()
        told = [error for error in errors if not isinstance(error, SecretNeeded)]
        if errors or anew:
            # An error ends the widget that it came from.
            if not anew:
                self._app.drafts.keep(self._app.session.whoever.id, self._app.chat())
            await self._app.begin_anew()
        else:
            await self._app.pop_screen()
            self.papers.begin(self._app.session)
        chat = self._app.chat()
        if chat is not None:
            chat.look()
        if told:
            self._app.tell(told[0])

    def _end(self) -> None:
        self._app.workers.cancel_group(self._app, "lock")
        self._screen, self._errors = None, []
        self._touched = self._app.clock()
