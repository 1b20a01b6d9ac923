"""The root of every error that a person may be shown, and the one that speaks for an error of another process.

An error carries a stable ``code`` and the ``facts`` that its sentence needs. The sentence itself (what
happened, what to do next) is in the catalogues, ``app/locale/<language>/errors_*.toml``, so that one
error reads right in either language, travels as JSON between processes, and is tested for having both texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

Fact = str | int | float


class EnlaceError(Exception):
    """Something a person can be told about. Subclasses set ``code`` and, where it is not 1, ``exit_code``.

    ``exit_code``: 1 failed, 2 wrong usage, 130 interrupted.
    """

    code: ClassVar[str] = "unexpected"
    exit_code: ClassVar[int] = 1

    def __init__(self, **facts: Fact) -> None:
        self.facts: dict[str, Fact] = facts
        super().__init__(f"{self.code} {facts}" if facts else self.code)


class Reported(EnlaceError):
    """An error that another process or an earlier run wrote down, known by its code and facts alone."""

    def __init__(self, code: str, facts: Mapping[str, Any], exit_code: int = 1) -> None:
        # The class has one code for all its objects; this one speaks for another class.
        self.__dict__ |= {"code": code, "exit_code": exit_code}
        super().__init__(**{name: value for name, value in facts.items() if isinstance(value, str | int | float)})
