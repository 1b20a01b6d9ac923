"""A snapshot that is not served answers one request, and gives way to everybody who chats."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.answers import Delta, EngineStatus, Finished
from engine.errors import EngineBusy, SnapshotApart, SnapshotBroken
from tests.engine.asking import post, text_of
from tests.engine.conftest import PATIENCE, Desk, House, ask
from tests.engine.snapshots import write_adapter, write_manifest

FRANCE = "What is the capital of France?"
STORY = "Write a long story about the sea."


@dataclass(frozen=True)
class Two:
    """The manifests of what is served, and of a snapshot beside it."""

    served: str
    other: str


@pytest.fixture
def two(house: House, starter: Path, tmp_path: Path) -> Two:
    adapter = write_adapter(tmp_path / "other.gguf", seed=3)
    return Two(house.digest, write_manifest(house.home, starter, name="v1", adapter=adapter))


async def beside(house: House, manifest: str, question: str = STORY, tokens: int = 24) -> tuple[str, Finished]:
    text = ""
    async for piece in house.client.chat(ask(question), house.sampling(tokens), snapshot=manifest):
        if isinstance(piece, Finished):
            return text, piece
        if isinstance(piece, Delta):
            text += piece.text
    raise AssertionError("no end")


async def test_a_snapshot_answers_beside_what_is_served_as_it_does_when_it_is_served(house: House, two: Two) -> None:
    served = await text_of(house, STORY, max_tokens=24)
    text, told = await beside(house, two.other)
    assert (told.usage.snapshot, text != served) == ("v1", True)
    status = await house.client.status()
    assert isinstance(status, EngineStatus)
    assert (status.snapshot, status.manifest) == ("v0", two.served)
    assert await text_of(house, STORY, max_tokens=24) == served
    assert (await beside(house, two.served))[0] == served
    house.digest = two.other
    assert await text_of(house, STORY, max_tokens=24) == text
    assert (await beside(house, two.served))[1].usage.snapshot == "v0"
    house.digest = two.served
    await house.client.load(two.served)


async def test_a_snapshot_of_another_model_is_refused_and_the_model_stays(
    house: House, two: Two, starter: Path
) -> None:
    model = house.home.models / "other.gguf"
    model.write_bytes(starter.read_bytes() + b"\0")
    elsewhere = write_manifest(house.home, model, name="v2", model="other")
    try:
        with pytest.raises(SnapshotApart) as refused:
            await beside(house, elsewhere)
    finally:
        # The home is that of other tests too.
        model.unlink()
    assert refused.value.facts == {"snapshot": "v2", "served": "v0"}
    with pytest.raises(SnapshotBroken):
        await beside(house, "0" * 64)
    assert "Paris" in await text_of(house, FRANCE)


async def test_it_is_no_snapshots_own_answer_with_other_adapters_over_it(house: House, two: Two) -> None:
    content = {"messages": [{"role": "user", "content": "Hi"}], "snapshot": two.other, "adapters": []}
    answer = await post(house, "/v1/chat/completions", content)
    assert (answer.status_code, answer.json()["error"]["facts"]["field"]) == (400, "snapshot")


def test_whoever_is_patient_ends_as_soon_as_somebody_else_asks(desk: Desk) -> None:
    patient = desk.put(STORY, desk.sampling(400), patient=True)
    patient.first()
    text, _ = desk.put(FRANCE).end()
    assert "Paris" in text
    _, finished = patient.end()
    assert finished.reason == "cancelled"
    assert finished.usage.answer_tokens < 400


def test_whoever_is_patient_is_not_begun_while_somebody_else_is_answered(desk: Desk) -> None:
    chat = desk.put(STORY, desk.sampling(60))
    chat.first()
    _, finished = desk.put(FRANCE, patient=True).end()
    assert (finished.reason, finished.usage.answer_tokens) == ("cancelled", 0)
    assert chat.end()[1].reason == "length"
    deadline = time.monotonic() + PATIENCE
    while desk.scheduler.working:
        assert time.monotonic() < deadline
    assert "Paris" in desk.put(FRANCE, patient=True).end()[0]


def test_two_who_are_patient_do_not_disturb_each_other(desk: Desk) -> None:
    both = [desk.put(FRANCE, patient=True) for _ in range(2)]
    assert [asked.end()[1].reason for asked in both] == ["stop", "stop"]


def test_nobody_who_chats_is_refused_for_those_who_are_patient(desk: Desk) -> None:
    room = desk.settings.slots + desk.settings.queue_length
    patient = [desk.put(STORY, desk.sampling(400), patient=True) for _ in range(room)]
    with pytest.raises(EngineBusy):
        desk.put(FRANCE, patient=True)
    assert "Paris" in desk.put(FRANCE).end()[0]
    assert [asked.end()[1].reason for asked in patient] == ["cancelled"] * room


def test_whoever_is_patient_gives_way_before_anything_is_read_also_where_there_is_no_room(desk: Desk) -> None:
    room = desk.settings.slots + desk.settings.queue_length
    chats = [desk.put(STORY, desk.sampling(40)) for _ in range(room)]
    late = desk.put(FRANCE * 2000, patient=True)
    assert late.end()[1].reason == "cancelled"
    assert late.job.model is None
    assert [asked.end()[1].reason for asked in chats] == ["length"] * room


async def test_a_snapshot_is_not_even_read_for_whoever_is_patient_while_somebody_chats(house: House) -> None:
    stream = house.client.chat(ask(STORY), house.sampling(400))
    async with contextlib.aclosing(stream) as chat:
        await anext(chat)
        _, told = await beside(house, "0" * 64)
        assert (told.reason, told.usage.answer_tokens) == ("cancelled", 0)
    with pytest.raises(SnapshotBroken):
        await until_begun(house, "0" * 64)


async def until_begun(house: House, digest: str) -> None:
    """Ask until it is no longer put off: the engine hears a moment later that nobody reads the story any more."""
    deadline = time.monotonic() + PATIENCE
    while (await beside(house, digest))[1].reason == "cancelled":
        assert time.monotonic() < deadline
