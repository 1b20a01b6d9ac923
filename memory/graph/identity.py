"""Which node somebody is whom a document names: one that is there only where more than the name says so.

E-mail, telephone, website, an account's number and a known place make two one; a name alone never does. Father and son
of one name at one telephone stay two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from memory.database import Database
from memory.documents.extracting.names import LEGAL, is_place
from memory.documents.found import Entity
from memory.text import fold

Keys = Mapping[str, frozenset[str]]
# In the order of what they are worth.
STRONG: Final = ("email", "phone", "website")
# Told of one person alone, so that two that differ are two.
_OWN: Final = ("email", "birthday")
_MARKS: Final = frozenset({"padre", "hijo", "hija", "madre", "junior", "jr", "senior", "sr", "ii", "iii"})


class Identity:
    """Of one database. Everything is to be called inside of a transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def candidates(self, entity: Entity, keys: Keys, document: int) -> list[int]:
        """The nodes that are certainly this entity, those that the document itself has named before first."""
        if entity.kind == "account" or (entity.kind == "place" and is_place(entity.name)):
            return self._called(entity)
        own = self._of_document(entity, document)
        alike = [node for node in own if self._share(node, keys)] + [
            node for node in own if not self._unlike(node, keys)
        ]
        return list(dict.fromkeys([*alike, *self._by_keys(entity, keys)]))

    def properties(self, node: int) -> dict[str, frozenset[str]]:
        """What is told of a node alone, by predicate."""
        found: dict[str, frozenset[str]] = {}
        for row in self._database.rows(
            "SELECT predicate, value FROM statements WHERE subject = ? AND value IS NOT NULL AND live > 0", (node,)
        ):
            found[row["predicate"]] = found.get(row["predicate"], frozenset()) | {row["value"]}
        return found

    def _called(self, entity: Entity) -> list[int]:
        rows = self._database.rows(
            "SELECT seq FROM nodes WHERE name_key = ?1 AND kind = ?2 UNION SELECT n.seq FROM node_joins j"
            " JOIN nodes n ON n.seq = j.kept WHERE j.name_key = ?1 AND n.kind = ?2 ORDER BY seq LIMIT 1",
            (fold(entity.name), entity.kind),
        )
        return [row["seq"] for row in rows]

    def _of_document(self, entity: Entity, document: int) -> list[int]:
        """Nodes of the name, or joined with one of it, that the document, or a version before it, has named."""
        rows = self._database.rows(
            "SELECT DISTINCT n.seq FROM nodes n JOIN mentions m ON m.node = n.seq WHERE n.kind = ?3 AND"
            " (n.name_key = ?2 OR EXISTS (SELECT 1 FROM node_joins j WHERE j.kept = n.seq AND j.name_key = ?2))"
            " AND m.document IN (SELECT v.seq FROM documents d"
            "  JOIN documents v ON v.lineage = d.lineage WHERE d.seq = ?1) ORDER BY n.seq",
            (document, fold(entity.name), entity.kind),
        )
        return [row["seq"] for row in rows]

    def _by_keys(self, entity: Entity, keys: Keys) -> Iterable[int]:
        for predicate in STRONG:
            for value in sorted(keys.get(predicate, ())):
                for row in self._database.rows(
                    "SELECT n.seq, n.name FROM statements s JOIN nodes n ON n.seq = s.subject"
                    " WHERE s.value = ? AND s.predicate = ? AND n.kind = ? AND s.live > 0 ORDER BY n.seq",
                    (value, predicate, entity.kind),
                ):
                    if compatible(entity.name, row["name"]) and not self._unlike(row["seq"], keys):
                        yield row["seq"]

    def _share(self, node: int, keys: Keys) -> bool:
        known = self.properties(node)
        return not self._unlike(node, keys) and any(
            known.get(name, frozenset()) & keys.get(name, frozenset()) for name in STRONG
        )

    def _unlike(self, node: int, keys: Keys) -> bool:
        """Whether what is told of the two of them cannot be told of one."""
        known = self.properties(node)
        return any(known.get(name) and keys.get(name) and not known[name] & keys[name] for name in _OWN)


def compatible(first: str, second: str) -> bool:
    """Whether two names may be one's: all words of one are in the other, and none says that they are two."""
    ours, theirs = _words(first), _words(second)
    return bool(ours and theirs) and (ours <= theirs or theirs <= ours) and ours & _MARKS == theirs & _MARKS


def names_of(entity: Entity) -> frozenset[str]:
    """The names, folded, by which somebody asks about a node: the whole one, and shorter ones that people use."""
    whole = " ".join(re.findall(r"\w+", fold(entity.name)))
    found = {whole}
    words = whole.split()
    if entity.kind == "person" and len(words) > 1:
        found |= {words[0], " ".join(words[:2]), " ".join(words[1:])}
    if entity.kind == "company":
        found.add(" ".join(re.findall(r"\w+", fold(re.sub(rf",?\s{LEGAL}$", "", entity.name)))))
    return frozenset(name for name in found if name)


def _words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", fold(name)))
