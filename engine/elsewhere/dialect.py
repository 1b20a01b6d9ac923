"""What the client of another server needs of each kind of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from engine.answers import Finished, Piece, Sampling
from engine.messages import Message, PromptOptions
from engine.served import RecordedSnapshot

# Whether the server's model is the one that the snapshot was made on; None where it cannot be known.
Base = Literal["same", "other"] | None


@dataclass(frozen=True)
class Target:
    """How a snapshot is asked for on a server.

    ``name`` is what may be said to have answered: the snapshot, where that is known to be so, else the server's
    model. ``scales``: llama-server's adapters by their number there, all of them. ``context_size`` is None where
    the server does not say.
    """

    model: str
    name: str
    context_size: int | None = None
    scales: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class Seen:
    """What a server says of itself; None and empty where it says nothing.

    ``models``: the names it can be asked for; ``snapshot``: the one in use there, where that is known.
    """

    version: str | None = None
    models: tuple[str, ...] = ()
    model: str | None = None
    snapshot: str | None = None
    base: Base = None
    context_size: int | None = None
    slots: int | None = None
    busy: int | None = None


class Dialect(Protocol):
    """One kind of server. Every method raises ServerError and what reading the snapshot's files raises."""

    async def look(self, recorded: RecordedSnapshot) -> Seen:
        """How the server is and what it serves; changes nothing there."""
        ...

    async def prepare(self, recorded: RecordedSnapshot) -> Target:
        """Make sure that the server can serve a snapshot. Where it raises, the one before can be asked for still."""
        ...

    async def serve(self, target: Target, recorded: RecordedSnapshot) -> None:
        """Have the server serve what was prepared, and see that it does. Raises ServerAdapterIdle."""
        ...

    async def settle(self, recorded: RecordedSnapshot, before: RecordedSnapshot) -> None:
        """A snapshot was made current instead of the one ``before``: what only older ones needed may go."""
        ...

    def answer(
        self, target: Target, messages: Sequence[Message], sampling: Sampling, options: PromptOptions
    ) -> AsyncGenerator[Piece | Finished, None]:
        """The answer, piece by piece, ended by Finished. Raises Refusal too, and ServerOffersNot."""
        ...

    async def embed(self, target: Target, texts: Sequence[str]) -> list[list[float]]:
        """Vectors of length 1. Raises ServerOffersNot."""
        ...

    async def tokenize(self, target: Target, content: str | Sequence[Message]) -> list[int]:
        """The tokens of a text, or of a conversation as the model is asked it. Raises ServerOffersNot."""
        ...
