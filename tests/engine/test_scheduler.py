"""Answers are written side by side, exactly, and the decoding thread stays free for the next one."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answers import Finished
from engine.busy import BusyFlag
from engine.errors import AdapterMismatch, EngineBusy, EngineError, EngineFailed, PromptTooLong
from engine.jobs import Written
from engine.loaded import Loaded
from engine.scheduler import Scheduler
from engine.served import AdapterSet, adapted, read_served
from tests.engine.conftest import PATIENCE, Desk, ask
from tests.engine.snapshots import store, write_adapter, write_manifest

FRANCE = "What is the capital of France?"
LONG = "Tell me more about the old fisherman and the sea. " * 30  # about 350 tokens
STORY = "Write a long story about the sea."


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


def test_the_likeliest_answer_is_the_same_whatever_the_cache_holds_and_others_do(desk: Desk) -> None:
    desk.swap("v0")
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


@contextlib.contextmanager
def desk_of_its_own(settings: EngineSettings, home: Home, starter: Path, adapter: Path) -> Iterator[Desk]:
    """A scheduler with settings of its own, over an adapter."""
    home.prepare()
    loaded = Loaded(read_served(home, write_manifest(home, starter, adapter=adapter)), settings)
    scheduler = Scheduler(loaded, settings, BusyFlag(home.busy_flag), time.monotonic)
    scheduler.start()
    yield Desk(home, settings, scheduler, starter)
    scheduler.end()


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


def test_an_answer_ends_where_the_context_is_full(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    settings = engine_settings.model_copy(update={"context_size": 256})
    adapter = write_adapter(tmp_path / "a.gguf")
    with desk_of_its_own(settings, Home(tmp_path / "small"), starter, adapter) as desk:
        _, finished = desk.put("Sea. " * 105, dataclasses.replace(desk.sampling(1 << 20), stop=("never",))).end()
    assert finished.reason in ("length", "stop")
    assert finished.usage.prompt_tokens + finished.usage.answer_tokens <= 256 + 1


def test_a_seed_gives_the_same_answer_and_other_seeds_give_others(desk: Desk) -> None:
    def draw(seed: int) -> str:
        return desk.put(STORY, desk.sampling(20, temperature=1.0, seed=seed)).end()[0]

    assert draw(1) == draw(1)
    assert len({draw(seed) for seed in range(4)}) > 1


def test_the_next_turn_reads_only_what_is_new(desk: Desk) -> None:
    desk.put(LONG, desk.sampling(4), key="talk").end()
    _, finished = desk.put(LONG + " Why?", desk.sampling(4), key="talk").end()
    assert finished.usage.cached_tokens > 0.9 * finished.usage.prompt_tokens


def test_a_conversation_that_lost_its_slot_to_others_has_its_beginning_back(desk: Desk) -> None:
    desk.swap("v0")
    begun, _ = desk.put("Once. " + LONG, desk.sampling(4), key="first").end()
    for key in ("second", "third", "fourth"):
        desk.put(f"{key} {LONG}", desk.sampling(4), key=key).end()
    again, finished = desk.put("Once. " + LONG, desk.sampling(4), key="first").end()
    assert again == begun
    assert finished.usage.cached_tokens > 0.9 * finished.usage.prompt_tokens


def test_what_two_conversations_begin_with_is_read_once(desk: Desk) -> None:
    desk.swap("v0")
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


def test_a_question_is_answered_with_the_adapters_that_it_names_and_nothing_is_shared_with_the_others(
    desk: Desk, tmp_path: Path
) -> None:
    plain, _ = desk.put(STORY, desk.sampling(24), key="a").end()
    digest = store(desk.home, write_adapter(tmp_path / "a.gguf").read_bytes())
    bent = adapted(desk.home, desk.scheduler.loaded.served, [(digest, 1.0)])
    half = adapted(desk.home, desk.scheduler.loaded.served, [(digest, 0.5)])
    for served in (bent, half):
        desk.scheduler.lease(served).result(timeout=PATIENCE)
    texts = []
    for served in (bent, half):
        text, finished = desk.put(STORY, desk.sampling(24), key="a", served=served).end()
        assert finished.usage.snapshot == served.name
        assert finished.usage.cached_tokens == 0
        texts.append(text)
        desk.scheduler.release(served)
    assert len({plain, *texts}) == 3
    again, finished = desk.put(STORY, desk.sampling(24), key="a").end()
    assert (again, finished.usage.snapshot) == (plain, "v0")


def test_adapters_that_do_not_fit_are_refused_before_the_question_is_read(desk: Desk, tmp_path: Path) -> None:
    digest = store(desk.home, write_adapter(tmp_path / "a.gguf", width=64).read_bytes())
    bad = adapted(desk.home, desk.scheduler.loaded.served, [(digest, 1.0)])
    with pytest.raises(AdapterMismatch):
        desk.scheduler.lease(bad).result(timeout=PATIENCE)
    desk.scheduler.release(bad)
    assert "Paris" in desk.put(FRANCE).end()[0]


def test_an_errand_runs_between_the_steps_of_an_answer(desk: Desk) -> None:
    writing = desk.put(STORY, desk.sampling(60))
    writing.first()
    seen: list[int] = []

    def steps(loaded: Loaded) -> Generator[None, None, int]:
        for _ in range(5):
            seen.append(max(len(slot.tokens) for slot in desk.scheduler.slots if slot.work))
            yield
        return loaded.vocabulary.size

    assert desk.scheduler.run_errand(steps).result(timeout=PATIENCE) > 40_000
    assert len(set(seen)) == 5
    assert writing.end()[1].reason == "length"


def test_an_errand_that_fails_tells_only_whoever_sent_it(desk: Desk) -> None:
    def steps(_loaded: Loaded) -> Generator[None, None, None]:
        yield
        raise EngineFailed(reason="no such thing")

    with pytest.raises(EngineFailed):
        desk.scheduler.run_errand(steps).result(timeout=PATIENCE)
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
    asked += [desk.put(FRANCE) for _ in range(desk.settings.queue_length + desk.settings.slots)]
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


def test_a_swap_waits_for_nobody_and_the_answer_in_flight_is_written_by_the_weights_it_began_with(
    desk: Desk, tmp_path: Path
) -> None:
    before = desk.put(STORY, desk.sampling(24)).end()[0]
    flying = desk.put(STORY, desk.sampling(200))
    begun = flying.first()
    assert isinstance(begun, Written)
    desk.swap("v1", write_adapter(tmp_path / "a.gguf"))
    assert desk.scheduler.working == 1
    new_text, new = desk.put(STORY, desk.sampling(24)).end()
    assert desk.scheduler.working == 1
    old_text, old = flying.end()
    assert (old.usage.snapshot, new.usage.snapshot) == ("v0", "v1")
    assert (begun.text + old_text).startswith(before)
    assert new_text != before
    assert new.usage.cached_tokens == 0
    desk.swap("v0")
    again, finished = desk.put(STORY, desk.sampling(24)).end()
    assert (again, finished.usage.snapshot) == (before, "v0")
    assert finished.usage.cached_tokens > 0


@pytest.mark.parametrize("fault", ["nothing", "alpha", "shape", "truncated", "infinite"])
def test_a_swap_that_fails_leaves_the_old_weights_in_place(desk: Desk, tmp_path: Path, fault: str) -> None:
    before = desk.put(STORY, desk.sampling(20)).end()[0]
    path = tmp_path / "bad.gguf"
    if fault == "nothing":
        write_adapter(path, strength=0)
    elif fault == "alpha":
        write_adapter(path, alpha=None)
    elif fault == "shape":
        write_adapter(path, width=64)
    elif fault == "infinite":
        write_adapter(path, strength=float("nan"))
    else:
        path.write_bytes(write_adapter(path).read_bytes()[:-1000])
    with pytest.raises(AdapterMismatch) as caught:
        desk.swap("v9", path)
    assert caught.value.facts["reason"]
    after, finished = desk.put(STORY, desk.sampling(20)).end()
    assert (after, finished.usage.snapshot) == (before, "v0")


def test_an_error_of_one_step_ends_its_answers_and_not_the_thread(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    context = desk.scheduler.loaded.context
    with monkeypatch.context() as patch:
        patch.setattr(context, "_capacity", 1)
        with pytest.raises(EngineError):
            desk.put(FRANCE).end()
    assert isinstance(desk.put(FRANCE).end()[1], Finished)


def test_a_swap_that_nobody_waits_for_any_more_is_not_made(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = write_manifest(desk.home, desk.starter, name="v1", adapter=write_adapter(tmp_path / "a.gguf"))
    go_on = threading.Event()
    swaps: list[bool] = []
    monkeypatch.setattr(desk.scheduler.swaps, "on_swap", lambda done, _seconds: swaps.append(done))
    prepare = desk.scheduler.loaded.prepare

    def wait_and_prepare(adapters: AdapterSet) -> None:
        assert go_on.wait(PATIENCE)
        prepare(adapters)

    monkeypatch.setattr(desk.scheduler.loaded, "prepare", wait_and_prepare)
    swapped = desk.scheduler.swap(read_served(desk.home, digest))
    assert "Paris" in desk.put(FRANCE).end()[0]
    assert swapped.cancel()
    go_on.set()
    desk.swap("v0")
    assert swaps == [True]
    assert desk.put(FRANCE).end()[1].usage.snapshot == "v0"


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


def test_a_question_that_waited_while_another_model_came_in_is_read_anew(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    # The starter without its word for France: the same text is other tokens to it.
    content = starter.read_bytes()
    (home.models / "other.gguf").write_bytes(content.replace("ĠFrance".encode(), "ĠFranqe".encode(), 1))
    loaded = Loaded(read_served(home, write_manifest(home, starter)), engine_settings)
    scheduler = Scheduler(loaded, engine_settings, BusyFlag(home.busy_flag), time.monotonic)
    desk = Desk(home, engine_settings, scheduler, starter)
    before = loaded.prompt(ask(FRANCE)).ids
    waiting = desk.put(FRANCE)
    swapped = scheduler.swap(read_served(home, write_manifest(home, starter, name="v1", model="other")))
    scheduler.start()
    swapped.result(timeout=PATIENCE)
    assert waiting.end()[1].usage.snapshot == "v1"
    assert waiting.job.prompt == scheduler.loaded.prompt(ask(FRANCE)).ids != before
    scheduler.end()
