"""What is in the cache is not read again, and does not change the answer."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.errors import EngineFailed
from engine.lookup import Lookup
from engine.native import SequenceState
from tests.engine.conftest import Desk, desk_of_its_own
from tests.engine.snapshots import write_adapter

LONG = "Tell me more about the old fisherman and the sea. " * 30  # about 350 tokens
STORY = "Write a long story about the sea."


def test_the_likeliest_answer_is_the_same_whatever_the_cache_holds_and_others_do(desk: Desk) -> None:
    desk.scheduler.drop_cache()
    alone, first = desk.put(STORY, desk.sampling(16), key="a").end()
    again, second = desk.put(STORY, desk.sampling(16), key="a").end()
    assert first.usage.cached_tokens == 0
    assert second.usage.cached_tokens > 0
    other = desk.put(LONG, desk.sampling(24), key="b")
    beside, _ = desk.put(STORY, desk.sampling(16), key="a").end()
    other.end()
    desk.put(STORY + " It is night.", desk.sampling(8), key="a").end()
    after, _ = desk.put(STORY, desk.sampling(16), key="a").end()
    assert alone == again == beside == after


def test_a_conversation_that_outgrows_its_first_room_is_answered_as_if_it_had_had_it(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    adapter = write_adapter(tmp_path / "a.gguf")

    def story(first: int) -> tuple[str, str, int]:
        settings = engine_settings.model_copy(update={"first_context_size": first, "long_prompt_tokens": 1024})
        with desk_of_its_own(settings, Home(tmp_path / str(first)), starter, adapter) as desk:
            began_with = desk.scheduler.loaded.context.size
            one = desk.put("Sea. " * 105, desk.sampling(32), key="a")
            two = desk.put("Hill. " * 30, desk.sampling(4), key="b")
            texts = one.end()[0], two.end()[0]
            assert desk.scheduler.loaded.context.size > 256
            return *texts, began_with

    *small, began_small = story(64)
    *large, began_large = story(1024)
    assert began_small < 300 < began_large
    assert small == large


def test_what_is_guessed_as_the_room_grows_is_computed_with_the_answers_own_adapters(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lookup, "guess", lambda _self, _latest, most: [5] * min(2, most))
    adapter = write_adapter(tmp_path / "a.gguf")

    def story(first: int) -> tuple[str, int]:
        settings = engine_settings.model_copy(update={"first_context_size": first, "long_prompt_tokens": 1024})
        with desk_of_its_own(settings, Home(tmp_path / str(first)), starter, adapter) as desk:
            unending = dataclasses.replace(desk.sampling(40), logit_bias={0: -100.0, 2: -100.0})
            text, _ = desk.put("Sea. " * 100, unending).end()
            return text, desk.scheduler.loaded.context.size

    small, grown = story(64)
    large, _ = story(1024)
    assert grown > 256
    assert small == large


def test_an_answer_ends_where_the_context_is_full(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    settings = engine_settings.model_copy(update={"context_size": 256})
    adapter = write_adapter(tmp_path / "a.gguf")
    with desk_of_its_own(settings, Home(tmp_path / "small"), starter, adapter) as desk:
        _, finished = desk.put("Sea. " * 105, dataclasses.replace(desk.sampling(1 << 20), stop=("never",))).end()
    assert finished.reason in ("length", "stop")
    assert finished.usage.prompt_tokens + finished.usage.answer_tokens <= 256 + 1


def test_the_next_turn_reads_only_what_is_new(desk: Desk) -> None:
    desk.put(LONG, desk.sampling(4), key="talk").end()
    _, finished = desk.put(LONG + " Why?", desk.sampling(4), key="talk").end()
    assert finished.usage.cached_tokens > 0.9 * finished.usage.prompt_tokens


def test_a_conversation_that_lost_its_slot_to_others_has_its_beginning_back(desk: Desk) -> None:
    desk.scheduler.drop_cache()
    begun, _ = desk.put("Once. " + LONG, desk.sampling(4), key="first").end()
    for key in ("second", "third", "fourth"):
        desk.put(f"{key} {LONG}", desk.sampling(4), key=key).end()
    again, finished = desk.put("Once. " + LONG, desk.sampling(4), key="first").end()
    assert again == begun
    assert finished.usage.cached_tokens > 0.9 * finished.usage.prompt_tokens


def test_what_two_conversations_begin_with_is_read_once(desk: Desk) -> None:
    desk.scheduler.drop_cache()
    alone, _ = desk.put(LONG + " In spring.", desk.sampling(12), key="spring").end()
    writing = desk.put(LONG + " In spring.", desk.sampling(200), key="spring")
    writing.first()
    other, finished = desk.put(LONG + " In winter.", desk.sampling(12), key="winter").end()
    assert finished.usage.cached_tokens > 0.9 * finished.usage.prompt_tokens
    desk.scheduler.cancel(writing.job)
    writing.end()
    desk.scheduler.drop_cache()
    fresh, first = desk.put(LONG + " In winter.", desk.sampling(12), key="winter").end()
    assert first.usage.cached_tokens == 0
    assert fresh == other
    assert alone


def test_a_slot_whose_cache_could_not_be_put_back_is_read_anew(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.scheduler.drop_cache()
    keys = ("first", "second", "third")
    begun = {key: desk.put(f"{key} {LONG}", desk.sampling(12), key=key).end()[0] for key in keys}
    context = desk.scheduler.loaded.context

    def fail(sequence: int, _state: SequenceState) -> None:
        context.keep(sequence, 0)
        raise EngineFailed(reason="the cache of a conversation cannot be put back")

    with monkeypatch.context() as patch:
        patch.setattr(context, "restore", fail)
        with pytest.raises(EngineFailed):
            desk.put(f"first {LONG}", desk.sampling(12), key="first").end()
    for key in ("second", "third"):
        assert desk.put(f"{key} {LONG}", desk.sampling(12), key=key).end()[0] == begun[key]
