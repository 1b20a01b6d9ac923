"""What members do. Each takes the world, whose turn it is, and a number to choose by."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

from configs.errors import EnlaceError
from memory.chats import ChatMessage
from tests.app.privacy.world import NAMES, World

Action = Callable[[World, str, int], object]
# Alike in every word but the private one: nothing that is recalled by likeness could be further from being told apart.
QUESTION: Final = "Where is our red box called {}?"


def remember(world: World, member: str, _: int) -> None:
    ran = world.run(member, "memory", "add", f"Our red box called {world.secret(member)} is in the attic", "--json")
    world.know("fact", member, json.loads(ran.out)["id"])


def remember_for_all(world: World, member: str, _: int) -> None:
    """What a child would tell everybody is refused, and stays in no place."""
    word = world.secret(member)
    ran = world.run(member, "memory", "add", f"Our red box called {word} is in the attic", "--shared", "--json")
    if ran.code == 0:
        world.release(word)
        world.know("fact", member, json.loads(ran.out)["id"])


def share_a_fact(world: World, member: str, at: int) -> None:
    own = [fact for fact in facts_of(world, member) if fact["visibility"] == "private"]
    if own:
        fact = own[at % len(own)]
        if world.run(member, "memory", "edit", fact["id"], "--shared").code == 0:
            world.release(fact["text"])


def share_and_take_back(world: World, member: str, at: int) -> None:
    with world.session(member) as session:
        facts, lessons = session.memory.facts, session.memory.lessons
        for fact in facts.list()[at % 2 : 1]:
            if fact.visibility == "private":
                facts.edit(fact.id, visibility="shared")
                facts.edit(fact.id, visibility="private")
        for lesson in lessons.list()[at % 2 : 1]:
            if lesson.visibility == "private":
                lessons.share(lesson.id)
                lessons.unshare(lesson.id)


def put_in_other_words(world: World, member: str, at: int) -> None:
    own = [fact for fact in facts_of(world, member) if fact["visibility"] == "private"]
    if own:
        world.run(member, "memory", "edit", own[at % len(own)]["id"], f"The box {world.secret(member)} is red")


def forget(world: World, member: str, at: int) -> None:
    world.run(member, "memory", "forget", str(at % 3 + 1))


def forget_for_good(world: World, member: str, at: int) -> None:
    world.run(member, "memory", "forget", str(at % 3 + 1), "--for-good", "--yes")


def bring_back(world: World, member: str, at: int) -> None:
    world.run(member, "memory", "restore", str(at % 3 + 1))


def teach(world: World, member: str, _: int) -> None:
    word = world.secret(member)
    ran = world.run(
        member, "lessons", "add", "--question", QUESTION.format(word), "--chosen", f"In the {word} attic.",
        "--rejected", "Nowhere.", "--private", "--json",
    )  # fmt: skip
    world.know("lesson", member, json.loads(ran.out)["id"])


def teach_all(world: World, member: str, _: int) -> None:
    word = world.secret(member)
    world.release(word)
    ran = world.run(
        member, "lessons", "add", "--question", QUESTION.format(word), "--chosen", f"In the {word} attic.", "--json"
    )
    world.know("lesson", member, json.loads(ran.out)["id"])


def share_a_lesson(world: World, member: str, at: int) -> None:
    own = [each for each in lessons_of(world, member) if each["visibility"] == "private"]
    if own:
        lesson = own[at % len(own)]
        if world.run(member, "lessons", "share", lesson["id"]).code == 0:
            world.release(json.dumps(lesson, ensure_ascii=False))


def withdraw(world: World, member: str, at: int) -> None:
    world.run(member, "lessons", "withdraw", str(at % 3 + 1), *(["--for-good", "--yes"] if at % 2 else []))


def ask(world: World, member: str, _: int) -> None:
    ran = world.run(member, "ask", QUESTION.format(world.secret(member)), "--json")
    world.know("conversation", member, json.loads(ran.out)["conversation"])


def ask_on(world: World, member: str, _: int) -> None:
    world.run(member, "ask", f"And what of {world.secret(member)}?", "--continue", "--json")


def ask_to_remember(world: World, member: str, _: int) -> None:
    world.run(member, "ask", f"Remember that our red box called {world.secret(member)} is in the cellar")


def say_in_passing(world: World, member: str, at: int) -> None:
    world.run(member, "ask", f"The spare keys are in the {world.secret(member)} box.")
    world.run(member, "memory", *(["undo"] if at % 3 == 0 else ["rebuild"] if at % 3 == 1 else ["show", "1"]))


def ask_what_others_know(world: World, member: str, _: int) -> None:
    world.run(member, "ask", "Where is our red box called?")


def correct(world: World, member: str, at: int) -> None:
    with world.session(member) as session:
        answers = said_by_enlace(session.memory.chats.list(3), session.memory.chats.messages)
        if not answers:
            return
        answer, word = answers[at % len(answers)], world.secret(member)
        shared = bool(at % 2)
        try:
            lesson = session.assistant().correct(answer.id, f"It is in the {word} attic.", shared=shared)
        except EnlaceError as error:
            world.look(member, "an error", str(error.facts))
            return
        world.know("lesson", member, lesson.id)
        if shared:
            world.release(repr(lesson))


def rate(world: World, member: str, at: int) -> None:
    with world.session(member) as session:
        answers = said_by_enlace(session.memory.chats.list(3), session.memory.chats.messages)
        if answers:
            session.assistant().rate(answers[at % len(answers)].id, at % 3 - 1)


def answer_again(world: World, member: str, _: int) -> None:
    with world.session(member) as session:
        chats = session.memory.chats
        questions = [m for c in chats.list(1) for m in chats.messages(c.id) if m.role == "user"]
        if questions:

            async def again() -> None:
                async with aclosing(session.assistant().retry(questions[-1].id)) as events:
                    async for event in events:
                        world.look(member, "an event", repr(event))

            asyncio.run(again())


def import_chats(world: World, member: str, at: int) -> None:
    word = world.secret(member)
    file = world.home.root.parent / "export.json"
    message = {"uuid": f"m{word}", "sender": "human", "text": QUESTION.format(word), "content": []}
    entry: dict[str, Any] = {"uuid": word, "name": f"About {word}", "chat_messages": [message]}
    bad = {"uuid": word, "name": word, "chat_messages": [{"sender": "human", "text": word}]}
    file.write_text(json.dumps([entry, bad] if at % 2 else [entry]), encoding="utf-8")
    world.run(member, "chats", "import", str(file))
    file.unlink()


def add_a_document(world: World, member: str, at: int) -> None:
    word = world.secret(member)
    shared = at % 3 == 0
    file = world.home.root.parent / f"contact {at} of {member}.vcf"
    card = f"FN:Laura {word.title()}\nN:{word.title()};Laura;;;\nORG:The {word} box\nEMAIL:{word}@example.com"
    file.write_text(f"BEGIN:VCARD\nVERSION:3.0\n{card}\nEND:VCARD\n", encoding="utf-8")
    if world.run(member, "documents", "add", str(file), "--shared" if shared else "--private").code == 0 and shared:
        world.release(word)


def delete_a_conversation(world: World, member: str, at: int) -> None:
    world.run(member, "chats", "delete", str(at % 2 + 1), "--yes", *(["--for-good"] if at % 2 else []))


def reach_for_anothers(world: World, member: str, at: int) -> None:
    """By ids, as somebody who has seen another's screen could."""
    for kind, commands in REACHES.items():
        known = world.ids_of_others(kind, member)
        if known:
            id_ = known[at % len(known)]
            for words in commands:
                world.run(member, *(id_ if word == "ID" else word for word in words))


