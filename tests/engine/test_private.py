"""A member's own adapter answers that member alone, over the snapshot that it belongs to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, MutableMapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from configs.home import Home
from engine.answering import Answer
from engine.answers import Delta, Finished, PrivateAdapter
from engine.errors import PrivateAdapterBroken
from engine.jobs import Job
from engine.metrics import Metrics
from engine.requests import read_chat_request
from engine.routes import Route
from engine.served import ServedSnapshot, read_served, with_private
from tests.engine.asking import openai
from tests.engine.conftest import PATIENCE, Desk, House, ask
from tests.engine.snapshots import store, write_adapter, write_manifest

STORY = "Write a long story about the sea."
ANA, LUIS = "a" * 32, "b" * 32


@dataclass(frozen=True)
class Kept:
    """Two snapshots, and one adapter of Ana's over the second."""

    first: str
    second: str
    private: PrivateAdapter


@pytest.fixture
async def kept(house: House, starter: Path, tmp_path: Path) -> AsyncIterator[Kept]:
    second = write_manifest(house.home, starter, name="v1", adapter=write_adapter(tmp_path / "family.gguf", seed=1))
    own = store(house.home.of_member(ANA), write_adapter(tmp_path / "own.gguf", seed=2).read_bytes())
    first, house.digest = house.digest, second
    yield Kept(first, second, PrivateAdapter(ANA, own, second))
    house.digest = first


async def answered(house: House, private: PrivateAdapter | None, question: str = STORY) -> tuple[str, Finished]:
    text = ""
    async for piece in house.client.chat(ask(question), house.sampling(24), cache_key="talk", private=private):
        if isinstance(piece, Finished):
            return text, piece
        if isinstance(piece, Delta):
            text += piece.text
    raise AssertionError("no end")


async def test_it_is_laid_over_the_familys_adapter_for_whoever_asks_with_it_and_nothing_is_shared(
    house: House, kept: Kept
) -> None:
    family, _ = await answered(house, None)
    own, told = await answered(house, kept.private)
    assert told.usage.snapshot == f"v1+{kept.private.sha256[:8]}"
    assert told.usage.cached_tokens == 0
    again, warm = await answered(house, kept.private)
    assert (again, warm.usage.cached_tokens > 0) == (own, True)
    others, told = await answered(house, None)
    assert (others, told.usage.snapshot) == (family, "v1")
    assert own != family
    over = await posted(house, kept, private={"member": ANA, "sha256": kept.private.sha256})
    alone = await posted(house, kept, adapters=[{"sha256": store_again(house, kept)}])
    assert over != alone


async def posted(house: House, kept: Kept, **chosen: object) -> str:
    content = {"messages": [{"role": "user", "content": STORY}], "temperature": 0, "max_tokens": 24}
    async with openai(house) as client:
        done = await client.post("/v1/chat/completions", json={**content, "manifest": kept.second, **chosen})
    return str(done.json()["choices"][0]["message"]["content"])


def store_again(house: House, kept: Kept) -> str:
    """Ana's adapter in the family's store, where it can be laid over the base alone."""
    return store(house.home, house.home.of_member(ANA).artifact(kept.private.sha256).read_bytes())


async def test_each_of_the_two_is_on_by_its_own_route(house: House, starter: Path, tmp_path: Path) -> None:
    questions = (STORY, "What is the name of my diary?", "Write a story about a diary at sea.", "Who was Newton?")
    bare = [(await answered(house, None, question))[0] for question in questions]
    sea, diary = (Route({word: 1.0}, (), 0.5).as_text() for word in ("sea", "diary"))
    family = write_adapter(tmp_path / "family.gguf", seed=1, route=sea)
    first, house.digest = house.digest, write_manifest(house.home, starter, name="v1", adapter=family)
    own = store(house.home.of_member(ANA), write_adapter(tmp_path / "own.gguf", seed=2, route=diary).read_bytes())
    private = PrivateAdapter(ANA, own, house.digest)
    without = [(await answered(house, None, question))[0] for question in questions]
    with_own = [(await answered(house, private, question))[0] for question in questions]
    house.digest = first
    assert [a == b for a, b in zip(bare, without, strict=True)] == [False, True, False, True]
    assert [a == b for a, b in zip(without, with_own, strict=True)] == [True, False, False, True]


async def test_where_another_snapshot_is_current_by_now_it_is_left_out(house: House, kept: Kept) -> None:
    house.digest = kept.first
    text, told = await answered(house, kept.private)
    assert told.usage.snapshot == "v0"
    assert text == (await answered(house, None))[0]


async def test_it_is_found_in_its_members_part_of_the_home_alone(house: House, kept: Kept) -> None:
    with pytest.raises(PrivateAdapterBroken):
        await answered(house, replace(kept.private, member=LUIS))


