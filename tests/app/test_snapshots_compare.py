"""``enlace snapshots compare``: two snapshots side by side on what the family corrected, by the real engine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.commands.errors import AlwaysAnswering
from app.comparing import Comparison, corrections
from app.session import Session
from engine.answers import Delta, EngineStatus, Sampling
from engine.errors import EngineBusy
from engine.messages import Message
from memory.manifests import Adapter
from memory.snapshots import Snapshot
from tests.app.conftest import Run
from tests.engine.snapshots import write_adapter

FRANCE = "What is the capital of France?"
STORY = [Message("user", "Write a long story about the sea.")]


def gate(value: float, name: str = "lessons_right") -> dict[str, object]:
    check = {"name": name, "value": value, "bound": 0.8, "at_least": True, "ok": True}
    return {"decision": "SHIP", "checks": [check], "reasons": []}


@pytest.fixture
def bent(talking: Session, tmp_path: Path) -> Snapshot:
    """A snapshot that is not the current one, with an adapter after which the model says nothing sensible."""
    base, household = talking.snapshot(), talking.household
    adapter = household.artifacts.put_file(write_adapter(tmp_path / "bent.gguf", seed=5, strength=20))
    return household.snapshots.create(
        base.base_name,
        base.base_sha256,
        adapters=[Adapter(adapter)],
        parent=base.id,
        run=None,
        reason="training",
        gate=gate(0.875),
    )


def corrected(session: Session, question: str, chosen: str, *, shared: bool = True) -> None:
    message = {"role": "user", "content": question}
    session.memory.lessons.add([message], chosen, "London.", visibility="shared" if shared else "private")


def test_each_correction_is_asked_of_both_and_what_answers_stays(talking: Session, asking: Run, bent: Snapshot) -> None:
    corrected(talking, FRANCE, "The capital of France is Paris.")
    corrected(talking, "What is the capital of Italy?", "Rome.", shared=False)
    ran = asking("snapshots", "compare", "current", bent.id)
    assert ran.code == 0, ran.err
    assert f"  {talking.snapshot().id}, fits: The capital of France is Paris." in ran.out
    assert f"  {bent.id}, does not fit: " in ran.out
    assert "What is the capital of Italy? (only yours)\n  correction: Rome." in ran.out
    assert f"{bent.id} fits 0 of " in ran.out
    assert "0.875" in ran.out
    status = asyncio.run(talking.engine.status())
    assert isinstance(status, EngineStatus)
    assert status.manifest == talking.snapshot().digest
    assert [move.snapshot for move in talking.household.snapshots.history()] == [talking.snapshot().id]


def test_as_json_everything_is_in_the_order_of_the_snapshots(talking: Session, asking: Run, bent: Snapshot) -> None:
    corrected(talking, FRANCE, "The capital of France is Paris.")
    told = json.loads(asking("snapshots", "compare", bent.id, "current", "--limit", "1", "--json").out)
    assert told["snapshots"] == [bent.id, "v0"]
    assert told["checks"]["lessons_right"][0]["value"] == 0.875
    assert told["checks"]["lessons_right"][1] == {}
    (lesson,) = told["lessons"]
    assert (lesson["question"], lesson["fits"], told["fitting"]) == (FRANCE, [False, True], [0, 1])
    assert "Paris" in lesson["answers"][1]


def test_it_speaks_spanish_and_tells_nobody_of_anothers_private_corrections(
    talking: Session, asking: Run, bent: Snapshot
) -> None:
    corrected(talking, FRANCE, "The capital of France is Paris.")
    corrected(talking, "What is my secret?", "Kaspar.", shared=False)
    luz = f"Luz {bent.id}"
    talking.household.members.add(luz, "es")
    ran = asking("snapshots", "compare", bent.id, "current", "--member", luz)
    assert ran.code == 0, ran.err
    assert "  corrección: The capital of France is Paris." in ran.out
    assert "  v0, encaja: The capital of France is Paris." in ran.out
    assert f"{bent.id} encaja en 0 de 1 corrección." in ran.out
    assert "Kaspar" not in ran.out
    with_secret = {lesson.question for lesson in corrections(talking)}
    assert with_secret == {FRANCE, "What is my secret?"}


async def test_it_waits_while_somebody_chats_and_chats_wait_for_nothing(talking: Session, bent: Snapshot) -> None:
    corrected(talking, FRANCE, "The capital of France is Paris.")
    await talking.engine.start()
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(0.05)

    chat = talking.engine.chat(STORY, Sampling(0, 40, 0.95, 0.0, 1.0, 64, 80))
    first = await first_text(chat)
    current = talking.snapshot()
    comparison = Comparison(talking.engine, (current, bent), talking.settings, wait)
    comparing = asyncio.create_task(comparison.of(corrections(talking)[0]))
    text = first + "".join([piece.text async for piece in chat if isinstance(piece, Delta)])
    assert not comparing.done()
    compared = await comparing
    assert compared is not None
    assert compared.fits == (True, False)
    assert waits
    assert set(waits) == {talking.settings.assistant.compare_wait_s}
    assert len(text) > len(first)


async def first_text(chat: AsyncIterator[object]) -> str:
    async for piece in chat:
        if isinstance(piece, Delta):
            return piece.text
    raise AssertionError("no text")


def test_the_latest_correction_of_a_question_is_asked(session: Session) -> None:
    for at, chosen in enumerate(("Luna.", "Nube."), start=1):
        asked = [{"role": "user", "content": "¿Cómo se llama?"}]
        session.memory.lessons.add(asked, chosen, visibility="shared", created_at=at)
    session.memory.lessons.add([{"role": "user", "content": "¿Y el gato?"}], "Sol.", created_at=3)
    assert [lesson.chosen for lesson in corrections(session)] == ["Sol.", "Nube."]


def test_without_corrections_there_are_the_numbers_alone(here: Run, session: Session) -> None:
    base, snapshots = session.snapshot(), session.household.snapshots
    made = snapshots.create(
        base.base_name, base.base_sha256, adapters=(), parent=base.id, run=None, reason="training", gate=gate(0.9)
    )
    snapshots.promote(made.id, "Ana", "passed")
    said = here("snapshots", "compare")
    assert said.code == 0, said.err
    assert "0.9" in said.out
    assert "Nothing was corrected yet" in said.out


def test_a_snapshot_that_was_given_up_or_is_damaged_is_refused(here: Run, session: Session) -> None:
    base, household = session.snapshot(), session.household
    for name in ("one", "two", "three"):
        adapter = Adapter(household.artifacts.put_bytes(name.encode()))
        made = household.snapshots.create(
            base.base_name, base.base_sha256, adapters=[adapter], parent=base.id, run=None, reason="x", gate=None
        )
        household.snapshots.promote(made.id, "Ana", "passed")
    assert here("snapshots", "prune", "--keep", "1", "--yes").code == 0
    refused = here("snapshots", "compare", "v1")
    assert (refused.code, "only its record is left" in refused.err) == (1, True)
    assert here("snapshots", "compare", "v9").code == 2


async def test_it_waits_also_where_the_engine_has_no_room_for_it(
    talking: Session, bent: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    corrected(talking, FRANCE, "The capital of France is Paris.")
    chat, refused = talking.engine.chat, [EngineBusy(waiting=2)]

    async def once_refused(*args: Any, **named: Any) -> AsyncIterator[object]:
        if refused:
            raise refused.pop()
        async for piece in chat(*args, **named):
            yield piece

    async def wait(_seconds: float) -> None:
        assert not refused

    monkeypatch.setattr(talking.engine, "chat", once_refused)
    compared = await Comparison(talking.engine, (talking.snapshot(), bent), talking.settings, wait).of(
        corrections(talking)[0]
    )
    assert compared is not None
    assert compared.fits == (True, False)


async def test_it_gives_up_where_somebody_is_answered_all_the_while(
    talking: Session, bent: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    corrected(talking, FRANCE, "The capital of France is Paris.")
    patience = talking.settings.assistant.model_copy(update={"compare_patience_s": 0.2, "compare_wait_s": 0.01})
    settings, tries = talking.settings.model_copy(update={"assistant": patience}), []

    async def refused(*_args: Any, **_named: Any) -> AsyncIterator[object]:
        tries.append(1)
        raise EngineBusy(waiting=2)
        yield

    monkeypatch.setattr(talking.engine, "chat", refused)
    with pytest.raises(AlwaysAnswering):
        await Comparison(talking.engine, (talking.snapshot(), bent), settings).of(corrections(talking)[0])
    assert len(tries) > 2