def look_around(world: World, member: str, at: int) -> None:
    for words in (LOOKS[at % len(LOOKS)], LOOKS[(at * 7 + 3) % len(LOOKS)]):
        world.run(member, *words)


REACHES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "fact": (("memory", "edit", "ID", "other words"), ("memory", "edit", "ID", "--private")),
    "lesson": (("lessons", "share", "ID"), ("lessons", "withdraw", "ID"), ("lessons", "approve", "ID")),
    "conversation": (("chats", "show", "ID"), ("chats", "export", "ID", "--json"), ("chats", "restore", "ID")),
}
LOOKS: Final[tuple[tuple[str, ...], ...]] = (
    ("documents", "list", "--json"),
    ("documents", "status", "--json"),
    *(("graph", *words, "--json") for words in (("query",), ("show", "Laura"), ("proposals",), ("merges",))),
    ("chats", "list", "--json"),
    ("chats", "list", "--deleted", "--json"),
    ("chats", "show", "1"),
    ("chats", "search", "red box", "--json"),
    ("chats", "search", "q"),
    ("chats", "export", "--jsonl"),
    ("chats", "export"),
    ("memory", "list", "--json"),
    ("memory", "list", "--forgotten", "--json"),
    ("memory", "search", "red box", "--json"),
    ("lessons", "list", "--json"),
    ("lessons", "export", "-"),
    ("lessons", "export", "-", "--form", "supervised"),
    ("lessons", "export", "-", "--form", "training"),
    ("lessons", "waiting"),
    ("lessons", "contradicted"),
    ("members", "list", "--json"),
    ("train", "status"),
    ("train", "history", "--json"),
    ("snapshots", "list", "--json"),
    ("engine", "status", "--json"),
    ("tools", "list"),
)
ACTIONS: Final[Sequence[Action]] = (
    remember, remember_for_all, share_a_fact, share_and_take_back, put_in_other_words, forget, forget_for_good,
    bring_back, teach, teach_all, share_a_lesson, withdraw, ask, ask_on, ask_to_remember, say_in_passing,
    ask_what_others_know, correct, rate, answer_again, import_chats, add_a_document, delete_a_conversation,
    reach_for_anothers, look_around,
)  # fmt: skip


