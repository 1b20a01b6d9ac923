"""``enlace members export``: everything of one member's, nothing of another's, whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.session import Session
from tests.app.conftest import Run


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]


def lived(session: Session) -> None:
    """Ana has talked, told and taught, and Bruno has shared something and kept something."""
    household = session.household
    ana = household.member(household.members.add("Ana", "en").id)
    question = ana.chats.question(ana.chats.start().id, "How long does an egg boil?")
    for text in ("Five minutes.", "Ten minutes."):
        ana.chats.rate(ana.chats.finish_answer(ana.chats.begin_answer(question.id, "v0").id, text).id, 1)
    same = ana.chats.start("How long does an egg boil?")
    ana.chats.question(same.id, "And two?")
    ana.chats.delete(ana.chats.start("///").id)
    ana.facts.add("The key is under the mat")
    ana.facts.forget(ana.facts.add("The cat is called Max", visibility="shared").id)
    ana.lessons.add([{"role": "user", "content": "Who?"}], "Me.", "You.", visibility="shared")
    ana.lessons.withdraw(ana.lessons.add([{"role": "user", "content": "Where?"}], "Here.").id)
    bruno = household.member(household.members.add("Bruno", "en").id)
    bruno.facts.add("Bruno's own")
    bruno.facts.add("Bruno's for all", visibility="shared")
    bruno.lessons.add([{"role": "user", "content": "Bruno's question?"}], "Bruno's answer.", visibility="shared")


def test_everything_of_a_members_is_written_and_nothing_of_anothers(
    here: Run, session: Session, tmp_path: Path
) -> None:
    lived(session)
    folder = tmp_path / "mine"
    ran = here("members", "export", str(folder), "--member", "Ana", "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert (told["conversations"], told["facts"], told["lessons"]) == (3, 2, 2)
    chats = lines(folder / "conversations.jsonl")
    assert [len(chat["messages"]) for chat in chats] == [3, 1, 0]
    assert [message["rating"] for message in chats[0]["messages"]] == [0, 1, 1]
    assert {fact["text"] for fact in lines(folder / "facts.jsonl")} == {
        "The key is under the mat",
        "The cat is called Max",
    }
    assert all(fact["quote"] for fact in lines(folder / "facts.jsonl"))
    assert [lesson["status"] for lesson in lines(folder / "lessons.jsonl")] == ["active", "withdrawn"]
    (pair,) = lines(folder / "preferences.jsonl")
    assert (pair["chosen"], pair["rejected"]) == (
        [{"role": "assistant", "content": "Me."}],
        [{"role": "assistant", "content": "You."}],
    )
    pages = sorted((folder / "conversations").iterdir())
    assert len(pages) == 3
    assert sum("Five minutes." in page.read_text(encoding="utf-8") for page in pages) == 1
    assert "forgotten on" in (folder / "facts.md").read_text(encoding="utf-8")
    everything = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file())
    assert "Bruno" not in everything
    assert {path.stat().st_mode & 0o077 for path in folder.rglob("*")} == {0}


def test_the_documents_that_a_member_added_are_taken_along_with_what_they_say(
    here: Run, session: Session, tmp_path: Path
) -> None:
    lived(session)
    session.close()
    for who, name, said in (
        ("Ana", "letter.txt", "Eva Sol lives in York.\n"),
        ("Ana", "gone.txt", "Eva Sol works at Sol Motors Ltd.\n"),
        ("Bruno", "other.txt", "Luis Mora lives in Leeds.\n"),
    ):
        (tmp_path / who).mkdir(exist_ok=True)
        (tmp_path / who / name).write_text(said)
        shared = ["--shared"] if name != "letter.txt" else []
        assert here("documents", "add", str(tmp_path / who / name), "--member", who, *shared).code == 0
    (tmp_path / "Ana" / "gone.txt").unlink()
    folder = tmp_path / "mine"
    told = json.loads(here("members", "export", str(folder), "--member", "Ana", "--json").out)
    assert told["documents"] == 2
    assert {path.name: path.read_text() for path in (folder / "documents").iterdir()} == {
        "letter.txt": "Eva Sol lives in York.\n"
    }
    found = {each["name"]: each for each in lines(folder / "documents.jsonl")}
    assert (found["letter.txt"]["file"], found["gone.txt"]["file"]) == ("letter.txt", None)
    (said,) = found["letter.txt"]["statements"]
    assert (said["subject"], said["predicate"], said["object"], said["line"]) == ("Eva Sol", "lives_in", "York", 1)
    page = (folder / "documents.md").read_text()
    assert "- Eva Sol lives in York  (letter.txt, line 1)" in page
    assert "no longer where it was" in page
    everything = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file())
    assert "Luis Mora" not in everything
    assert {path.stat().st_mode & 0o077 for path in folder.rglob("*")} == {0}


def test_it_comes_back_in_another_home(here: Run, session: Session, tmp_path: Path) -> None:
    lived(session)
    folder = tmp_path / "mine"
    here("members", "export", str(folder), "--member", "Ana")
    elsewhere = {"ENLACE_HOME": str(tmp_path / "other home")}
    assert here("chats", "import", str(folder), **elsewhere).code == 0
    assert here("lessons", "import", str(folder / "preferences.jsonl"), **elsewhere).code == 0
    assert len(json.loads(here("chats", "list", "--json", **elsewhere).out)) == 2
    assert len(json.loads(here("lessons", "list", "--json", **elsewhere).out)) == 1


def test_what_is_there_is_not_written_over_and_half_a_folder_is_never_left(
    here: Run, session: Session, tmp_path: Path
) -> None:
    lived(session)
    (tmp_path / "mine").mkdir()
    assert here("members", "export", str(tmp_path / "mine"), "--member", "Ana").code == 2
    assert here("members", "export", str(tmp_path / "no" / "mine"), "--member", "Ana").code == 1
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("home", "user")] == ["mine"]
