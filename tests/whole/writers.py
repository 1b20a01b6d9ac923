"""Run as ``python -m tests.whole.writers``: one of the processes that write to a home at once, each to its own journal.

Each thing is numbered, and is in the journal once it was accepted: what a crash or a backup keeps can be held to that.
Settings come in the environment: ENLACE_HOME, WRITER (its number), MEMBER (a name), JOURNAL (a file), STOP (a file that
appears when it is to end).
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

from configs.home import Home
from configs.settings import load_settings
from memory.household import Household, MemberMemory
from memory.visibility import Visibility

KINDS = ("question", "answer", "fact", "shared fact", "lesson", "shared lesson")


def main() -> None:
    """Write until told to stop. Any error ends it, and is on its standard error."""
    writer, journal, stop = os.environ["WRITER"], Path(os.environ["JOURNAL"]), Path(os.environ["STOP"])
    home = Home.find(os.environ)
    draw = random.Random(writer)
    with Household.open(home, load_settings(home, {}).memory) as household, journal.open("a", encoding="utf-8") as file:
        memory = household.member(household.members.get(os.environ["MEMBER"]).id)
        number = 0
        while not stop.exists():
            kind = draw.choice(KINDS)
            write(memory, kind, f"writer {writer} number {number}", draw)
            file.write(json.dumps({"number": number, "kind": kind}) + "\n")
            file.flush()
            number += 1


def write(memory: MemberMemory, kind: str, text: str, draw: random.Random) -> None:
    """Store one thing of a kind that says ``text``."""
    visibility: Visibility = "shared" if kind.startswith("shared") else "private"
    if kind in ("question", "answer"):
        question = memory.chats.question(memory.chats.start().id, text)
        if kind == "answer":
            answer = memory.chats.begin_answer(question.id, "v0")
            for length in (5, 50):
                memory.chats.extend_answer(answer.id, "x" * length)
            memory.chats.finish_answer(answer.id, f"answer of {text}")
            memory.chats.rate(answer.id, draw.choice((-1, 0, 1)))
    elif kind.endswith("fact"):
        memory.facts.add(text, visibility=visibility)
    else:
        memory.lessons.add([{"role": "user", "content": text}], f"chosen of {text}", "no", visibility=visibility)


if __name__ == "__main__":
    main()
