"""What was trained for one member answers that member alone, and nobody else reads anything of it."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.assistant.assistant import Assistant
from app.assistant.private import own_adapter
from app.commands.training_view import watch
from app.session import Session
from engine.answers import Sampling, Usage
from engine.forms.machine import fingerprint
from engine.forms.records import FormRecord, Shape, folder, write_form
from memory.manifests import Adapter
from memory.members import Member
from memory.private import PrivateRecord
from memory.runlog import RunEvent, append
from memory.runs import PRIVATE, Run, run_folder
from tests.app.conftest import Run as RunCommand
from tests.app.conftest import drain, ending
from tests.engine.snapshots import write_adapter

STORY = "Write a long story about the sea."
SECRET = "Quillwort"  # noqa: S105 - a word to look for, no password
WITHIN_S = 60
GATE = {"decision": "SHIP", "checks": [], "reasons": []}


def learned(session: Session, member: Member, folder: Path) -> PrivateRecord:
    """An adapter of this member's own over what the family is served; the member wants it."""
    session.household.members.set_private_training(member.id, True)
    file = write_adapter(folder / f"{member.id}.gguf", seed=2)
    return session.household.member(member.id).private.promote(file, session.snapshot(), "r0001", GATE)


def trained(session: Session, member: Member) -> Run:
    """A run on this member's private lessons that has failed, and whose files hold their words."""
    run = session.household.runs.create(PRIVATE, member=member.id)
    folder = run_folder(session.home, run)
    folder.mkdir(parents=True)
    dropped = {"name": "lesson_dropped", "id": "l1", "reason": "too_long", "question": f"{SECRET}?"}
    append(folder, RunEvent(1.0, "run_started", "", 0.0, {"run": run.id, "recipe": "family", "who": member.name}))
    append(folder, RunEvent(2.0, "measure", "prepare", 0.1, dropped))
    return session.household.runs.finish(run.id, "failed")


async def answered(assistant: Assistant) -> tuple[str, Usage]:
    """The beginning of a story, and what it took."""
    done = ending(await drain(assistant.ask(STORY, sampling=Sampling(0, 40, 0.95, 0.0, 1.0, 64, 16))))
    assert done.usage is not None
    return done.text, done.usage


@pytest.fixture
def ana(session: Session) -> Member:
    return session.household.members.default(name="Ana")


@pytest.fixture
def luis(session: Session, ana: Member) -> Member:
    return session.household.members.add("Luis", "en")


async def test_it_answers_its_member_and_nobody_else(talking: Session, tmp_path: Path) -> None:
    record = learned(talking, talking.member, tmp_path)
    other = talking.household.members.add(f"other than {talking.member.name}", "en")
    own, usage = await answered(talking.assistant())
    others, theirs = await answered(talking.as_member(other.id).assistant())
    snapshot = talking.snapshot().id
    assert (usage.snapshot, theirs.snapshot) == (f"{snapshot}+{record.sha256[:8]}", snapshot)
    assert own != others
    assert theirs.cached_tokens == 0


async def test_what_is_shared_of_an_answer_names_the_familys_snapshot_alone(talking: Session, tmp_path: Path) -> None:
    record = learned(talking, talking.member, tmp_path)
    assistant = talking.assistant()
    done = ending(await drain(assistant.ask(STORY, sampling=Sampling(0, 40, 0.95, 0.0, 1.0, 64, 16))))
    answer = talking.memory.chats.message(done.answer_id)
    assert answer.snapshot == f"{talking.snapshot().id}+{record.sha256[:8]}"
    assistant.rate(done.answer_id, -1)
    (thumb,) = talking.memory.lessons.list()
    shared = assistant.correct(done.answer_id, "The sea was calm.", shared=True)
    assert thumb.snapshot == shared.snapshot == talking.snapshot().id
    talking.memory.lessons.share(thumb.id)
    rows = talking.household.corrections() + talking.household.ratings()
    assert all(lesson.snapshot == talking.snapshot().id for lesson in rows)


