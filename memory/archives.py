"""All that is one member's, as JSON Lines: what they said, what follows from it, and what they taught.

What others share is theirs.

    conversations.jsonl   one a line, every branch, those too that are deleted and can be restored
    facts.jsonl           what they said as facts, with the words they rest on; forgotten and replaced ones too
    lessons.jsonl         what they taught, withdrawn ones and ratings too
    preferences.jsonl     of those, the ones in force, in the form that TRL reads

Their documents are taken along by ``memory/documents/taken_along.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from memory.chats import Conversation
from memory.exports import conversation_line, line
from memory.fact_rows import Fact
from memory.household import MemberMemory
from memory.lesson_files import as_jsonl
from memory.lessons import Lesson
from memory.whole_files import write_new

_MANY: Final = 1_000_000
_LONGEST_NAME: Final = 60


@dataclass(frozen=True)
class Archive:
    """What is in it, in the order in which it is written."""

    conversations: tuple[Conversation, ...]
    facts: tuple[Fact, ...]
    lessons: tuple[Lesson, ...]


def archive_of(memory: MemberMemory) -> Archive:
    """All that is this member's, the oldest first."""
    chats = [chat for deleted in (False, True) for chat in memory.chats.list(_MANY, deleted=deleted)]
    listed = [fact for forgotten in (False, True) for fact in memory.facts.list(forgotten=forgotten)]
    facts = {each.id: each for fact in listed for each in (fact, *memory.facts.history(fact.id))}
    own = memory.member.id
    return Archive(
        tuple(sorted(chats, key=lambda chat: (chat.created_at, chat.id))),
        tuple(sorted((fact for fact in facts.values() if fact.said_by == own), key=lambda fact: fact.id)),
        tuple(lesson for lesson in reversed(memory.lessons.list()) if lesson.member == own),
    )


def write_archive(memory: MemberMemory, archive: Archive, folder: Path) -> None:
    """Write the four files into a folder. Raises FileInTheWay, FileNotWritten."""
    chats = memory.chats
    told = (conversation_line(chat, chats.messages(chat.id)) for chat in archive.conversations)
    write_new(folder / "conversations.jsonl", told)
    write_new(folder / "facts.jsonl", (line(asdict(fact)) for fact in archive.facts))
    write_new(folder / "lessons.jsonl", (line(asdict(lesson)) for lesson in archive.lessons))
    in_force = (lesson for lesson in archive.lessons if lesson.status == "active" and lesson.source != "thumb")
    write_new(folder / "preferences.jsonl", as_jsonl(in_force)[0])


def file_names(titles: Iterable[str]) -> Iterator[str]:
    """A name for a file from each title: none twice, whatever case tells apart, and none that a system cannot write."""
    taken: set[str] = set()
    for title in titles:
        plain = "".join(letter if letter.isalnum() or letter in " -_" else " " for letter in title)
        stem = " ".join(plain.split())[:_LONGEST_NAME].strip() or "-"
        name, number = stem, 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem} {number}"
        taken.add(name.casefold())
        yield name
