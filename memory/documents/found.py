"""What a document was found to say, before it is stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from memory.graph.terms import Kind


@dataclass(frozen=True)
class Entity:
    """Somebody or something. ``record``: which record of the document it is, where two may have one name."""

    kind: Kind
    name: str
    record: int | None = None


@dataclass(frozen=True)
class Said:
    """A statement, and where the document says it: ``text[start:end]`` of what was read."""

    subject: Entity
    predicate: str
    object: Entity | str
    start: int
    end: int


@dataclass(frozen=True)
class Named:
    """Somebody or something that a document names, and where."""

    entity: Entity
    start: int
    end: int


@dataclass(frozen=True)
class Extraction:
    """All that was found in one document."""

    named: tuple[Named, ...]
    said: tuple[Said, ...]


@dataclass(frozen=True)
class Scalar:
    """A value of a structured document: as it is meant, and where it is written."""

    value: str
    start: int
    end: int


@dataclass(frozen=True)
class Record:
    """Keys and values, in the order in which they are written."""

    entries: tuple[tuple[str, Tree], ...]

    def scalars(self) -> Iterator[tuple[str, Scalar]]:
        """Every plain value with its key, those of lists too."""
        for key, value in self.entries:
            for each in value.items if isinstance(value, Listing) else (value,):
                if isinstance(each, Scalar):
                    yield key, each


@dataclass(frozen=True)
class Listing:
    """Values one after another."""

    items: tuple[Tree, ...]


Tree: TypeAlias = "Scalar | Record | Listing"


def scalars(tree: Tree) -> Iterator[Scalar]:
    """Every value below, in the order in which they are written."""
    if isinstance(tree, Scalar):
        yield tree
    else:
        for below in tree.items if isinstance(tree, Listing) else (value for _, value in tree.entries):
            yield from scalars(below)


@dataclass(frozen=True)
class Remark:
    """Something that whoever looks at a document's state should know though it could be read: code and facts."""

    code: str
    facts: dict[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """A document as it was read. ``pages``: where each page begins in ``text``, empty where there are none.

    ``trees``: what it holds of records; ``prose``: whether the text is to be read as sentences too.
    """

    text: str
    pages: tuple[int, ...] = ()
    trees: tuple[Tree, ...] = ()
    prose: bool = True
    remarks: tuple[Remark, ...] = ()

    def page(self, place: int) -> int | None:
        """The page, counted from 1, on which a place of the text is."""
        return sum(start <= place for start in self.pages) or None

    def line(self, place: int) -> int:
        """The line, counted from 1, on its page where there are pages."""
        begin = max((start for start in self.pages if start <= place), default=0)
        return self.text.count("\n", begin, place) + 1
