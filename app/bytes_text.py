"""Numbers of bytes as a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.catalogue import Catalogue

_KILO: Final = 1000
_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


def size_text(words: Catalogue, count: float) -> str:
    """So many bytes: ``98 MB``, ``2.5 GB``."""
    unit = 0
    while count >= _KILO and unit < len(_UNITS) - 1:
        count, unit = count / _KILO, unit + 1
    number = f"{count:.1f}" if _UNITS[unit] in ("GB", "TB") else f"{count:.0f}"
    return f"{number.replace('.', words.text('command.models.decimal_mark'))} {_UNITS[unit]}"
