"""Another snapshot answers, or nothing changes: with an engine running, with none, and with one that dies over it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
from pathlib import Path

import pytest

from app.session import Session
from configs.home import Home
from engine.answers import EngineStatus, Sampling
from engine.errors import SwapBroken
from engine.messages import Message
from memory.manifests import Adapter
from memory.snapshots import Snapshot
from tests.app.conftest import Run
from tests.project import ROOT


def made(session: Session, adapter: bytes) -> Snapshot:
    """A snapshot over the current base with these bytes as its adapter; it is not current."""
    base, household = session.snapshot(), session.household
    return household.snapshots.create(
        base.base_name,
        base.base_sha256,
        adapters=[Adapter(household.artifacts.put_bytes(adapter))],
        parent=base.id,
        run=None,
        reason="training",
        gate=None,
    )


def test_a_snapshot_that_the_engine_refuses_does_not_become_the_current_one(talking: Session, asking: Run) -> None:
    refused = made(talking, b"no adapter at all")
    before = asyncio.run(talking.engine.start())
    ran = asking("snapshots", "rollback", "--to", refused.id)
    assert ran.code == 1
    assert "Traceback" not in ran.err
    assert talking.snapshot().id == before.snapshot
    assert refused.id not in {move.snapshot for move in talking.household.snapshots.history()}
    after = asyncio.run(talking.engine.status())
    assert isinstance(before, EngineStatus)
    assert isinstance(after, EngineStatus)
    assert after.manifest == before.manifest


def test_a_snapshot_whose_model_is_gone_does_not_become_the_current_one(here: Run, home: Home, starter: Path) -> None:
    other = home.models / "other.gguf"
    other.write_bytes(starter.read_bytes() + b"\0")
    with Session(os.environ) as session:
        session.snapshot()
    assert here("models", "use", "other").code == 0
    assert here("snapshots", "rollback").code == 0
    other.unlink()
    ran = here("snapshots", "rollback", "--to", "v1")
    assert ran.code == 1
    assert "other" in ran.err
    with Session(os.environ) as session:
        assert session.snapshot().id == "v0"


def test_an_engine_that_dies_over_a_swap_leaves_the_old_snapshot_current(session: Session) -> None:
    current = session.snapshot()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(session.home.engine_socket))
    listener.listen()

    def die() -> None:
        connection, _ = listener.accept()
        connection.recv(1)
        connection.close()
        listener.close()

    dying = threading.Thread(target=die)
    dying.start()
    with pytest.raises(SwapBroken):
        asyncio.run(session.engine.adopt(current.digest, lambda: pytest.fail("it was made current")))
    dying.join()


def test_a_model_that_cannot_be_opened_does_not_become_the_current_one_where_no_engine_runs(
    here: Run, home: Home, starter: Path
) -> None:
    (home.models / "arch.gguf").write_bytes(of_another_architecture(starter))
    with Session(os.environ) as session:
        session.snapshot()
    ran = here("models", "use", "arch")
    assert (ran.code, ran.out) == (1, "")
    assert "arch.gguf" in ran.err
    with Session(os.environ) as session:
        assert session.snapshot().id == "v0"


def test_a_question_to_a_model_that_broke_later_names_the_way_back(enlace: Run, home: Home, starter: Path) -> None:
    other = home.models / "other.gguf"
    other.write_bytes(starter.read_bytes() + b"\0")
    asked = ("ask", "What is the capital of France?", "--no-memory")
    assert enlace("models", "use", "other").code == 0
    assert enlace("engine", "stop").code == 0
    other.write_bytes(of_another_architecture(starter))
    ran = enlace(*asked)
    assert ran.code == 1
    assert "smollm2-135m answer again, as before: `enlace snapshots rollback`" in ran.err
    assert enlace("snapshots", "rollback").code == 0
    assert "Paris" in enlace(*asked).out


@pytest.mark.parametrize("command", [("models", "use", "other"), ("snapshots", "rollback"), ("engine", "stop")])
async def test_a_command_that_waits_for_an_answer_says_so(
    talking: Session, starter: Path, asking: Run, command: tuple[str, ...]
) -> None:
    (talking.home.models / "other.gguf").write_bytes(starter.read_bytes() + b"\0")
    assert asking("models", "use", "smollm2-135m" if command[0] == "models" else "other").code == 0
    question = [Message("user", "Tell me a very long story about a ship.")]
    answering = talking.engine.chat(question, Sampling(0, 40, 0.95, 0.0, 1.0, 64, 1500))
    await anext(answering)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "app", *command),
        cwd=ROOT,
        env={**os.environ, **talking.environ, "ENLACE_INTERFACE__STATUS_SECONDS": "0.05"},
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    assert await process.stderr.readline() == b"Waiting for the answer that is being written.\n"
    await answering.aclose()
    assert await process.wait() == 0


def of_another_architecture(starter: Path) -> bytes:
    """The starter model under an architecture that llama.cpp does not know; its metadata's other keys as they were."""
    name = b"general.architecture\x08\0\0\0\5\0\0\0\0\0\0\0llama"
    return starter.read_bytes().replace(name, name.replace(b"llama", b"llamb"), 1)


def test_a_list_says_what_is_on_probation_and_what_went_by_itself(here: Run, session: Session) -> None:
    chats, household = session.memory.chats, session.household

    def answered(snapshot: str, number: int, rating: int) -> None:
        for _ in range(number):
            answer = chats.begin_answer(chats.question(chats.start().id, "What?").id, snapshot)
            chats.finish_answer(answer.id, "This.")
            chats.rate(answer.id, rating)

    base = session.snapshot()
    answered("v0", 20, 0)
    made = household.snapshots.create(
        base.base_name, base.base_sha256, adapters=(), parent=base.id, run="r0001", reason="training", gate=None
    )
    household.snapshots.promote(made.id, "Ana", "run r0001")
    answered("v1", 3, -1)
    found = household.count_answers(session.member.id)
    assert found is not None
    listed = here("snapshots", "list").out
    assert "v1 is on probation: 3 of its first 40 answers are through, and 3 were corrected" in listed
    rows = json.loads(here("snapshots", "list", "--json").out)
    assert rows[0]["probation"]["counts"]["after_bad"] == 3
    household.probations.go_back(found)
    told = "v1 was gone back from by itself: 3 of its first 3 answers were corrected or rated as bad"
    assert told in here("snapshots", "list").out
    assert told in here("snapshots", "show", "v1").out
    assert told in here("snapshots", "show", "v0").out
    rows = json.loads(here("snapshots", "list", "--json").out)
    assert (rows[0]["probation"], rows[0]["gone_back"]["snapshot"]) == (None, "v0")