def facts_of(world: World, member: str) -> list[dict[str, Any]]:
    """Those that a member said, as the listing tells them."""
    everything: list[dict[str, Any]] = json.loads(world.run(member, "memory", "list", "--json").out)
    return [fact for fact in everything if fact["said_by_name"] == member]


def lessons_of(world: World, member: str) -> list[dict[str, Any]]:
    """Those of a member's."""
    with world.session(member) as session:
        own = session.member.id
    everything: list[dict[str, Any]] = json.loads(world.run(member, "lessons", "list", "--json").out)
    return [lesson for lesson in everything if lesson["member"] == own]


def said_by_enlace(conversations: Sequence[Any], messages: Callable[[str], list[ChatMessage]]) -> list[ChatMessage]:
    return [
        message
        for conversation in conversations
        for message in messages(conversation.id)
        if message.role == "assistant" and message.parent_id is not None
    ]


def everybody_looks(world: World) -> None:
    """At the end each of them looks at everything, through the same places as the screens do."""
    for member in NAMES:
        with world.session(member) as session:
            memory, household = session.memory, session.household
            world.look(
                member,
                "what the screens show",
                repr(
                    [
                        *(memory.chats.messages(chat.id) for chat in memory.chats.list(1000)),
                        memory.chats.list(1000, deleted=True),
                        memory.chats.search("red box"),
                        memory.facts.list(),
                        memory.facts.list(forgotten=True),
                        memory.facts.search("box"),
                        memory.lessons.list(),
                        memory.recall.find(QUESTION.format("it"), memory.member),
                        household.lessons_for_training(),
                        household.corrections(),
                        household.ratings(),
                        household.approvals.waiting(),
                        household.runs.list(),
                    ]
                ),
            )
    world.look_at_files()


def written_to(folder: Path) -> str:
    """Every text that was written into a folder, one after the other."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*")) if path.is_file())
