"""A home with snapshots of the starter, and clients of servers that are not the household's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from configs.settings import load_settings
from engine.answers import Delta, Finished, Sampling
from engine.elsewhere.client import ServerClient
from engine.messages import Message
from tests.engine.conftest import ask
from tests.engine.elsewhere.doubles import Double, Waits
from tests.engine.snapshots import write_adapter, write_manifest


@dataclass
class Guest:
    """A household whose answers come from a server: its snapshots by name, and the one that is current."""

    home: Home
    starter: Path
    folder: Path
    snapshots: dict[str, str] = field(default_factory=dict)
    adapters: dict[str, Path] = field(default_factory=dict)
    current: str = "v0"
    waits: Waits = field(default_factory=Waits)
    environ: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, *, seed: int | None = None) -> str:
        """A snapshot, with an adapter of its own where ``seed`` is given; its manifest's digest."""
        adapter = None if seed is None else write_adapter(self.folder / f"{name}.gguf", seed=seed)
        if adapter is not None:
            self.adapters[name] = adapter
        self.snapshots[name] = write_manifest(self.home, self.starter, name=name, adapter=adapter)
        return self.snapshots[name]

    def settings(self, kind: str, url: str, **server: object) -> EngineSettings:
        quick = {"kind": kind, "url": url, "wait_s": 0.5, "connect_timeout_s": 2, "status_timeout_s": 2}
        options = {"context_size": 1024, "request_timeout_s": 2, "server": {**quick, **server}}
        return load_settings(self.home, {}, {"engine": options}).engine

    def client(self, kind: str, double: Double | str, **server: object) -> ServerClient:
        url = double if isinstance(double, str) else double.url
        settings = self.settings(kind, url, **server)
        return ServerClient(self.home, settings, lambda: self.snapshots[self.current], self.environ, self.waits)

    def sampling(self, max_tokens: int = 12) -> Sampling:
        return Sampling(0.0, 40, 0.9, 0.05, 1.05, 64, max_tokens, 7, ("FIN",))

    async def adopt(self, client: ServerClient, name: str) -> None:
        def move() -> None:
            self.current = name

        await client.adopt(self.snapshots[name], move)


@pytest.fixture
def guest(home: Home, starter: Path, tmp_path: Path) -> Guest:
    made = Guest(home, starter, tmp_path)
    made.add("v0")
    return made


async def answer(
    client: ServerClient, guest: Guest, text: str = "¿Quién eres?", messages: list[Message] | None = None
) -> tuple[str, Finished]:
    """The whole answer."""
    said = ""
    async for piece in client.chat(messages or ask(text), guest.sampling()):
        if isinstance(piece, Delta):
            said += piece.text
        elif isinstance(piece, Finished):
            return said, piece
    raise AssertionError("the answer did not finish")


Maker = Callable[[], Double]
