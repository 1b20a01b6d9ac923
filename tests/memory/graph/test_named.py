"""Who is in the graph: whom a document in force names, and nobody else."""

from __future__ import annotations

import pytest

from memory.documents.errors import NodeUnknown
from memory.documents.found import Entity, Extraction, Named, Reading
from tests.memory.documents.conftest import Desk, desk

__all__ = ["desk"]

LETTER = "Ana Gil vive en Huesca.\n"


def test_whom_later_rules_find_no_more_is_nobody(desk: Desk) -> None:
    desk.write("carta.txt", "Eva Sol estuvo aquí.\n")
    desk.read()
    named = Extraction((Named(Entity("person", "Eva Sol"), 0, 7),), ())
    for extractor, found in (("rules-2", named), ("rules-3", Extraction((), ()))):
        claim = desk.shelf.claims.claim(extractor)
        assert claim is not None
        desk.shelf.finish(claim, Reading("Eva Sol estuvo aquí.\n"), found)
        there = desk.shelf.database.value("SELECT count(*) FROM nodes WHERE name = 'Eva Sol'")
        assert there == len(found.named)


def test_whom_a_former_version_alone_names_is_told_of_when_it_comes_back_and_not_before(desk: Desk) -> None:
    path = desk.write("carta.txt", LETTER)
    desk.write("otra.txt", "Eva Mora vive en Huesca.\n")
    desk.read()
    graph = desk.household.member(desk.member.id).papers.graph
    (huesca, *_), whole = graph.find("Huesca"), {node.id for node in graph.nodes()}
    path.write_text("Eva Mora vive en Jaca.\n")
    desk.read()
    assert "Ana Gil" not in {node.name for node in [*graph.nodes(), *graph.named("ana", 5)]}
    assert desk.shelf.merging.proposals(9) != []
    with pytest.raises(NodeUnknown):
        graph.find("Ana Gil")
    (desk.folder / "otra.txt").write_text("Nada.\n")
    desk.read()
    # One of the two of that name is in no document any more: there is nothing to be asked.
    assert desk.shelf.merging.proposals(9) == []
    with pytest.raises(NodeUnknown):
        graph.find("Huesca")
    path.write_text(LETTER)
    (desk.folder / "otra.txt").write_text("Eva Mora vive en Huesca.\n")
    desk.read()
    assert {node.id for node in graph.nodes()} == whole
    assert huesca.id in whole
