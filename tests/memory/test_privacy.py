"""Nothing private of one member reaches another, whatever either of them does."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from configs.errors import EnlaceError
from configs.home import Home
from configs.settings import load_settings
from memory.household import Household, MemberMemory

SECRET = "xylophonium"  # noqa: S105 - a word to look for, no password
QUESTION = f"Where is our {SECRET}?"
Action = Callable[[MemberMemory, int], object]


def ask(memory: MemberMemory, _: int) -> object:
    question = memory.chats.question(memory.chats.start().id, QUESTION)
    return memory.chats.finish_answer(memory.chats.begin_answer(question.id, "v0").id, f"in the {SECRET} box")


def note(memory: MemberMemory, _: int) -> object:
    return memory.facts.add(f"our {SECRET} is in the box")


def correct(memory: MemberMemory, _: int) -> object:
    return memory.lessons.add([{"role": "user", "content": QUESTION}], f"the {SECRET} box", "nowhere")


def forget(memory: MemberMemory, at: int) -> object:
    facts = memory.facts.list()
    return memory.facts.forget(facts[at % len(facts)].id) if facts else None


def share_and_take_back(memory: MemberMemory, at: int) -> object:
    lessons = memory.lessons.list()
    if not lessons:
        return None
    memory.lessons.share(lessons[at % len(lessons)].id)
    return memory.lessons.unshare(lessons[at % len(lessons)].id)


def share_a_fact_and_take_it_back(memory: MemberMemory, at: int) -> object:
    facts = memory.facts.list()
    if not facts:
        return None
    memory.facts.edit(facts[at % len(facts)].id, visibility="shared")
    return memory.facts.edit(facts[at % len(facts)].id, visibility="private")


ACTIONS: list[Action] = [ask, note, correct, forget, share_and_take_back, share_a_fact_and_take_it_back]


def everything_seen_by(memory: MemberMemory, household: Household, ids: list[str]) -> str:
    seen: list[object] = [
        memory.chats.list(),
        memory.chats.list(deleted=True),
        memory.chats.search(SECRET),
        memory.chats.search("box"),
        memory.facts.list(),
        memory.facts.list(forgotten=True),
        memory.facts.search("box"),
        memory.lessons.list(),
        memory.recall.find(QUESTION, memory.member),
        household.lessons_for_training(),
    ]
    for look in (memory.chats.message, memory.chats.get, memory.facts.get, memory.lessons.get):
        for known in ids:
            try:
                seen.append(look(known))
            except EnlaceError as error:
                seen.append(str(error))
    return repr(seen)


@settings(max_examples=15, deadline=None)
@given(steps=st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 5)), min_size=1, max_size=8))
def test_no_word_of_a_private_memory_reaches_another_member(steps: list[tuple[Action, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        with Household.open(home, load_settings(home, {}).memory) as household:
            ana, bruno = (household.member(household.members.add(name, "en").id) for name in ("Ana", "Bruno"))
            ids: list[str] = []
            for action, at in steps:
                done = action(ana, at)
                ids.append(str(getattr(done, "id", "")))
            assert SECRET not in everything_seen_by(bruno, household, ids)
            assert bruno.recall.find(QUESTION, bruno.member).lessons == ()
        for path in (home.member_db(bruno.member.id), home.family_db):
            assert SECRET.encode() not in path.read_bytes()
