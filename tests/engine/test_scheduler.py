"""Answers are written side by side, exactly, and the decoding thread stays free for the next one."""

from __future__ import annotations

import dataclasses
import fcntl
import threading
import time
from collections.abc import Generator
from datetime import datetime
from pathlib import Path

import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answers import Finished
from engine.errors import EngineBusy, EngineError, EngineFailed, EngineStopping, PromptTooLong, TemplateBroken
from engine.jobs import Written
from engine.loaded import Loaded
from engine.served import read_served
from engine.template import ChatTemplate
from tests.engine.conftest import DAY, PATIENCE, Desk, ask, desk_of_its_own
from tests.engine.snapshots import write_adapter, write_manifest

FRANCE = "What is the capital of France?"
LONG = "Tell me more about the old fisherman and the sea. " * 30  # about 350 tokens
STORY = "Write a long story about the sea."
NO_END = {0: -100.0, 2: -100.0}  # the starter's tokens that end an answer


def wait_until_idle(desk: Desk) -> None:
    deadline = time.monotonic() + PATIENCE
    while desk.scheduler.working or desk.scheduler.waiting:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_it_answers_on_the_real_model(desk: Desk) -> None:
    text, finished = desk.put(FRANCE).end()
    assert "Paris" in text
    assert finished.reason == "stop"
    assert finished.usage.snapshot == "v0"
    assert finished.usage.answer_tokens >= 5
    assert finished.usage.context_size == 1024


def test_a_seed_gives_the_same_answer_and_other_seeds_give_others(desk: Desk) -> None:
    def draw(seed: int) -> str:
        return desk.put(STORY, desk.sampling(20, temperature=1.0, seed=seed)).end()[0]

    assert draw(1) == draw(1)
    assert len({draw(seed) for seed in range(4)}) > 1


def test_a_background_task_runs_between_the_steps_of_an_answer(desk: Desk) -> None:
    writing = desk.put(STORY, desk.sampling(60))
    writing.first()
    seen: list[int] = []

    def steps(loaded: Loaded) -> Generator[None, None, int]:
        for _ in range(5):
            seen.append(max(len(slot.tokens) for slot in desk.scheduler.slots if slot.work))
            yield
        return loaded.vocabulary.size

    assert desk.scheduler.run_in_background(steps).result(timeout=PATIENCE) > 40_000
    assert len(set(seen)) == 5
    assert writing.end()[1].reason == "length"


def test_a_background_task_that_fails_tells_only_whoever_sent_it(desk: Desk) -> None:
    def steps(_loaded: Loaded) -> Generator[None, None, None]:
        yield
        raise EngineFailed(reason="no such thing")

    with pytest.raises(EngineFailed):
        desk.scheduler.run_in_background(steps).result(timeout=PATIENCE)
    assert "Paris" in desk.put(FRANCE).end()[0]


def test_somebody_who_asks_much_does_not_keep_the_others_waiting(desk: Desk) -> None:
    many = [desk.put(f"{place} {STORY}", desk.sampling(12), owner="busy") for place in range(3)]
    one = desk.put(FRANCE, owner="other")
    one.end()
    assert desk.scheduler.waiting + desk.scheduler.working > 0
    for asked in many:
        asked.end()


def test_cancelling_while_the_prompt_is_read_frees_the_slot(desk: Desk) -> None:
    asked = desk.put("Something else. " + LONG, desk.sampling(50), key="cancelled")
    while not desk.scheduler.working:
        time.sleep(0.001)
    desk.scheduler.cancel(asked.job)
    text, finished = asked.end()
    assert (text, finished.reason, finished.usage.answer_tokens) == ("", "cancelled", 0)
    wait_until_idle(desk)
    assert "Paris" in desk.put(FRANCE, key="cancelled").end()[0]


def test_cancelling_while_the_answer_is_written_keeps_what_was_written(desk: Desk) -> None:
    asked = desk.put(STORY, desk.sampling(400))
    assert isinstance(asked.first(), Written)
    desk.scheduler.cancel(asked.job)
    _, finished = asked.end()
    assert finished.reason == "cancelled"
    assert 0 < finished.usage.answer_tokens < 400


def test_a_short_question_is_answered_beside_a_long_answer(desk: Desk) -> None:
    long = desk.put(STORY, desk.sampling(300))
    long.first()
    assert "Paris" in desk.put(FRANCE).end()[0]
    assert desk.scheduler.working == 1
    desk.scheduler.cancel(long.job)
    long.end()


def test_more_questions_than_slots_wait_and_more_than_the_queue_are_refused(desk: Desk) -> None:
    asked = [desk.put(STORY, desk.sampling(24)) for _ in range(desk.settings.slots)]
    for one in asked:
        one.first()
    asked += [desk.put(FRANCE) for _ in range(desk.settings.queue_length)]
    with pytest.raises(EngineBusy):
        desk.put(FRANCE)
    for one in asked:
        assert one.end()[1].reason in ("stop", "length")
    last = asked[-1].places
    assert last[0] > 1
    assert last == sorted(last, reverse=True)
    assert last[-1] == 1


def test_a_prompt_longer_than_the_context_names_both_sizes(desk: Desk) -> None:
    with pytest.raises(PromptTooLong) as caught:
        desk.put(LONG * 4)
    assert caught.value.facts["context_size"] == 1024
    assert int(caught.value.facts["prompt_tokens"]) > 1024