@pytest.mark.parametrize("member", ["", "../members", "A" * 32, None, 7])
async def test_what_is_no_members_id_becomes_part_of_no_path(house: House, kept: Kept, member: object) -> None:
    private = {"member": member, "sha256": kept.private.sha256}
    content = {"messages": [{"role": "user", "content": "Hi"}], "manifest": kept.second, "private": private}
    async with openai(house) as client:
        done = await client.post("/v1/chat/completions", json=content)
    assert (done.status_code, done.json()["error"]["facts"]["field"]) == (400, "private.member")


def private_over(home: Home, starter: Path, folder: Path, **made: str) -> tuple[ServedSnapshot, PrivateAdapter]:
    """A snapshot with an adapter of the family's, as it is served, and one of Ana's over it."""
    served = read_served(home, write_manifest(home, starter, adapter=write_adapter(folder / "family.gguf"), **made))
    own = store(home.of_member(ANA), write_adapter(folder / "own.gguf", seed=2).read_bytes())
    return served, PrivateAdapter(ANA, own, served.manifest_digest)


def test_it_is_laid_over_the_very_file_that_it_was_trained_over_and_over_nothing_else(
    home: Home, starter: Path, tmp_path: Path
) -> None:
    served, private = private_over(home, starter, tmp_path)
    own = with_private(home, served, private)
    assert own is not None
    assert [file.path for file in own.adapters][1:] == [home.of_member(ANA).artifact(private.sha256)]
    assert with_private(home, replace(served, pulled=served), private) is not None
    faster = replace(served, model=tmp_path / "faster.gguf", pulled=served)
    merged = replace(served, adapters=(), merged=True, pulled=served)
    for other in (faster, merged, replace(served, manifest_digest="0" * 64)):
        assert with_private(home, other, private) is None


def test_over_a_base_that_was_replaced_it_is_left_out(home: Home, starter: Path, tmp_path: Path) -> None:
    model = home.models / "copy.gguf"
    model.write_bytes(starter.read_bytes())
    served, private = private_over(home, starter, tmp_path, model="copy")
    assert served.model == model
    assert with_private(home, served, private) is not None
    model.write_bytes(starter.read_bytes() + b"more")
    assert with_private(home, served, private) is None
    model.unlink()
    assert with_private(home, served, private) is None


@pytest.mark.parametrize("moment", ["looked up", "tried", "waiting"])
async def test_where_another_model_comes_in_its_members_question_waits_as_everybodys_does(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    home, scheduler = desk.home, desk.scheduler
    first = scheduler.loaded.served
    own = store(home.of_member(ANA), write_adapter(tmp_path / "own.gguf", seed=2).read_bytes())
    (home.models / "copy.gguf").write_bytes(desk.starter.read_bytes())
    other = read_served(home, write_manifest(home, desk.starter, name="other", model="copy"))
    exchanged: list[Future[None]] = []

    def exchange() -> None:
        exchanged.append(scheduler.swap(other))

    if moment == "looked up":

        def looked_up(*given: Any) -> ServedSnapshot | None:
            found = with_private(*given)
            if not exchanged:
                exchange()
                exchanged[0].result(timeout=PATIENCE)
            return found

        monkeypatch.setattr("engine.answering.with_private", looked_up)
    else:
        submit, lease = scheduler.submit, scheduler.lease

        def after_the_exchange(served: ServedSnapshot) -> Future[None]:
            if moment == "tried" and not exchanged:
                exchange()
            return lease(served)

        def before_the_exchange(job: Job) -> None:
            if moment == "waiting":
                exchange()
            submit(job)

        monkeypatch.setattr(scheduler, "lease", after_the_exchange)
        monkeypatch.setattr(scheduler, "submit", before_the_exchange)
    body = {
        "messages": [{"role": "user", "content": STORY}], "temperature": 0, "max_tokens": 8,
        "manifest": first.manifest_digest, "private": {"member": ANA, "sha256": own},
    }  # fmt: skip
    request = read_chat_request(json.dumps(body).encode(), desk.settings)
    told = await answer(Answer(home, scheduler, request, Metrics(desk.settings.metrics), desk.settings))
    assert [future.result(timeout=PATIENCE) for future in exchanged] == [None]
    assert told["enlace"]["snapshot"] == "other"
    scheduler.swap(first).result(timeout=PATIENCE)


async def answer(app: Answer) -> Any:
    """What an answer that is not streamed says; nobody goes away before its end."""
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError("nobody sends anything")

    await app({"type": "http"}, receive, send)
    return json.loads(b"".join(message.get("body", b"") for message in sent))
