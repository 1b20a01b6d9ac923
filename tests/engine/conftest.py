"""The starter's vocabulary and template, one engine process and one scheduler, shared by the tests of the engine."""

from __future__ import annotations

import contextlib
import queue
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from configs.settings import load_settings
from engine.answers import Finished, Sampling, Waiting
from engine.busy import BusyFlag
from engine.client import EngineClient
from engine.jobs import Job, JobEvent, Written
from engine.loaded import Loaded
from engine.messages import Message
from engine.native import Model
from engine.scheduler import Scheduler
from engine.served import ServedSnapshot, read_served
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary
from scripts import llama_source as source
from tests.conftest import end_engine
from tests.engine.snapshots import write_manifest

OPTIONS = {"engine": {"context_size": 1024, "slots": 2, "threads": 1, "queue_length": 2}}
CONFIG = "engine: {context_size: 1024, slots: 2, threads: 1, queue_length: 2}\n"
DAY = datetime(2026, 11, 29, 18, 2)
HASTY = CONFIG.replace("}", ", watch_s: 0.1, hang_timeout_s: 3, crash_reports: 2, crash_log_lines: 5}")
# For a test in which nothing hangs: on a busy machine a step may take longer than a broken engine is given.
PATIENT = HASTY.replace("hang_timeout_s: 3", "hang_timeout_s: 60")
PATIENCE = 120.0  # seconds for an answer on a machine that does much else

FAULTY = Path(__file__).with_name("faulty_engine.py")

Break = Callable[[str], None]


def ask(text: str) -> list[Message]:
    """A conversation of one question."""
    return [Message("system", "You are a helpful assistant."), Message("user", text)]


@dataclass
class Asked:
    """A job and what was reported of it."""

    job: Job
    events: queue.SimpleQueue[JobEvent] = field(default_factory=queue.SimpleQueue)
    places: list[int] = field(default_factory=list)

    def first(self) -> JobEvent:
        while isinstance(event := self.events.get(timeout=PATIENCE), Waiting):
            self.places.append(event.place)
        return event

    def end(self) -> tuple[str, Finished]:
        """The text up to now and how it finished; raises the error that ended it."""
        text = ""
        while True:
            event = self.events.get(timeout=PATIENCE)
            if isinstance(event, Written):
                text += event.text
            elif isinstance(event, Finished):
                return text, event
            elif isinstance(event, Waiting):
                self.places.append(event.place)
            else:
                raise event


@dataclass
class Desk:
    """A scheduler in this process and the ways a test uses it."""

    home: Home
    settings: EngineSettings
    scheduler: Scheduler
    starter: Path

    def sampling(self, max_tokens: int = 12, *, temperature: float = 0, seed: int | None = None) -> Sampling:
        return Sampling(temperature, 40, 0.95, 0.0, 1.0, 64, max_tokens, seed)

    def put(
        self,
        text: str,
        sampling: Sampling | None = None,
        key: str | None = None,
        owner: str | None = None,
        served: ServedSnapshot | None = None,
        patient: bool = False,
    ) -> Asked:
        events: queue.SimpleQueue[JobEvent] = queue.SimpleQueue()
        chosen = sampling or self.sampling()
        job = Job(ask(text), chosen, chosen.seed or 0, events.put, key, owner=owner, patient=patient)
        job.served = served
        self.scheduler.submit(job)
        return Asked(job, events)

    def swap(self, name: str, adapter: Path | None = None) -> None:
        digest = write_manifest(self.home, self.starter, name=name, adapter=adapter)
        self.scheduler.swap(read_served(self.home, digest)).result(timeout=PATIENCE)


@pytest.fixture(scope="session")
def engine_settings(tmp_path_factory: pytest.TempPathFactory) -> EngineSettings:
    return load_settings(Home(tmp_path_factory.mktemp("settings")), {}, OPTIONS).engine


