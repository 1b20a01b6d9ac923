"""Who is one with whom, what is near somebody, and what a question brings to mind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory.documents.errors import NodeUnknown
from memory.graph.look import Graph
from memory.graph.recall import GraphRecall
from memory.household import Household
from memory.members import Member
from tests.memory.documents.conftest import Desk, desk

__all__ = ["desk"]


def graph(desk: Desk) -> Graph:
    return desk.household.member(desk.member.id).papers.graph


def contacts(*people: dict[str, str]) -> str:
    return json.dumps(people)


def test_the_same_mail_makes_two_names_one_and_the_same_name_alone_does_not(desk: Desk) -> None:
    desk.write("a.json", contacts({"name": "Marta Ruiz", "email": "m@ruiz.example"}))
    desk.write("b.json", contacts({"name": "Marta Ruiz Gil", "email": "m@ruiz.example", "phone": "976 111 222"}))
    desk.write("c.txt", "Marta Ruiz vive en Huesca.\n")
    desk.read()
    known, other = graph(desk).find("Marta Ruiz")
    assert len(graph(desk).statements(known)) == 2
    assert [said.predicate for said in graph(desk).statements(other)] == ["lives_in"]
    (proposal,) = desk.shelf.merging.proposals(10)
    assert {proposal.first, proposal.second} == {known.seq, other.seq}


def test_father_and_son_of_one_name_at_one_telephone_stay_two(desk: Desk) -> None:
    father = {"name": "Juan Gil", "phone": "976 111 222", "birthday": "1950-01-02", "email": "padre@gil.example"}
    son = {"name": "Juan Gil", "phone": "976 111 222", "birthday": "1980-01-02", "email": "hijo@gil.example"}
    desk.write("a.json", contacts(father, son))
    desk.write("b.json", contacts({**son, "company": "Talleres Gil S.L."}))
    desk.read()
    first, second = graph(desk).find("Juan Gil")
    told = {node.seq: {str(said.object) for said in graph(desk).statements(node)} for node in (first, second)}
    assert sum("padre@gil.example" in each for each in told.values()) == 1
    assert not any({"padre@gil.example", "hijo@gil.example"} <= each for each in told.values())


def test_two_who_share_a_telephone_under_unlike_names_stay_two(desk: Desk) -> None:
    desk.write("a.json", contacts({"name": "Ana Gil", "phone": "976 111 222"}))
    desk.write("b.json", contacts({"name": "Luis Mora", "phone": "976 111 222"}))
    desk.read()
    assert len(graph(desk).nodes()) == 2


def test_what_somebody_decided_about_two_of_one_name_outlives_a_new_version(desk: Desk) -> None:
    desk.write("a.txt", "Marta Ruiz vive en Huesca.\n")
    desk.write("b.txt", "Marta Ruiz trabaja en Talleres Gil S.L.\n")
    desk.write("c.txt", "Marta Ruiz nació en Jaca.\n")
    desk.read()
    first, second, third = graph(desk).find("Marta Ruiz")
    desk.shelf.merging.join(first.seq, second.seq)
    desk.shelf.merging.part(first.seq, third.seq, desk.member.id)
    assert desk.shelf.merging.proposals(10) == []
    desk.write("b.txt", "Marta Ruiz trabaja en Talleres Gil S.L.\nEva Gil vive en Jaca.\n")
    desk.read()
    one, two = graph(desk).find("Marta Ruiz")
    assert {said.predicate for said in graph(desk).statements(one)} == {"lives_in", "works_at"}
    assert {said.predicate for said in graph(desk).statements(two)} == {"born_in"}
    assert desk.shelf.merging.proposals(10) == []


def test_the_neighbourhood_and_the_way_between_two_are_found_over_several_documents(desk: Desk) -> None:
    desk.write("a.txt", "Ana Gil vive en Huesca.\n")
    desk.write("b.json", contacts({"name": "Eva Mora", "city": "Huesca", "company": "Talleres Mora S.L."}))
    desk.read()
    (ana,), (firm,) = graph(desk).find("ana gil"), graph(desk).find("Talleres Mora")
    assert [step.after.name for step in graph(desk).around(ana, 1, 100)] == ["Huesca"]
    assert [step.after.name for step in graph(desk).around(ana, 3, 100)] == ["Huesca", "Eva Mora", "Talleres Mora S.L."]
    way = graph(desk).path(ana, firm)
    assert way is not None
    assert [(step.predicate, step.turned) for step in way] == [
        ("lives_in", False),
        ("lives_in", True),
        ("works_at", False),
    ]
    with pytest.raises(NodeUnknown):
        graph(desk).find("nobody")


def test_a_question_that_names_somebody_is_answered_with_the_document_that_says_so(desk: Desk) -> None:
    desk.write(
        "a.md", "# Notas\n\nAna Gil vive en Huesca. Ana Gil trabaja en Talleres Gil S.L.\nRosa Mora vive en Jaca.\n"
    )
    desk.read()
    recall = desk.household.member(desk.member.id).papers.recall
    best = recall.about("¿Dónde trabaja ana gil?", 5)[0]
    assert (best.statement.predicate, best.score) == ("works_at", 1.0)
    (evidence,) = best.statement.evidence
    assert (evidence.name, evidence.line) == ("a.md", 3)
    assert evidence.words in (desk.folder / "a.md").read_text()
    assert recall.about("¿Y Rosa, dónde vive?", 5)
    assert recall.about("me han regalado una rosa", 5) == []
    assert recall.about("¿Cuánto hierve un huevo?", 5) == []


def test_what_a_question_does_not_ask_for_comes_to_mind_as_far_as_the_settings_say(desk: Desk) -> None:
    desk.write("a.txt", "Ana Gil vive en Huesca.\n")
    desk.read()
    for unasked, found in ((0.25, [0.25]), (0.0, [])):
        settings = desk.settings.memory.documents.model_copy(update={"recalled_unasked": unasked})
        recall = GraphRecall({"shared": desk.shelf.database}, settings)
        assert [each.score for each in recall.about("¿Qué le regalo a Ana Gil?", 5)] == found


def test_somebody_in_ones_own_papers_is_not_taken_for_what_stands_in_the_same_row_of_the_households(
    desk: Desk, tmp_path: Path
) -> None:
    desk.write("a.txt", "Ana Gil trabaja en Talleres Gil S.L.\n")
    own = desk.household.member(desk.member.id).papers
    aside = tmp_path / "own.json"
    aside.write_text(contacts({"name": "Eva Sol", "phone": "976 1"}, {"name": "Luis Mora", "phone": "976 111 222"}))
    own.shelf.sources.add(aside, desk.member.id)
    desk.read()
    (works,) = (each for each in graph(desk).related("works_at", 5) if not isinstance(each.object, str))
    (luis,) = graph(desk).find("Luis Mora")
    assert works.object.seq == luis.seq  # type: ignore[union-attr]
    said = own.recall.about("¿Qué les regalo a Ana Gil y a Luis Mora?", 5)
    unasked = desk.settings.memory.documents.recalled_unasked
    assert [each.score for each in said if each.statement.predicate == "works_at"] == [unasked]


def test_nothing_of_one_members_graph_is_seen_by_another(
    desk: Desk, household: Household, bruno: Member, tmp_path: Path
) -> None:
    own = tmp_path / "bruno"
    own.mkdir()
    (own / "a.txt").write_text("Ana Gil trabaja en Secretos Gil S.L.\n")
    household.member(bruno.id).papers.shelf.sources.add(own, bruno.id)
    desk.write("b.txt", "Ana Gil vive en Huesca.\n")
    desk.member = bruno
    desk.read()
    mine, theirs = household.member(bruno.id).papers.graph, household.members.list()[0]
    assert len(mine.find("Ana Gil")) == 2
    assert [node.name for node in household.member(theirs.id).papers.graph.nodes()] == ["Ana Gil", "Huesca"]
