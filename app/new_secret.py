"""A new PIN or passphrase: typed, and typed again, since nobody sees what they type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from memory.entrance_errors import SecretsUnlike

if TYPE_CHECKING:
    from app.session import Session
    from memory.members import Member


class TypedTwice:
    """``form``: what is typed as it is compared and kept; it raises where that cannot be one."""

    def __init__(self, form: Callable[[str], str] = str) -> None:
        self._form = form
        self._first: str | None = None

    @property
    def half(self) -> bool:
        """Whether it has been typed once."""
        return self._first is not None

    def take(self, typed: str) -> str | None:
        """Take what was typed; the secret once it was typed twice.

        Raises SecretsUnlike, and what ``form`` does: then it is asked for from the beginning.
        """
        first, self._first = self._first, None
        secret = self._form(typed)
        if first is None:
            self._first = secret
            return None
        if secret != first:
            raise SecretsUnlike
        return secret

    def again(self) -> None:
        """Have it asked for from the beginning."""
        self._first = None


class NewPin:
    """The PIN that somebody at the screen sets, and then the code that sets another.

    ``part``: which of the three comes next. ``code``: empty until there is a PIN. ``facts``: what is said of one.
    ``member()``: whose it is, asked when it is set.
    """

    def __init__(self, session: Session, member: Callable[[], Member]) -> None:
        self._session = session
        self._member = member
        self._twice = TypedTwice(session.household.doors.check_form)
        self.code = ""

    @property
    def part(self) -> Literal["asked", "again", "code"]:
        if self.code:
            return "code"
        return "again" if self._twice.half else "asked"

    @property
    def facts(self) -> dict[str, int]:
        settings = self._session.settings.memory.entrance
        return {"least": settings.least_digits, "most": settings.most_digits}

    def typed(self, pin: str) -> None:
        """Take what was typed; the second time it is hashed, which takes a third of a second on purpose.

        Raises PinFormWrong and SecretsUnlike, and what ``set_pin`` does: then it is asked for from the beginning.
        """
        secret = self._twice.take(pin)
        if secret is not None:
            self.code = self._session.household.doors.set_pin(self._member(), secret)

    def again(self) -> bool:
        """Ask for it from the beginning; whether that is another question than what is asked now."""
        asked = self.part == "again"
        self._twice.again()
        return asked
