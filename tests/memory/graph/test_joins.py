"""Two who were made one by mistake are two again, each with what was said of them."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from memory.documents.errors import JoinUnknown
from memory.graph.look import Graph, Node
from tests.memory.documents.conftest import Desk, desk

__all__ = ["desk"]

FATHER = "Juan Gil vive en Huesca. Juan Gil trabaja en Talleres Gil S.L.\n"
SON = "Juan Gil nació en Jaca. Juan Gil trabaja en Talleres Gil S.L.\n"


def graph(desk: Desk) -> Graph:
    return desk.household.member(desk.member.id).papers.graph


def told(desk: Desk, name: str) -> list[dict[str, set[str]]]:
    """What is said of each of that name, and in which documents, by who was there first."""
    return [
        {
            f"{each.subject.name} {each.predicate} {getattr(each.object, 'name', each.object)}": {
                evidence.name for evidence in each.evidence
            }
            for each in graph(desk).statements(node)
        }
        for node in graph(desk).find(name)
    ]


def one(desk: Desk, nodes: Iterable[Node]) -> int:
    kept, gone = nodes
    joined = desk.shelf.merging.join(kept.seq, gone.seq, desk.member.id)
    assert joined is not None
    return joined


def everything(desk: Desk) -> set[tuple[str, ...]]:
    """The graph without the rows' numbers."""
    return {
        (node.name, *sorted(f"{key} {sorted(value)}" for key, value in each.items()))
        for node in graph(desk).nodes()
        for each in [told(desk, node.id)[0]]
    }


def test_father_and_son_who_were_made_one_are_two_again_with_what_each_said(desk: Desk) -> None:
    desk.write("padre.txt", FATHER)
    desk.write("hijo.txt", SON)
    desk.read()
    one(desk, graph(desk).find("Talleres Gil"))
    before = everything(desk)
    both = one(desk, graph(desk).find("Juan Gil"))
    assert len(told(desk, "Juan Gil")) == 1
    join, _ = desk.shelf.merging.joins.latest(10)
    assert (join.name, join.by) == ("Juan Gil", desk.member.id)
    desk.shelf.merging.take_back(both, desk.member.id)
    assert everything(desk) == before
    assert [each.name for each in desk.shelf.merging.joins.latest(10)] == ["Talleres Gil S.L."]
    # Somebody has said it now: they are two, and it is not asked again.
    assert desk.shelf.merging.proposals(10) == []
    with pytest.raises(JoinUnknown):
        desk.shelf.merging.take_back(both, desk.member.id)


def test_what_is_read_after_the_join_goes_where_its_document_belongs(desk: Desk) -> None:
    desk.write("a-padre.txt", FATHER)
    desk.write("hijo.txt", SON)
    desk.read()
    joined = one(desk, graph(desk).find("Juan Gil"))
    desk.write("hijo.txt", "Hola.\n" + SON.replace("Jaca", "Teruel"))
    desk.read()
    desk.shelf.merging.take_back(joined, desk.member.id)
    father, son = told(desk, "Juan Gil")
    assert father["Juan Gil works_at Talleres Gil S.L."] == {"a-padre.txt"}
    assert son == {"Juan Gil born_in Teruel": {"hijo.txt"}, "Juan Gil works_at Talleres Gil S.L.": {"hijo.txt"}}
    desk.write("hijo.txt", SON)
    desk.read()
    assert "Juan Gil born_in Jaca" in told(desk, "Juan Gil")[1]


def test_two_of_one_document_are_two_again_sentence_by_sentence(desk: Desk) -> None:
    desk.write(
        "familia.txt",
        "Eva Sol es hermana de Eva Sol Mora. Eva Sol y Eva Sol Mora viven en Jaca.\n"
        "Eva Sol Mora trabaja en Talleres Gil S.L.\n",
    )
    desk.read()
    before = everything(desk)
    names = [graph(desk).find(name)[0] for name in ("Eva Sol", "Eva Sol Mora")]
    joined = one(desk, names)
    # Nobody is their own sister.
    assert not any("sibling_of" in said for said in told(desk, "Eva Sol")[0])
    assert [node.seq for node in graph(desk).find("Eva Sol Mora")] == [names[0].seq]
    desk.shelf.merging.take_back(joined, desk.member.id)
    assert everything(desk) == before
    assert graph(desk).find("Eva Sol Mora")[0].seq != names[0].seq