async def test_switched_off_it_does_not_answer_from_the_next_question_on(talking: Session, tmp_path: Path) -> None:
    learned(talking, talking.member, tmp_path)
    assistant = talking.assistant()
    talking.household.members.set_private_training(talking.member.id, False)
    assert (await answered(assistant))[1].snapshot == talking.snapshot().id


def test_it_waits_while_the_family_is_served_something_else(session: Session, ana: Member, tmp_path: Path) -> None:
    record = learned(session, ana, tmp_path)
    base, household = session.snapshot(), session.household
    found = own_adapter(household, ana.id)
    assert found is not None
    assert (found.member, found.sha256, found.manifest) == (ana.id, record.sha256, base.digest)
    family = [Adapter(household.artifacts.put_file(write_adapter(tmp_path / "family.gguf", seed=1)))]
    made = household.snapshots.create(
        base.base_name, base.base_sha256, adapters=family, parent=base.id, run=None, reason="training", gate=None
    )
    household.snapshots.promote(made.id, "Ana", "test")
    assert own_adapter(household, ana.id) is None
    household.snapshots.rollback("Ana", "test")
    assert own_adapter(household, ana.id) == found


def test_a_member_has_one_only_after_asking_for_it(here: RunCommand, ana: Member, luis: Member) -> None:
    assert here("lessons", "add", "--question", "Where?", "--chosen", SECRET, "--private").code == 0
    refused = here("train", "now", "--mine")
    assert (refused.code, "enlace train mine on" in refused.err) == (1, True)
    assert "A private lesson has not been trained" in here("train", "mine", "on").out
    state = json.loads(here("train", "mine", "--json").out)
    assert (state["on"], state["adapter"], state["answers"], state["waiting"]) == (True, None, False, 1)
    state = json.loads(here("train", "mine", "--member", "Luis", "--json").out)
    assert (state["on"], state["waiting"]) == (False, 0)
    assert json.loads(here("train", "mine", "off", "--json").out)["on"] is False


def test_it_is_rolled_back_by_its_member_alone(
    here: RunCommand, session: Session, ana: Member, luis: Member, tmp_path: Path
) -> None:
    learned(session, ana, tmp_path)
    assert "answers Ana, and nobody else" in here("train", "mine").out
    assert here("snapshots", "rollback", "--mine", "--member", "Luis").code == 1
    assert own_adapter(session.household, ana.id) is not None
    assert json.loads(here("snapshots", "rollback", "--mine", "--json").out) == {"adapter": None, "previous": "p1"}
    assert own_adapter(session.household, ana.id) is None
    assert session.household.snapshots.history()[0].why == "base"


@pytest.mark.parametrize("option", ["--to", "--why"])
def test_the_familys_rollback_and_the_members_own_are_not_mixed_up(
    here: RunCommand, session: Session, ana: Member, tmp_path: Path, option: str
) -> None:
    learned(session, ana, tmp_path)
    refused = here("snapshots", "rollback", "--mine", option, "v0")
    assert (refused.code, f"{option} does not go with --mine" in refused.err) == (2, True)
    assert own_adapter(session.household, ana.id) is not None


def test_where_a_faster_form_is_served_its_member_is_told_that_it_does_not_answer(
    here: RunCommand, session: Session, ana: Member, tmp_path: Path
) -> None:
    learned(session, ana, tmp_path)
    assert json.loads(here("train", "mine", "--json").out)["answers"]
    snapshot = session.snapshot()
    place = folder(session.home, snapshot.base_sha256)
    place.mkdir(parents=True)
    (place / "faster.gguf").write_bytes(b"faster")
    shape = Shape.of(session.settings.engine)
    faster = hashlib.sha256(b"faster").hexdigest()
    write_form(
        session.home,
        FormRecord(snapshot.base_sha256, fingerprint(), "Q8_0", "faster.gguf", faster, shape, shape, 1.0, ()),
    )
    assert not json.loads(here("train", "mine", "--json").out)["answers"]
    assert "enlace models bench --forget" in here("train", "mine").out


