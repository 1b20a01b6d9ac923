"""One's own conversations as rows to look through: all of them, or the messages that hold some words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from memory.chats import ChatMessage, Chats, Conversation


@dataclass(frozen=True)
class Passage:
    """A conversation, or a message in it that was found. ``marks``: (start, end) of the words in ``excerpt``."""

    conversation: Conversation
    message: ChatMessage | None = None
    excerpt: str = ""
    marks: tuple[tuple[int, int], ...] = ()

    @property
    def at(self) -> float:
        return self.message.created_at if self.message is not None else self.conversation.updated_at


@dataclass(frozen=True)
class Around:
    """A passage to be read: some messages, and where the words that were searched for stand in each."""

    messages: tuple[ChatMessage, ...]
    marks: tuple[tuple[tuple[int, int], ...], ...]
    more: int = 0  # messages that come after these


class Passages(Protocol):
    """Passages by their place, read when they are needed."""

    def __len__(self) -> int: ...

    def passages(self, start: int, stop: int) -> Sequence[Passage]:
        """Those from ``start`` up to ``stop``."""
        ...


class EveryConversation:
    """All of them, the last used first."""

    def __init__(self, chats: Chats) -> None:
        self._chats = chats
        self._number = chats.count()

    def __len__(self) -> int:
        return self._number

    def passages(self, start: int, stop: int) -> list[Passage]:
        return [Passage(each) for each in self._chats.list(stop - start, start)]


class FoundMessages:
    """The messages that hold some words, the best first."""

    def __init__(self, chats: Chats, words: str, most: int) -> None:
        self._found = [
            Passage(hit.conversation, hit.message, hit.snippet, hit.marks) for hit in chats.search(words, most)
        ]

    def __len__(self) -> int:
        return len(self._found)

    def passages(self, start: int, stop: int) -> list[Passage]:
        return self._found[start:stop]


def history(chats: Chats, words: str, most: int) -> Passages:
    """What there is for some words, ``most`` messages at most; for none, every conversation."""
    return FoundMessages(chats, words, most) if words else EveryConversation(chats)


def around(chats: Chats, passage: Passage, words: str, most: int) -> Around:
    """What to read of a passage: a found message with what it answers, or how a conversation begins."""
    if passage.message is None:
        path = chats.path(passage.conversation.id)
        shown = tuple(path[:most])
        return Around(shown, tuple(() for _ in shown), len(path) - len(shown))
    before = chats.message(passage.message.parent_id) if passage.message.parent_id else None
    shown = (*([before] if before else []), passage.message)
    return Around(shown, tuple(chats.marks(words, message.content) for message in shown))
