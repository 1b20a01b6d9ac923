"""An error that another process or an earlier run wrote down, to be put into words like any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from configs.errors import EnlaceError


class Reported(EnlaceError):
    """Known by its code and facts alone."""

    def __init__(self, code: str, facts: Mapping[str, Any]) -> None:
        # The class has one code for all its objects; this one speaks for another class.
        self.__dict__["code"] = code
        super().__init__(**{name: value for name, value in facts.items() if isinstance(value, str | int | float)})
