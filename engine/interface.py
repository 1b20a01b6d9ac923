"""What the other rooms ask of whatever answers questions: this machine's engine, or a server of the family's."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from configs.errors import Fact
from engine.answers import EngineStatus, Finished, Piece, PrivateAdapter, Sampling, TokenLogprob, Waiting
from engine.ending import Until
from engine.messages import PLAIN, Message, PromptOptions

Current = TypeVar("Current")


@dataclass(frozen=True)
class ServerStatus:
    """What is known of another server; None and empty where it is not known.

    ``problem``: the code of what keeps it from answering, and ``facts`` those of its sentence. ``model``: the one that
    is asked; ``models``: every name that it can be asked for.
    ``snapshot``: the household's snapshot that answers there, where that is known to be so.
    ``base``: whether its model is the one that the current snapshot was made on.
    """

    kind: str
    url: str
    reachable: bool
    problem: str | None = None
    facts: dict[str, Fact] = field(default_factory=dict)
    version: str | None = None
    model: str | None = None
    models: tuple[str, ...] = ()
    snapshot: str | None = None
    base: Literal["same", "other"] | None = None
    context_size: int | None = None
    slots: int | None = None
    busy: int | None = None


Status = EngineStatus | ServerStatus


class Engine(Protocol):
    """Answers, and which snapshot gives them."""

    def chat(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        cache_key: str | None = None,
        options: PromptOptions = PLAIN,
        private: PrivateAdapter | None = None,
        snapshot: str | None = None,
        until: Until | None = None,
    ) -> AsyncGenerator[Waiting | Piece | Finished, None]:
        """The answer to ``messages``, piece by piece, ended by Finished. ``aclose()`` stops the work on it.

        ``private``: the asking member's own adapter; another server than the household's engine answers without it.
        ``snapshot``: the manifest of one to answer with in place of what is served, while nobody else is answered: as
        soon as somebody is, it ends as cancelled. Raises SnapshotApart, and ServerOffersNot by another server.
        ``until``: asked after each piece whether the answer has said enough; it ends there, and Finished follows.
        """
        ...

    async def status(self) -> Status | None:
        """What is known of it; None where the household's own engine does not run."""
        ...

    async def start(self) -> Status:
        """Have it run. Raises ServerNotOurs where that is not for this household's programs to do."""
        ...

    async def load(self, manifest_digest: str) -> None:
        """Have this snapshot served from the next answer on."""
        ...

    async def adopt(self, manifest_digest: str, make_current: Callable[[], Current]) -> Current:
        """Have a snapshot served, then make it the current one; where it cannot be served the old one stays."""
        ...

    async def stop(self) -> bool:
        """End it; False when it did not run. Raises ServerNotOurs."""
        ...

    async def score(self, messages: Sequence[Message], completion: str, *, top: int = 0) -> list[TokenLogprob]:
        """What each token of ``completion`` is worth as the answer to ``messages``. Raises ServerOffersNot."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Where each text lies: vectors of length 1. Raises ServerOffersNot."""
        ...

    async def tokenize(self, content: str | Sequence[Message]) -> list[int]:
        """The tokens of a text, or of a conversation as the model is asked it. Raises ServerOffersNot."""
        ...
