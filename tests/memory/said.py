"""What a family says, with what follows from it, held against what Enlace makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from memory.chats import ChatMessage
from memory.facts import Fact
from memory.household import Household, MemberMemory
from memory.text import fold

DATA = Path(__file__).parent / "data" / "said_facts.yaml"
MEMBERS = ("Ana", "Bruno", "Antonio")
Hear = Callable[[MemberMemory, ChatMessage], Iterable[Fact]]


@dataclass(frozen=True)
class Judged:
    """One utterance: what came of it that should (``right``), what should not have, and what should have come too."""

    say: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    missing: tuple[str, ...]
    spans: bool  # every quote stands in its source


@cache
def utterances(part: str) -> list[dict[str, Any]]:
    """The utterances of a part of the set."""
    found: list[dict[str, Any]] = yaml.safe_load(DATA.read_text(encoding="utf-8"))[part]
    return found


def say(memory: MemberMemory, *texts: str, hear: Hear | None = None) -> list[Fact]:
    """Say one thing after another in one conversation; what the last one left that is new."""
    conversation, parent, new = memory.chats.start(), None, list[Fact]()
    for text in texts:
        question = memory.chats.question(conversation.id, text, parent)
        parent = memory.chats.finish_answer(memory.chats.begin_answer(question.id, "v0").id, "…").id
        new = list(memory.hearing.hear(question).new)
        if hear is not None:
            new += hear(memory, question)
    return new


def judge(household: Household, part: str, hear: Hear | None = None) -> list[Judged]:
    """Say everything of a part to a household of MEMBERS, each utterance as if nothing had been said before."""
    return [_judged(household, entry, hear) for entry in utterances(part)]


def precision(judged: Sequence[Judged]) -> float:
    """The share of what came that should have come."""
    right, wrong = sum(len(each.right) for each in judged), sum(len(each.wrong) for each in judged)
    return right / max(1, right + wrong)


def recall(judged: Sequence[Judged]) -> float:
    """The share of what should have come that came."""
    right, missing = sum(len(each.right) for each in judged), sum(len(each.missing) for each in judged)
    return right / max(1, right + missing)


def _judged(household: Household, entry: dict[str, Any], hear: Hear | None) -> Judged:
    memory = household.member(household.members.get(entry.get("who", "Ana")).id)
    facts = say(memory, *entry.get("before", ()), entry["say"], hear=hear)
    spans = all(fact.quote and fact.quote in memory.chats.message(fact.source).content for fact in facts)
    for fact in memory.hearing.ledger.where("made_of", memory.member.id):
        memory.hearing.ledger.rows[fact.visibility].drop(fact.id)
    expected, got = {fold(each): each for each in entry["facts"]}, {fold(each): each for each in map(_written, facts)}
    return Judged(
        entry["say"],
        tuple(got[key] for key in got if key in expected),
        tuple(got[key] for key in got if key not in expected),
        tuple(expected[key] for key in expected if key not in got),
        spans,
    )


def _written(fact: Fact) -> str:
    subject = fact.subject or ("household" if fact.predicate != "note" else "")
    predicate = f"{fact.predicate}/{fact.detail}" if fact.detail else fact.predicate
    return f"{subject} | {predicate} | {'no longer ' if fact.denied else ''}{fact.object}"
