"""Other weights come in while answers are written, and no answer mixes two of them."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Generator
from concurrent.futures import Future
from pathlib import Path

import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.busy import BusyFlag
from engine.errors import AdapterMismatch, EngineFailed
from engine.forms.records import AS_PULLED, FormRecord, Shape
from engine.jobs import Written
from engine.loaded import Loaded
from engine.scheduler import Scheduler
from engine.served import AdapterSet, adapted, read_served
from tests.engine.conftest import PATIENCE, Desk, ask, desk_of_its_own
from tests.engine.snapshots import store, write_adapter, write_manifest

FRANCE = "What is the capital of France?"
STORY = "Write a long story about the sea."


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


def test_adapters_that_change_nothing_are_refused_also_in_place_of_others(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    with desk_of_its_own(engine_settings, Home(tmp_path / "home"), starter, write_adapter(tmp_path / "a.gguf")) as desk:
        nothing = store(desk.home, write_adapter(tmp_path / "b.gguf", strength=0).read_bytes())
        named = adapted(desk.home, desk.scheduler.loaded.served, [(nothing, 1.0)])
        with pytest.raises(AdapterMismatch):
            desk.scheduler.lease(named).result(timeout=PATIENCE)
        desk.scheduler.release(named)
        with pytest.raises(AdapterMismatch):
            desk.swap("v1", tmp_path / "b.gguf")
        desk.swap("v2")
        assert desk.put(FRANCE).end()[1].usage.snapshot == "v2"


def test_the_served_adapters_are_taken_beside_others_that_are_scaled_to_nothing(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    first, second = write_adapter(tmp_path / "a.gguf"), write_adapter(tmp_path / "b.gguf", strength=0.02)
    with desk_of_its_own(engine_settings, Home(tmp_path / "home"), starter, first) as desk:
        served = desk.scheduler.loaded.served
        a, b = store(desk.home, first.read_bytes()), store(desk.home, second.read_bytes())
        said = desk.put(FRANCE).end()[0]
        for chosen in ([(a, 1.0), (b, 0.0)], [(b, 0.0), (a, 1.0)]):
            named = adapted(desk.home, served, chosen)
            desk.scheduler.lease(named).result(timeout=PATIENCE)
            assert desk.put(FRANCE, served=named).end()[0] == said
            desk.scheduler.release(named)


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


def test_a_swap_for_which_no_thread_can_be_started_is_refused_and_the_next_one_is_made(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = write_adapter(tmp_path / "a.gguf")
    with desk_of_its_own(engine_settings, Home(tmp_path / "home"), starter, adapter) as desk:
        start = threading.Thread.start

        def refuse(thread: threading.Thread) -> None:
            if thread.name.startswith("preparing swaps"):
                raise RuntimeError("can't start new thread")
            start(thread)

        flying = desk.put(STORY, desk.sampling(24))
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            with pytest.raises(EngineFailed) as caught:
                desk.swap("v1")
            assert caught.value.facts["reason"] == "can't start new thread"
        assert flying.end()[1].reason == "length"
        desk.swap("v2")
        assert desk.put(FRANCE).end()[1].usage.snapshot == "v2"


def beside_another_model(settings: EngineSettings, folder: Path, starter: Path) -> tuple[Home, Loaded, Scheduler]:
    """A home that holds the model ``other`` too, and a scheduler over the starter that is yet to start."""
    home = Home(folder / "home")
    home.prepare()
    (home.models / "other.gguf").write_bytes(starter.read_bytes())
    loaded = Loaded(read_served(home, write_manifest(home, starter)), settings)
    return home, loaded, Scheduler(loaded, settings, BusyFlag(home.busy_flag), time.monotonic)


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
    of_the_old_one = desk.put(FRANCE, served=adapted(home, loaded.served, []))
    swapped = scheduler.swap(read_served(home, write_manifest(home, starter, name="v1", model="other")))
    scheduler.start()
    swapped.result(timeout=PATIENCE)
    assert waiting.end()[1].usage.snapshot == "v1"
    assert waiting.job.prompt == scheduler.loaded.prompt(ask(FRANCE)).ids != before
    with pytest.raises(AdapterMismatch):
        of_the_old_one.end()
    scheduler.end()


def test_adapters_that_are_asked_for_while_another_model_comes_in_do_not_bring_the_old_one_back(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    home, loaded, scheduler = beside_another_model(engine_settings, tmp_path, starter)
    bent = adapted(home, loaded.served, [(store(home, write_adapter(tmp_path / "a.gguf").read_bytes()), 1.0)])
    swapped = scheduler.swap(read_served(home, write_manifest(home, starter, name="v1", model="other")))
    leased = scheduler.lease(bent)
    scheduler.start()
    swapped.result(timeout=PATIENCE)
    with pytest.raises(AdapterMismatch):
        leased.result(timeout=PATIENCE)
    scheduler.release(bent)
    assert scheduler.loaded.served.name == "v1"
    scheduler.end()


def test_another_model_comes_in_though_there_is_always_somebody_who_has_a_text_looked_at(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    home, loaded, scheduler = beside_another_model(engine_settings, tmp_path, starter)
    other = read_served(home, write_manifest(home, starter, name="v1", model="other"))
    computed_by: list[Loaded] = []
    swapped: list[Future[None]] = []
    background_tasks: list[Future[None]] = []

    def steps(now: Loaded) -> Generator[None, None, None]:
        computed_by.append(now)
        if not swapped:
            swapped.append(scheduler.swap(other))
        yield
        if now is loaded and len(background_tasks) < 1000:
            background_tasks.append(scheduler.run_in_background(steps))
        yield

    background_tasks.append(scheduler.run_in_background(steps))
    scheduler.start()
    for task in background_tasks:
        task.result(timeout=PATIENCE)
    swapped[0].result(timeout=PATIENCE)
    # The one that had begun was waited for, the next one was not.
    assert computed_by == [loaded, scheduler.loaded]
    scheduler.end()


def test_a_question_whose_adapters_went_with_what_was_loaded_is_told_so_and_the_others_are_answered(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    adapter = write_adapter(tmp_path / "a.gguf", strength=0.01)
    with desk_of_its_own(engine_settings, Home(tmp_path / "home"), starter, adapter) as desk:
        served, shape = desk.scheduler.loaded.served, Shape.of(engine_settings)
        other = store(desk.home, write_adapter(tmp_path / "b.gguf", seed=1).read_bytes())
        bent = adapted(desk.home, served, [(other, 1.0)])
        desk.scheduler.lease(bent).result(timeout=PATIENCE)
        flying = desk.put(STORY, desk.sampling(60))
        flying.first()
        form = FormRecord("", "", AS_PULLED, None, None, shape, shape, 0.0, ())
        swapped = desk.scheduler.swap(dataclasses.replace(served, form=form))
        waiting, beside = desk.put(FRANCE, served=bent), desk.put(FRANCE)
        assert flying.end()[1].reason == "length"
        swapped.result(timeout=PATIENCE)
        with pytest.raises(AdapterMismatch):
            waiting.end()
        assert beside.end()[1].usage.answer_tokens
        desk.scheduler.release(bent)
