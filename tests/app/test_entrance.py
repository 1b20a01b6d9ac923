"""Every way in to what is a member's asks for their PIN or passphrase, and nobody else's opens it."""

from __future__ import annotations

import itertools
import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.commands.proving import GIVEN, NEW
from app.session import Session
from configs.home import Home
from memory.entrance_errors import SecretNeeded
from tests.app.conftest import TIMEOUT_S, Run
from tests.project import ROOT

SAID = "xylophonium"
PIN = "4821"
PASSPHRASE = "siete gatos en un tejado"  # noqa: S105 - nobody's
QUICK = {"MEMORY_MIB": "8", "PASSES": "1", "LANES": "1"}

# What Ana, who administers, may try on Leo: every command that takes --member.
TRIED = [
    ("ask", "Where is it?"), ("ask", "Where is it?", "--continue"),
    ("chats", "list"), ("chats", "list", "--deleted"), ("chats", "show", "1"), ("chats", "search", SAID),
    ("chats", "export"), ("chats", "export", "--json"), ("chats", "delete", "1", "--yes"), ("chats", "restore", "1"),
    ("memory", "list"), ("memory", "list", "--json"), ("memory", "search", SAID), ("memory", "forget", "1"),
    ("memory", "edit", "1", "--shared"), ("memory", "add", "something"), ("memory", "restore", "1"),
    ("lessons", "list"), ("lessons", "list", "--json"), ("lessons", "export", "-"), ("lessons", "share", "1"),
    ("lessons", "withdraw", "1"), ("lessons", "restore", "1"), ("lessons", "waiting"), ("lessons", "waiting", "--json"),
    ("lessons", "contradicted"), ("lessons", "contradicted", "--json"),
    ("lessons", "add", "--question", "q?", "--chosen", "a"),
    ("train", "mine"), ("train", "mine", "on"), ("train", "history"), ("train", "status"), ("train", "report"),
    ("train", "now", "--mine"), ("train", "pause"), ("train", "gate"), ("snapshots", "rollback"),
    ("snapshots", "rollback", "--mine"), ("snapshots", "prune", "--yes"), ("snapshots", "compare", "v0", "v0"),
    ("members", "export", "everything"), ("chats", "import", "file.json"), ("documents", "list"),
    ("documents", "status"), ("documents", "add", "."), ("documents", "read"), ("documents", "remove", "1"),
    ("graph", "show", "Leo"), ("graph", "query"), ("graph", "proposals"), ("graph", "merges"),
    *(("graph", *each) for each in (("merge", "1", "2"), ("refuse", "1", "2"), ("unmerge", "1"))),
    ("memory", "show", "1"), ("memory", "undo"), ("memory", "rebuild"), ("memory", "import", "facts.jsonl"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in QUICK.items():
        monkeypatch.setenv(f"ENLACE_MEMORY__ENTRANCE__{name}", value)


@pytest.fixture
def secret(tmp_path: Path) -> Callable[[str], str]:
    """The path of a file that holds a PIN or a passphrase and that nobody else can read."""
    numbers = itertools.count()

    def kept(content: str) -> str:
        path = tmp_path / f"secret {next(numbers)}"
        path.touch(mode=0o600)
        path.write_text(f"{content}\nand more\n")
        return str(path)

    return kept


@pytest.fixture
def house(home: Home) -> None:
    """Ana administers; Leo is another adult, and has said something that is his alone."""
    with Session({**os.environ, "LANG": "en_GB.UTF-8"}) as session:
        members = session.household.members
        members.default(name="Ana")
        members.add("Leo", "en")
        memory = session.as_member("Leo").memory
        question = memory.chats.question(memory.chats.start().id, f"Where is my {SAID}?")
        memory.chats.finish_answer(memory.chats.begin_answer(question.id, "v0").id, f"In the {SAID} box.")
        memory.facts.add(f"my {SAID} is in the box")
        memory.lessons.add([{"role": "user", "content": f"Where is the {SAID}?"}], "In the box.", "Nowhere.")


def locked(here: Run, secret: Callable[[str], str], how: str) -> str:
    """Have Leo's file ask for a PIN or a passphrase; the path of what opens it."""
    given = secret(PIN if how == "pin" else PASSPHRASE)
    if how == "passphrase":
        pytest.importorskip("sqlcipher3")
    done = here("members", how, "Leo", *(["--yes"] if how == "passphrase" else []), **{NEW: given})
    assert done.code == 0, done.err
    return given


@pytest.mark.parametrize("how", ["pin", "passphrase"])
def test_whoever_administers_neither_reads_nor_exports_what_another_keeps_to_themselves(
    here: Run, house: None, secret: Callable[[str], str], how: str, home: Home, tmp_path: Path
) -> None:
    opens, wrong = locked(here, secret, how), secret("1234")
    for command in TRIED:
        for given in ({}, {GIVEN: wrong}):
            ran = here(*command, "--member", "Leo", **given)
            assert ran.code == 1, (command, ran)
            assert SAID not in ran.out + ran.err, command
            assert "Leo" in ran.err, command
            if given:
                # Wrong often enough, nobody is looked at any more for a while: this is about what is read.
                forget_tries(home)
    for command in (("chats", "search", SAID), ("memory", "search", SAID), ("lessons", "list"), ("members", "list")):
        ran = here(*command, "--json")
        assert ran.code == 0, ran.err
        assert SAID not in ran.out
    assert SAID in here("chats", "search", SAID, "--member", "Leo", **{GIVEN: opens}).out
    for log in home.logs.rglob("*"):
        assert SAID not in log.read_text()


def forget_tries(home: Home) -> None:
    import sqlite3

    with sqlite3.connect(home.family_db) as connection:
        connection.execute("DELETE FROM wrong_tries")
    connection.close()


def test_every_command_that_takes_a_member_is_tried(here: Run) -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    parts = page.split("\n### `enlace ")
    taking = {" ".join(part.split("`")[0].split()[:2]) for part in parts[1:] if "`--member" in part}
    asked = {" ".join(command[:2]) for command in TRIED} | {"ask"}
    # These act on somebody who is named otherwise, or read nothing of whose they are.
    others = {
        "members add", "members edit", "members child", "members guest", "members remove", "members empty",
        "lessons import", "lessons approve", "tools call", "tools list",
    }  # fmt: skip
    assert taking - asked - others == set()


def test_whoever_has_a_pin_decides_for_the_house_once_it_is_given(
    here: Run, house: None, secret: Callable[[str], str]
) -> None:
    opens = secret(PIN)
    here("members", "pin", "Ana", **{NEW: opens})
    here("members", "child", "Leo", **{GIVEN: opens})
    decided: tuple[tuple[str, ...], ...] = (
        ("members", "child", "Leo", "--off"), ("members", "remove", "Leo", "--yes"), ("members", "empty", "Leo"),
        ("members", "add", "Eva"), ("members", "edit", "Leo", "--name", "Leon", "--member", "Ana"),
        ("train", "pause"), ("snapshots", "prune", "--yes"), ("lessons", "approve", "1"),
    )  # fmt: skip
    for command in decided:
        refused = here(*command)
        assert (refused.code, "Ana's asks for their PIN" in refused.err) == (1, True), command
    # Named by a child, it is the child who is asked, and refused.
    refused_to_a_child: tuple[tuple[str, ...], ...] = (
        ("members", "child", "Ana"), ("members", "add", "Eva"), ("members", "remove", "Ana", "--yes"),
        ("members", "empty", "Ana"), ("members", "edit", "Ana", "--name", "Anna"), ("snapshots", "prune", "--yes"),
    )  # fmt: skip
    for command in refused_to_a_child:
        refused = here(*command, ENLACE_MEMBER="Leo")
        assert refused.code == 1, command
        assert "Leo" in refused.err, command
    assert here("members", "child", "Leo", "--off", **{GIVEN: opens}).code == 0


def test_a_child_and_a_guest_leave_what_the_household_remembers_to_adults(here: Run, house: None) -> None:
    here("memory", "add", "the key is under the stone", "--shared")
    for standing in ("child", "guest"):
        here("members", standing, "Leo")
        for command in (
            ("memory", "edit", "1", "it is gone"), ("memory", "forget", "1"), ("memory", "edit", "1", "--shared"),
            ("memory", "add", "the sea is red", "--shared"),
        ):  # fmt: skip
            # Leo's newest is his own private one: the shared one is named by its words.
            listed = json.loads(here("memory", "list", "--json", "--member", "Leo").out)
            shared = next(fact["id"] for fact in listed if fact["visibility"] == "shared")
            own = [shared if each == "1" and "--shared" not in command else each for each in command]
            refused = here(*own, "--member", "Leo")
            assert (refused.code, "child or a guest" in refused.err) == (1, True), command
    assert here("memory", "add", "my own", "--member", "Leo").code == 0
    shared = [fact for fact in json.loads(here("memory", "list", "--json").out) if fact["visibility"] == "shared"]
    assert [fact["text"] for fact in shared] == ["the key is under the stone"]


def test_a_wrong_pin_ten_times_makes_somebody_wait(here: Run, house: None, secret: Callable[[str], str]) -> None:
    opens = locked(here, secret, "pin")
    told = [here("chats", "list", "--member", "Leo", **{GIVEN: secret(f"{n:04}")}).err for n in range(10)]
    assert sum("not Leo's PIN" in each for each in told) == 5
    assert sum("too many tries" in each for each in told) == 5
    refused = here("chats", "list", "--member", "Leo", **{GIVEN: opens})
    assert (refused.code, "too many tries" in refused.err) == (1, True)


def test_a_file_that_others_can_read_is_not_looked_at(here: Run, house: None, secret: Callable[[str], str]) -> None:
    opens = locked(here, secret, "pin")
    Path(opens).chmod(0o640)
    refused = here("chats", "list", "--member", "Leo", **{GIVEN: opens})
    assert (refused.code, "chmod 600" in refused.err) == (1, True)
    missing = here("chats", "list", "--member", "Leo", **{GIVEN: f"{opens}.missing"})
    assert (missing.code, "I cannot read" in missing.err) == (1, True)


def test_a_pin_comes_through_a_descriptor_that_nobody_else_has(
    enlace: Run, here: Run, house: None, secret: Callable[[str], str]
) -> None:
    locked(here, secret, "pin")
    ran = enlace("chats", "list", "--member", "Leo", stdin=f"{PIN}\n", **{GIVEN: "/dev/stdin"})
    assert (ran.code, SAID in ran.out) == (0, True)


def at_a_terminal(home: Home, *arguments: str, typed: tuple[str, ...]) -> tuple[int, str]:
    """Run a command where somebody types; its exit code, and all that the terminal showed and it wrote."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "LANG": "en_GB.UTF-8", "ENLACE_HOME": str(home.root)}
    process = subprocess.Popen(
        [sys.executable, "-m", "app", *arguments], cwd=ROOT, env=environ,
        stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown, answers, deadline = b"", list(typed), time.monotonic() + TIMEOUT_S
    while True:
        assert time.monotonic() < deadline, shown
        try:
            shown += os.read(ours, 1024)
        except OSError:
            break
        if answers and shown.rstrip().endswith(b":") and shown.count(b":") > len(typed) - len(answers):
            os.write(ours, answers.pop(0).encode() + b"\n")
    out, _ = process.communicate(timeout=TIMEOUT_S)
    os.close(ours)
    return process.returncode, shown.decode() + out.decode()


def test_at_a_terminal_a_pin_is_asked_for_and_not_shown(
    here: Run, house: None, secret: Callable[[str], str], home: Home
) -> None:
    code, shown = at_a_terminal(home, "members", "pin", "Leo", typed=(PIN, PIN))
    assert (code, "Leo's new PIN:" in shown, PIN in shown) == (0, True, False)
    for given, code, said in ((PIN, 0, SAID), ("9999", 1, "not Leo's PIN")):
        got, shown = at_a_terminal(home, "chats", "list", "--member", "Leo", typed=(given,))
        assert (got, said in shown, "Leo's PIN:" in shown, given in shown) == (code, True, True, False)
    for new, said in ((("1111", "2222"), "the same twice"), (("12",), "digits alone")):
        got, shown = at_a_terminal(home, "members", "pin", "Leo", typed=(PIN, *new))
        assert (got, said in shown, "Once more:" in shown) == (2, True, len(new) > 1)


def test_the_code_of_a_pin_sets_another(here: Run, house: None, secret: Callable[[str], str]) -> None:
    given = here("members", "pin", "Leo", **{NEW: secret(PIN)}).out
    code = given.split(": ")[-1].split("\n")[0]
    done = here("members", "pin", "Leo", "--forgotten", **{GIVEN: secret(code), NEW: secret("7777")})
    assert done.code == 0, done.err
    assert SAID in here("chats", "list", "--member", "Leo", **{GIVEN: secret("7777")}).out
    refused = here("members", "pin", "Leo", "--forgotten", **{GIVEN: secret(code), NEW: secret("8888")})
    assert (refused.code, "not the code" in refused.err) == (1, True)


def test_whoever_has_no_pin_is_said_to_be_open(here: Run, house: None, secret: Callable[[str], str]) -> None:
    assert "Anybody in the house can open what is Eva's" in here("members", "add", "Eva").err
    locked(here, secret, "pin")
    listed = {member["name"]: member for member in json.loads(here("members", "list", "--json").out)}
    assert {name: member["entrance"] for name, member in listed.items()} == {"Ana": "open", "Leo": "pin", "Eva": "open"}
    off = here("members", "pin", "Leo", "--off", **{GIVEN: secret(PIN)})
    assert (off.code, "Anybody in the house can open" in off.out) == (0, True)


def test_whoever_lost_pin_and_code_begins_anew_unread(here: Run, house: None, secret: Callable[[str], str]) -> None:
    locked(here, secret, "pin")
    refused = here("members", "empty", "Ana", "--yes", "--member", "Leo", **{GIVEN: secret(PIN)})
    assert (refused.code, "does not administer" in refused.err) == (1, True)
    emptied = here("members", "empty", "Leo", "--yes")
    assert (emptied.code, SAID in emptied.out + emptied.err) == (0, False)
    assert json.loads(here("chats", "list", "--json", "--member", "Leo").out) == []


def test_a_session_opens_nothing_before_its_member_has_proven_who_they_are(
    here: Run, house: None, secret: Callable[[str], str], home: Home
) -> None:
    locked(here, secret, "pin")
    with Session({**os.environ}, member="Leo") as session:
        for asks in (lambda: session.memory, lambda: session.member, session.assistant):
            with pytest.raises(SecretNeeded):
                asks()
        assert session.language == "en"
        session.enter(PIN)
        assert session.memory.chats.list()


def test_a_profile_is_changed_by_its_member_and_by_whoever_administers_but_for_the_voice(
    here: Run, house: None, secret: Callable[[str], str]
) -> None:
    opens = locked(here, secret, "pin")
    changed = here("members", "edit", "Leo", "--name", "León", "--colour", "violet", "--member", "Ana", "--json")
    assert {"name": "León", "colour": "violet"}.items() <= json.loads(changed.out).items()
    refused = here("members", "edit", "León", "--voice", "like a pirate", "--member", "Ana")
    assert (refused.code, "asks for their PIN" in refused.err) == (1, True)
    done = here("members", "edit", "León", "--voice", "like a  pirate", "--json", **{GIVEN: opens})
    assert json.loads(done.out)["voice"] == "like a pirate"
    assert "like a pirate" not in here("members", "list", "--json").out
    assert here("members", "edit", "León", "--colour", "mauve", **{GIVEN: opens}).code == 2
    refused = here("members", "edit", "Ana", "--name", "Anna", "--member", "León", **{GIVEN: opens})
    assert (refused.code, "does not administer" in refused.err) == (1, True)
