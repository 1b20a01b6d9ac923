"""The root of every error that a person may be shown.

An error carries a stable ``code`` and the ``facts`` that its sentence needs. The sentence itself (what
happened, what to do next) is in the catalogues, ``app/locale/<language>/errors_*.toml``, so that one
error reads right in either language, travels as JSON between processes, and is tested for having both texts.
"""

from __future__ import annotations

from typing import ClassVar

Fact = str | int | float


class EnlaceError(Exception):
    """Something a person can be told about. Subclasses set ``code`` and, where it is not 1, ``exit_code``.

    ``exit_code``: 1 failed, 2 wrong usage, 3 held by the gate.
    """

    code: ClassVar[str] = "unexpected"
    exit_code: ClassVar[int] = 1

    def __init__(self, **facts: Fact) -> None:
        self.facts: dict[str, Fact] = facts
        super().__init__(f"{self.code} {facts}" if facts else self.code)
