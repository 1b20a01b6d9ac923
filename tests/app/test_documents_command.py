"""Documents and the graph from the command line: what is read, what is wrong with what is not, and what is drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.commands.output import width
from configs.home import Home
from tests.app.conftest import Run


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "note.md").write_text("Ana Gil lives in York. Ana Gil works at Gil Motors Ltd.\n")
    (folder / "broken.yaml").write_text("just a sentence")
    return folder


def test_a_folder_is_read_at_once_and_what_is_wrong_with_a_file_is_told_in_both_languages(
    here: Run, papers: Path
) -> None:
    ran = here("documents", "add", str(papers))
    assert (ran.code, ran.err) == (0, "")
    assert "I have read 1 document." in ran.out
    status = here("documents", "status")
    assert "“key: value”" in status.out
    assert "«clave: valor»" in here("documents", "status", lang="es_ES.UTF-8").out
    states = {each["name"]: each for each in json.loads(here("documents", "status", "--json").out)}
    assert states["note.md"]["statements"] == 2
    assert states["broken.yaml"]["problem"] == "document_no_mapping"
    (papers / "note.md").write_text("Ana Gil lives in Leeds.\n")
    assert json.loads(here("documents", "read", "--json").out)["read"] == 1
    assert here("documents", "remove", str(papers), "--yes").code == 0
    assert json.loads(here("graph", "query", "--json").out) == []


def test_what_cannot_be_added_is_told_with_what_can(here: Run, home: Home, tmp_path: Path) -> None:
    picture = tmp_path / "photo.jpg"
    picture.write_bytes(b"\xff\xd8")
    assert ".pdf" in here("documents", "add", str(picture)).err
    assert here("documents", "add", str(tmp_path / "nothing")).code == 2
    assert here("documents", "add", str(home.root)).code == 2
    assert here("documents", "add", str(home.root.parent)).code == 2
    assert here("documents", "remove", "1", "--yes").code == 2


def test_a_neighbourhood_is_drawn_as_a_tree_that_fits_the_terminal_and_obeys_nothing(here: Run, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    name = "Gil Motors Northumberland Durham Ltd"
    letter.write_text(f"Ana Gil works at {name}. Ana Gil's email is ana@gil.example.\n\x1b]0;title\x07")
    assert here("documents", "add", str(letter)).code == 0
    drawn = here("graph", "show", "ana gil", COLUMNS="40")
    lines = drawn.out.splitlines()
    assert lines[0].startswith("Ana Gil (person")
    assert lines[1].startswith("├─ email: ana@gil.example")
    assert lines[2].startswith("└─ works at Gil Motors")
    assert all(width(line) <= 40 for line in lines)
    assert "\x1b" not in drawn.out
    told = json.loads(here("graph", "show", "ana gil", "--json").out)
    assert told[0]["statements"][0]["evidence"][0]["words"] in letter.read_text()


def test_the_graph_is_asked_by_kind_relation_and_way(here: Run, papers: Path) -> None:
    here("documents", "add", str(papers))
    assert "York" in here("graph", "query", "--kind", "place").out
    assert "(note.md, line 1)" in here("graph", "query", "--relation", "works_at").out
    assert "→ lives in York (place)" in here("graph", "query", "--from", "Ana Gil", "--to", "York").out
    assert "works_at" in here("graph", "query", "--relation", "loves").err
    assert here("graph", "show", "Nobody").code == 2


def test_two_of_one_name_are_proposed_and_decided_by_people(here: Run, papers: Path) -> None:
    (papers / "other.txt").write_text("Ana Gil was born in Bath.\n")
    here("documents", "add", str(papers))
    (pair,) = json.loads(here("graph", "proposals", "--json").out)
    assert here("graph", "refuse", pair["id"]).code == 0
    assert json.loads(here("graph", "proposals", "--json").out) == []
    assert here("graph", "merge", pair["first"]["id"], pair["second"]["id"]).code == 0
    assert len(json.loads(here("graph", "show", "Ana Gil", "--json").out)) == 1
    assert here("graph", "merge", "9").code == 2
    (made_one,) = json.loads(here("graph", "merges", "--json").out)
    assert "one with Ana Gil" in here("graph", "merges").out
    assert here("graph", "unmerge", "Ana Gil").code == 0
    assert here("graph", "unmerge", made_one["id"]).code == 2
    told = json.loads(here("graph", "show", "Ana Gil", "--json").out)
    assert [{each["predicate"] for each in one["statements"]} for one in told] == [
        {"lives_in", "works_at"},
        {"born_in"},
    ]
    assert json.loads(here("graph", "proposals", "--json").out) == []


def test_a_childs_documents_are_theirs_alone(here: Run, papers: Path) -> None:
    here("members", "add", "Ana")
    here("members", "add", "Leo")
    here("members", "child", "Leo")
    assert here("documents", "add", str(papers), "--shared", "--member", "Leo").code != 0
    assert here("documents", "add", str(papers), "--member", "Leo").code == 0
    assert json.loads(here("documents", "status", "--json", "--member", "Ana").out) == []
    assert json.loads(here("graph", "query", "--json", "--member", "Ana").out) == []
