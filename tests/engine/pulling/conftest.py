"""A hub on this machine and somebody who pulls from it into a home."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from configs.settings import load_settings
from engine.pulling.events import Event, Pulled
from engine.pulling.pull import pull
from engine.pulling.source import Source
from tests.engine.pulling.hub import Hub, running, small_model

PULL = {
    "backoff_s": 0.001, "longest_backoff_s": 0.01, "attempts": 3, "part_mb": 1, "checkpoint_s": 0.02,
    "stall_timeout_s": 5, "lock_poll_s": 0.01, "disk_reserve_mb": 1,
}  # fmt: skip


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return small_model(tmp_path_factory.mktemp("model") / "one.gguf", megabytes=5)


@pytest.fixture(scope="session")
def other(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return small_model(tmp_path_factory.mktemp("other") / "other.gguf", megabytes=5, seed=1)


@pytest.fixture
def hub(model: bytes) -> Iterator[Hub]:
    with running(Hub(content=model)) as made:
        yield made


class Puller:
    """Pulls into one home and keeps what was told."""

    def __init__(self, home: Home, hub: Hub) -> None:
        self.home, self.hub, self.events = home, hub, list[Event]()

    def settings(self, **changes: object) -> EngineSettings:
        return load_settings(self.home, {}, {"engine": {"hub": self.hub.address, "pull": PULL | changes}}).engine

    async def pull(self, source: Source | None = None, **changes: object) -> Pulled:
        self.events = []
        source = source or Source("model", self.hub.url)
        return await pull(self.home, source, self.settings(**changes), self.events.append)

    def __call__(self, source: Source | None = None, **changes: object) -> Pulled:
        return asyncio.run(self.pull(source, **changes))

    def told(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    def files(self) -> list[str]:
        """What is in the folder of models, without the remembered hashes."""
        return sorted(path.name for path in self.home.models.iterdir() if path.name != "hashes.json")


@pytest.fixture
def puller(home: Home, hub: Hub) -> Puller:
    return Puller(home, hub)


def in_place(puller: Puller, content: bytes) -> bool:
    """The model is there with this content, and nothing else is."""
    return puller.files() == ["model.gguf"] and (puller.home.models / "model.gguf").read_bytes() == content
