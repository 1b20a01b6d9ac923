"""A member's own adapter answers that member alone, over the snapshot that it belongs to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from configs.home import Home
from engine.answers import Delta, Finished, PrivateAdapter
from engine.errors import PrivateAdapterBroken
from engine.routes import Route
from engine.served import read_served, with_private
from tests.engine.asking import openai
from tests.engine.conftest import House, ask
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


def test_over_merged_weights_it_lies_alone(home: Home, starter: Path, tmp_path: Path) -> None:
    own = store(home.of_member(ANA), write_adapter(tmp_path / "own.gguf").read_bytes())
    merged = replace(read_served(home, write_manifest(home, starter)), merged=True)
    served = with_private(home, merged, PrivateAdapter(ANA, own, merged.manifest_digest))
    assert [file.path for file in served.adapters] == [home.of_member(ANA).artifact(own)]