def test_two_of_one_line_of_contacts_are_two_again_each_with_their_own(desk: Desk) -> None:
    people = [
        {"name": "Eva Sol", "phone": "976 111 222", "city": "Jaca", "birthday": "1950-01-02"},
        {"name": "Eva Sol", "phone": "976 333 444", "city": "Jaca", "birthday": "1980-01-02"},
    ]
    desk.write("a.json", json.dumps(people))
    desk.read()
    before = everything(desk)
    assert len({evidence for each in graph(desk).related("phone", 5) for evidence in each.evidence}) == 1
    joined = one(desk, graph(desk).find("Eva Sol"))
    desk.shelf.merging.take_back(joined, desk.member.id)
    assert everything(desk) == before


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_three_who_were_made_one_each_comes_back_in_any_order(desk: Desk, order: tuple[int, int]) -> None:
    for number, place in enumerate(("Huesca", "Jaca", "Teruel")):
        desk.write(f"{number}.txt", f"Juan Gil vive en {place}.\n")
    desk.read()
    before = everything(desk)
    first, second, third = graph(desk).find("Juan Gil")
    joins = (one(desk, (second, third)), one(desk, (first, second)))
    assert len(told(desk, "Juan Gil")) == 1
    for at in order:
        desk.shelf.merging.take_back(joins[at], desk.member.id)
    assert everything(desk) == before


def test_what_was_decided_of_the_one_that_went_is_theirs_again(desk: Desk) -> None:
    for number, place in enumerate(("Huesca", "Jaca", "Teruel")):
        desk.write(f"{number}.txt", f"Juan Gil vive en {place}.\n")
    desk.read()
    first, second, third = graph(desk).find("Juan Gil")
    desk.shelf.merging.part(second.seq, third.seq, desk.member.id)
    joined = one(desk, (first, second))
    assert desk.shelf.merging.apart(first.seq, third.seq)
    desk.shelf.merging.take_back(joined, desk.member.id)
    assert not desk.shelf.merging.apart(first.seq, third.seq)
    (again,) = {node.seq for node in graph(desk).find("Juan Gil")} - {first.seq, third.seq}
    assert desk.shelf.merging.apart(again, third.seq)


def test_who_was_made_one_by_an_e_mail_is_two_again_and_stays_so(desk: Desk) -> None:
    desk.write("a.json", '[{"name": "Ana Gil", "email": "casa@gil.example"}]')
    desk.write("b.json", '[{"name": "Ana Gil Mora", "phone": "976 111 222"}]')
    desk.read()
    both = {"name": "Ana Gil Mora", "email": "casa@gil.example", "phone": "976 111 222"}
    desk.write("c.json", json.dumps([both]))
    desk.read()
    (join,) = desk.shelf.merging.joins.latest(10)
    assert join.by is None
    desk.shelf.merging.take_back(join.seq, desk.member.id)
    assert len(graph(desk).nodes("person")) == 2
    desk.write("c.json", json.dumps([{**both, "city": "Jaca"}]))
    desk.read()
    assert len(graph(desk).nodes("person")) == 2


def test_a_forgotten_document_leaves_no_name_in_what_was_joined(desk: Desk) -> None:
    desk.write("a.txt", "Eva Sol vive en Jaca.\n")
    secret = desk.write("b.txt", "Eva Sol Mora vive en Jaca.\n")
    desk.read()
    one(desk, [graph(desk).find(name)[0] for name in ("Eva Sol", "Eva Sol Mora")])
    (held,) = (each for each in desk.shelf.states.list() if each.name == secret.name)
    assert desk.shelf.remove(held.id)
    held_names = [row["name"] for row in desk.shelf.database.rows("SELECT name FROM node_names")]
    assert not any("mora" in name for name in held_names)
    assert desk.shelf.merging.joins.latest(10) == []