@pytest.fixture(scope="session")
def llama_models() -> Path:
    """Vocabularies and templates of other models, which a package index gave once; without one there are no tests."""
    try:
        return source.llama_models()
    except source.SourceMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def vocabulary(starter: Path) -> Vocabulary:
    return Vocabulary.load(starter)


@pytest.fixture(scope="session")
def template(starter: Path, vocabulary: Vocabulary) -> ChatTemplate:
    return ChatTemplate.of(Model(starter, vocab_only=True).template(), vocabulary, lambda: DAY)


@pytest.fixture(scope="session")
def shared_desk(
    tmp_path_factory: pytest.TempPathFactory, engine_settings: EngineSettings, starter: Path
) -> Iterator[Desk]:
    home = Home(tmp_path_factory.mktemp("desk"))
    home.prepare()
    loaded = Loaded(read_served(home, write_manifest(home, starter)), engine_settings)
    scheduler = Scheduler(loaded, engine_settings, BusyFlag(home.busy_flag), time.monotonic)
    scheduler.start()
    yield Desk(home, engine_settings, scheduler, starter)
    scheduler.end()


@pytest.fixture
def desk(shared_desk: Desk) -> Iterator[Desk]:
    """The shared scheduler, serving v0 and idle."""
    yield shared_desk
    if shared_desk.scheduler.loaded.served.name != "v0":
        shared_desk.swap("v0")


@dataclass
class House:
    """A home with an engine process of its own and a client of it."""

    home: Home
    client: EngineClient
    settings: EngineSettings
    starter: Path
    digest: str

    def sampling(self, max_tokens: int = 12) -> Sampling:
        return Sampling(0, 40, 0.95, 0.0, 1.0, 64, max_tokens)


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory, engine_settings: EngineSettings, starter: Path) -> Iterator[House]:
    home = Home(tmp_path_factory.mktemp("house"))
    home.prepare()
    home.config_file.write_text(CONFIG)
    digest = write_manifest(home, starter)
    made = House(home, EngineClient(home, engine_settings, lambda: made.digest), engine_settings, starter, digest)
    yield made
    end_engine(home)


@pytest.fixture
async def own(home: Home, engine_settings: EngineSettings, starter: Path) -> AsyncIterator[House]:
    """A home whose engine this test may kill."""
    async with _house_of_its_own(home, engine_settings, starter, CONFIG) as made:
        yield made


@pytest.fixture
async def hasty(home: Home, engine_settings: EngineSettings, starter: Path) -> AsyncIterator[House]:
    """A home whose engine this test may break."""
    async with _house_of_its_own(home, engine_settings, starter, HASTY) as made:
        yield made


@contextlib.asynccontextmanager
async def _house_of_its_own(home: Home, settings: EngineSettings, starter: Path, config: str) -> AsyncIterator[House]:
    home.config_file.write_text(config)
    digest = write_manifest(home, starter)
    made = House(home, EngineClient(home, settings, lambda: made.digest), settings, starter, digest)
    yield made
    await made.client.stop()


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Break:
    """Have the next engine that is started break in a given way; those after it are whole."""

    def break_next(fault: str) -> None:
        python, been = tmp_path / "python", tmp_path / "been"
        python.write_text(
            f'#!/bin/sh\n[ -e {been} ] && exec {sys.executable} "$@"\n'
            f'touch {been}\nexport PYTHONPATH="$PWD"\nexec {sys.executable} {FAULTY} "{fault}" "$@"\n'
        )
        python.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(python))

    return break_next


@contextlib.contextmanager
def desk_of_its_own(settings: EngineSettings, home: Home, starter: Path, adapter: Path) -> Iterator[Desk]:
    """A scheduler with settings of its own, over an adapter."""
    home.prepare()
    loaded = Loaded(read_served(home, write_manifest(home, starter, adapter=adapter)), settings)
    scheduler = Scheduler(loaded, settings, BusyFlag(home.busy_flag), time.monotonic)
    scheduler.start()
    yield Desk(home, settings, scheduler, starter)
    scheduler.end()
