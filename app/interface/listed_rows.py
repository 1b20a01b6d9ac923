"""Rows of things that are all in memory, a line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from rich.text import Text

if TYPE_CHECKING:
    from app.catalogue import Catalogue

Item = TypeVar("Item")


class ListedRows(Generic[Item]):
    """What a ``PagedList`` shows of ``found``; whoever derives it says in ``row`` how one of them looks."""

    def __init__(self, found: Sequence[Item], catalogue: Catalogue) -> None:
        self.found = found
        self.catalogue = catalogue

    def __len__(self) -> int:
        return len(self.found)

    def at(self, place: int) -> Item | None:
        """What stands in a row; None past the last one."""
        return self.found[place] if place < len(self.found) else None

    def page(self, start: int, stop: int, width: int) -> Sequence[Text]:
        return [self.row(each) for each in self.found[start:stop]]

    def row(self, each: Item) -> Text:
        """The line of one, clean."""
        raise NotImplementedError