def test_an_admin_sees_its_size_and_time_and_others_not_even_that(
    here: RunCommand, session: Session, ana: Member, luis: Member, tmp_path: Path
) -> None:
    assert "their own" not in here("members", "list").out
    record = learned(session, luis, tmp_path)
    assert "their own" in here("members", "list").out
    told = {each["name"]: each.get("private") for each in json.loads(here("members", "list", "--json").out)}
    assert told["Ana"] is None
    assert told["Luis"]["bytes"] == record.bytes
    seen_by_luis = json.loads(here("members", "list", "--json", ENLACE_MEMBER="Luis").out)
    seen = {name for each in seen_by_luis for name in each}
    assert seen == {"id", "name", "language", "created_at", "admin", "standing", "colour", "entrance"}


def test_one_that_trains_is_told_to_nobody_else_by_more_than_that(
    here: RunCommand, session: Session, ana: Member, luis: Member
) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as carrier:
        run = session.household.runs.create(PRIVATE, member=luis.id, pid=carrier.pid)
        refused = here("train", "now")
        assert (refused.code, "a member's own" in refused.err, run.id in refused.err) == (1, True, False)
        refused = here("members", "remove", "Luis", "--yes")
        assert (refused.code, "a member's own" in refused.err, run.id in refused.err) == (1, True, False)
        assert run.id in here("train", "now", "--member", "Luis").err
        stopped = here("train", "stop")
        assert (stopped.code, run.id in stopped.out) == (0, False)
        assert carrier.wait(WITHIN_S) == -signal.SIGTERM


def test_the_end_says_that_it_answers_only_where_it_does(
    session: Session, ana: Member, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learned(session, ana, tmp_path)
    run = session.household.runs.create(PRIVATE, member=ana.id)
    run_folder(session.home, run).mkdir(parents=True)
    session.household.runs.finish(run.id, "shipped", snapshot="p1")
    said = []
    for wanted in (True, False):
        session.household.members.set_private_training(ana.id, wanted)
        assert watch(session, run.id, as_json=False) == 0
        said.append("answers you from now on" in capsys.readouterr().out)
    assert said == [True, False]


def test_no_command_of_anothers_tells_a_word_of_it(
    here: RunCommand, session: Session, ana: Member, luis: Member
) -> None:
    session.household.member(luis.id).lessons.add([{"role": "user", "content": f"{SECRET}?"}], SECRET)
    run = trained(session, luis)
    commands = (
        ("train", "report", run.id), ("train", "report"), ("train", "status"), ("train", "status", "--json"),
        ("train", "history"), ("train", "mine"), ("snapshots", "list"), ("snapshots", "show", "--json"),
        ("members", "list", "--json"), ("lessons", "list"), ("lessons", "export", "-", "--form", "training"),
    )  # fmt: skip
    for command in commands:
        ran = here(*command)
        assert SECRET not in ran.out + ran.err, command
        assert run.id not in ran.out, command
    own = here("train", "report", run.id, "--member", "Luis")
    assert (own.code, SECRET in own.out) == (0, True)
    assert SECRET in here("train", "status", "--member", "Luis").out


def test_whoever_takes_a_private_lesson_back_is_told_what_still_knows_it(
    here: RunCommand, session: Session, ana: Member, tmp_path: Path
) -> None:
    lesson = session.memory.lessons.add([{"role": "user", "content": f"{SECRET}?"}], SECRET)
    learned(session, ana, tmp_path)
    session.memory.private.give("r0001", [lesson.id])
    run = trained(session, ana)
    session.memory.private.give(run.id, [lesson.id])
    held = run_folder(session.home, run) / "inputs.json"
    held.write_text(json.dumps({"lessons": [{"id": lesson.id, "chosen": SECRET}]}))
    page = held.with_name("report.md")
    page.write_text(SECRET)
    ran = here("lessons", "withdraw", lesson.id)
    assert "p1 still knows it" in ran.out
    assert SECRET not in held.read_text()
    assert "Lessons have been withdrawn since then (1)" in page.read_text()
