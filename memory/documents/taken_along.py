"""A member's documents to take along: the files themselves, where they are still there, and what was found in them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory.documents.shelf import Shelf
from memory.documents.states import DocumentState
from memory.graph.look import Graph, Statement

_MANY: Final = 1_000_000


@dataclass(frozen=True)
class TakenDocument:
    """``said``: what is in it, in its order, with the words of this document; ``file``: the copy's name, if any."""

    state: DocumentState
    said: tuple[Statement, ...]
    file: str | None

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        state, statements = self.state, []
        for each in self.said:
            obj = each.object if isinstance(each.object, str) else each.object.name
            here = next((found for found in each.evidence if found.document == state.id), None)
            where = {"words": here.words, "page": here.page, "line": here.line} if here else {}
            statements.append({"subject": each.subject.name, "predicate": each.predicate, "object": obj, **where})
        return {
            "id": state.id,
            "name": state.name,
            "format": state.format,
            "visibility": state.visibility,
            "state": state.state,
            "paths": list(state.paths),
            "file": self.file,
            "statements": statements,
        }


def documents_of(member_id: str, shelves: Iterable[Shelf]) -> list[DocumentState]:
    """Those that a member has added, but for versions that another one took the place of; the oldest first."""
    return [
        each
        for shelf in shelves
        for each in reversed(shelf.states.list())
        if each.id and each.added_by == member_id and each.state != "replaced"
    ]


def take_along(
    documents: Sequence[DocumentState], names: Iterable[str], graph: Graph, folder: Path
) -> Iterator[TakenDocument]:
    """Copy the files into ``folder``, each under its name of ``names``, for its owner alone. Raises OSError."""
    for state, name in zip(documents, names, strict=True):
        said = tuple(graph.said_in(state.visibility, state.id, _MANY))
        source = next((Path(path) for path in state.paths if Path(path).is_file()), None)
        file = None if source is None else f"{name}{source.suffix}"
        if source is not None and file is not None:
            (folder / file).touch(mode=0o600)
            shutil.copyfile(source, folder / file)
        yield TakenDocument(state, said, file)
