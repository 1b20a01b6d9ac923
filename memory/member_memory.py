"""The memory of one member, part by part."""

from __future__ import annotations

from dataclasses import dataclass

from memory.chats import Chats
from memory.documents.papers import Papers
from memory.facts import Facts
from memory.hearing import Hearing
from memory.lessons import Lessons
from memory.members import Member
from memory.private import PrivateTraining
from memory.recall import Recall
from memory.voice import Voice


@dataclass(frozen=True)
class MemberMemory:
    """What one member said, what they may see, and what comes to mind for them."""

    member: Member
    chats: Chats
    facts: Facts
    hearing: Hearing
    lessons: Lessons
    recall: Recall
    private: PrivateTraining
    papers: Papers
    voice: Voice
