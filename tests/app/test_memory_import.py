"""``enlace memory import``: facts that were exported are the same in another home, or none of them is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.session import Session
from tests.app.conftest import Run

# Of another home: whose it is, and who can see it.
OTHERS = ("said_by", "visibility", "line")


def told(session: Session) -> None:
    """Ana has said, noted, changed, shared, forgotten and taken back."""
    ana = session.household.member(session.household.members.add("Ana", "en").id)
    for said in ("I work at Ikea", "I'm allergic to peanuts", "I work at Renault", "My brother is called Leo"):
        ana.hearing.hear(ana.chats.question(ana.chats.start().id, said))
    facts = {fact.object: fact for fact in ana.facts.list()}
    ana.facts.undo(facts["Leo"].id)
    ana.facts.edit(facts["peanuts"].id, text="Ana is allergic to all nuts")
    ana.facts.forget(ana.facts.add("The key is under the mat", visibility="shared").id)
    ana.facts.add("The cat is called Max", visibility="shared")


def exported(here: Run, session: Session, folder: Path) -> dict[str, dict[str, Any]]:
    told(session)
    session.close()
    assert here("members", "export", str(folder), "--member", "Ana").code == 0
    return by_id(folder)


def by_id(folder: Path) -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "facts.jsonl").read_text().splitlines()]
    return {each["id"]: {name: value for name, value in each.items() if name not in OTHERS} for each in lines}


def test_facts_that_were_exported_come_back_as_they_were_and_stay_so_when_they_are_made_anew(
    here: Run, session: Session, tmp_path: Path
) -> None:
    before = exported(here, session, tmp_path / "mine")
    assert {each["forgotten_as"] for each in before.values()} == {None, "forgotten", "undone", "edited"}
    elsewhere = {"ENLACE_HOME": str(tmp_path / "other home")}
    assert here("members", "add", "Ana", **elsewhere).code == 0
    assert here("chats", "import", str(tmp_path / "mine"), **elsewhere).code == 0
    ran = here("memory", "import", str(tmp_path / "mine"), "--json", **elsewhere)
    assert json.loads(ran.out) == {"added": len(before), "known": 0}, ran.err
    again = here("memory", "import", str(tmp_path / "mine" / "facts.jsonl"), "--json", **elsewhere)
    assert json.loads(again.out) == {"added": 0, "known": len(before)}
    for name in ("same", "anew"):
        assert here("members", "export", str(tmp_path / name), **elsewhere).code == 0
        about = {key: {**each, "about_member": None} for key, each in by_id(tmp_path / name).items()}
        assert about == {key: {**each, "about_member": None} for key, each in before.items()}
        rebuilt = here("memory", "rebuild", **elsewhere)
        assert rebuilt.code == 0, rebuilt.err
    listed = json.loads(here("memory", "list", "--json", **elsewhere).out)
    assert {each["visibility"] for each in listed} == {"private"}
    # What is said next of the same takes its place there too.
    assert "Ikea" not in {each["object"] for each in listed}


@pytest.mark.parametrize(
    "wrong",
    [
        "no JSON", "[]", {"id": 1}, {"id": ""}, {"text": " "}, {"created_at": True}, {"created_at": "now"},
        {"valid_from": 1e300}, {"visibility": ["private"]}, {"about": None}, {"made_by": "somebody"}, {"denied": 1},
        {"forgotten_as": "edited"}, {"quote": "a" * 100_000}, {"line": None},
    ],
)  # fmt: skip
def test_a_line_that_is_no_fact_is_named_and_nothing_is_taken_in(session: Session, tmp_path: Path, wrong: Any) -> None:
    from memory.errors import FileUnreadable
    from memory.fact_errors import FactLinesWrong
    from memory.fact_files import import_facts

    good = {"id": "1", "text": "So", "subject": "", "said_by": "x", "visibility": "private", "created_at": 1.0}
    line = wrong if isinstance(wrong, str) else json.dumps({**good, "id": "2", **wrong})
    path = tmp_path / "facts.jsonl"
    path.write_text(f"{json.dumps(good)}\n\n{line}\n")
    ledger, member = session.memory.hearing.ledger, session.member.id
    with pytest.raises(FactLinesWrong) as caught:
        import_facts(ledger, member, [member], path, 10_000)
    assert caught.value.facts["line"] == 3
    assert session.memory.facts.list() == []
    with pytest.raises(FileUnreadable):
        import_facts(ledger, member, [member], tmp_path, 10_000)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_facts_that_an_editor_saved_in_its_own_way_are_the_same(
    session: Session, tmp_path: Path, encoding: str
) -> None:
    from memory.fact_files import import_facts

    line = {
        "id": "1",
        "text": "El ñandú corre",
        "subject": "",
        "said_by": "x",
        "visibility": "private",
        "created_at": 1,
    }
    (tmp_path / "facts.jsonl").write_text(json.dumps(line, ensure_ascii=False) + "\n", encoding=encoding)
    member = session.member.id
    import_facts(session.memory.hearing.ledger, member, [member], tmp_path / "facts.jsonl", 10_000)
    assert [fact.text for fact in session.memory.facts.list()] == ["El ñandú corre"]