def test_a_conversation_of_which_the_template_makes_nothing_is_refused_and_ends_nobodys_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    flying = desk.put(STORY, desk.sampling(24))
    with monkeypatch.context() as patch:
        patch.setattr(desk.scheduler.loaded, "template", ChatTemplate("{# nothing #}", now=lambda: DAY))
        with pytest.raises(TemplateBroken):
            desk.put(FRANCE)
    assert flying.end()[1].reason == "length"


def test_a_conversation_that_takes_long_to_read_holds_up_nobody_but_whoever_frees_the_model(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    loaded = Loaded(read_served(home, write_manifest(home, starter)), engine_settings)
    begun, go_on = threading.Event(), threading.Event()

    def now() -> datetime:
        if threading.current_thread() is slow:
            begun.set()
            assert go_on.wait(PATIENCE)
        return DAY

    loaded.template = ChatTemplate.of(loaded.model.template(), loaded.vocabulary, now)
    slow = threading.Thread(target=loaded.prompt, args=(ask(LONG),))
    slow.start()
    assert begun.wait(PATIENCE)
    assert loaded.prompt(ask(FRANCE)).ids
    closing = threading.Thread(target=loaded.close)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive()
    with pytest.raises(EngineStopping):
        loaded.prompt(ask(FRANCE))
    go_on.set()
    for thread in (slow, closing):
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_a_stop_text_ends_the_answer_before_it(desk: Desk) -> None:
    sampling = dataclasses.replace(desk.sampling(30), stop=(" Paris",))
    text, finished = desk.put(FRANCE, sampling).end()
    assert text == "The capital of France is"
    assert finished.reason == "stop"


def test_the_busy_flag_is_up_exactly_while_somebody_is_answered(desk: Desk) -> None:
    def is_up() -> bool:
        with desk.home.busy_flag.open("rb") as flag:
            try:
                fcntl.flock(flag, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

    asked = desk.put(STORY, desk.sampling(100))
    asked.first()
    assert is_up()
    desk.scheduler.cancel(asked.job)
    asked.end()
    deadline = time.monotonic() + PATIENCE
    while is_up():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_error_of_one_step_ends_its_answers_and_not_the_thread(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    context = desk.scheduler.loaded.context
    with monkeypatch.context() as patch:
        patch.setattr(context, "_capacity", 1)
        with pytest.raises(EngineError):
            desk.put(FRANCE).end()
    assert isinstance(desk.put(FRANCE).end()[1], Finished)


def test_an_answer_that_cannot_be_computed_ends_and_the_one_beside_it_is_the_same_as_alone(desk: Desk) -> None:
    endless = dataclasses.replace(desk.sampling(60), logit_bias=NO_END)
    alone = desk.put(STORY, endless).end()[0]
    whole, torn = desk.put(STORY, endless), desk.put(FRANCE, dataclasses.replace(endless, max_tokens=900))
    begun = whole.first()
    torn.first()

    def tear(loaded: Loaded) -> Generator[None, None, None]:
        """Leave a hole in the cache of one answer: llama.cpp then refuses every batch in which it is."""
        slot = next(slot for slot in desk.scheduler.slots if slot.work and slot.work.job is torn.job)
        loaded.context.keep(slot.number, 3)
        yield

    desk.scheduler.run_in_background(tear).result(timeout=PATIENCE)
    with pytest.raises(EngineFailed):
        torn.end()
    assert isinstance(begun, Written)
    text, finished = whole.end()
    assert (begun.text + text, finished.reason) == (alone, "length")
    assert "Paris" in desk.put(FRANCE).end()[0]


def test_a_question_that_there_is_no_room_for_is_told_so_and_the_others_go_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    flying = desk.put(STORY, desk.sampling(40))
    flying.first()
    make_room = desk.scheduler.loaded.make_room

    def refuse_long_ones(tokens: int, sequences: list[int]) -> None:
        if tokens > 300:
            raise EngineFailed(reason="no memory for the context")
        make_room(tokens, sequences)

    monkeypatch.setattr(desk.scheduler.loaded, "make_room", refuse_long_ones)
    with pytest.raises(EngineFailed):
        desk.put(LONG).end()
    assert flying.end()[1].reason == "length"


def test_a_batch_has_room_for_what_a_step_needs_whatever_the_settings_say(
    desk: Desk, engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    adapter = write_adapter(tmp_path / "a.gguf", strength=0.01)
    with desk_of_its_own(
        engine_settings.model_copy(update={"batch_size": 2}), Home(tmp_path / "home"), starter, adapter
    ) as small:
        assert small.put(LONG, desk.sampling(4)).end()[1].usage.answer_tokens


def test_an_answer_that_there_is_no_room_to_go_on_with_ends_and_the_others_go_on(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = engine_settings.model_copy(update={"first_context_size": 64})
    adapter = write_adapter(tmp_path / "a.gguf", strength=0.01)
    with desk_of_its_own(settings, Home(tmp_path / "home"), starter, adapter) as desk:
        loaded = desk.scheduler.loaded
        make_room, size = loaded.make_room, loaded.context.size

        def refuse_to_grow(tokens: int, sequences: list[int]) -> None:
            if tokens > size:
                raise EngineFailed(reason="no memory for the context")
            make_room(tokens, sequences)

        monkeypatch.setattr(loaded, "make_room", refuse_to_grow)
        short = desk.put(STORY, desk.sampling(120))
        short.first()
        long = desk.put("Sea. " * ((size - 80) // 2), dataclasses.replace(desk.sampling(size), logit_bias=NO_END))
        with pytest.raises(EngineFailed):
            long.end()
        assert short.end()[1].reason in ("stop", "length")
