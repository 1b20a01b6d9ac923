"""What is there after a kill -9 at any moment."""

from __future__ import annotations

import multiprocessing
import os
import random
import sqlite3
import time
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import Settings, load_settings
from memory.household import Household

KILLS = 8


def talks(root: Path, log: Path) -> None:
    """Asks and answers for ever, and notes what it was told to be stored."""
    home = Home(root)
    household = Household.open(home, load_settings(home, {}).memory)
    chats = household.member(household.members.default(name="casa").id).chats
    conversation = chats.start()
    with log.open("a", encoding="utf-8") as noted:
        parent = None
        for number in range(100_000):
            question = chats.question(conversation.id, f"pregunta {number}", parent)
            print(f"question {question.id}", file=noted, flush=True)
            answer = chats.begin_answer(question.id, "v0")
            for words in range(1, 5):
                chats.extend_answer(answer.id, "palabra " * words)
                print(f"partial {answer.id} {words}", file=noted, flush=True)
            chats.finish_answer(answer.id, f"terminada{number}")
            print(f"finished {answer.id} terminada{number}", file=noted, flush=True)
            parent = answer.id


def test_every_acknowledged_word_is_there_after_kills_at_random_moments(home: Home, settings: Settings) -> None:
    log = home.root / "noted.txt"
    log.touch()
    waits = random.Random(7)
    context = multiprocessing.get_context("spawn")
    for _ in range(KILLS):
        size = log.stat().st_size
        child = context.Process(target=talks, args=(home.root, log))
        child.start()
        deadline = time.monotonic() + 60
        while log.stat().st_size == size:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(waits.random() * 0.3)
        child.kill()
        child.join(30)

    notes = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    with Household.open(home, settings.memory) as household:
        (member,) = household.members.list()
        chats = household.member(member.id).chats
        finished = {note[1] for note in notes if note[0] == "finished"}
        for kind, message_id, *rest in (note for note in notes if len(note) >= 2):
            message = chats.message(message_id)
            if kind == "partial" and message_id not in finished and message.state == "partial":
                assert message.content.count("palabra") >= int(rest[0])
            if kind == "finished":
                assert (message.state, message.content) == ("complete", rest[0])
                assert [hit.message.id for hit in chats.search(rest[0])][:1]
        left = [m for c in chats.list() for m in chats.messages(c.id) if m.state == "partial"]
        # Nobody writes them any more, so what there is of them can be found.
        assert {m.id for m in left if m.content} <= {hit.message.id for hit in chats.search("palabra", 1000)}
    connection = sqlite3.connect(home.member_db(member.id))
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("INSERT INTO messages_text (messages_text) VALUES ('integrity-check')").rowcount >= -1
    connection.close()


def test_an_answer_that_another_process_is_writing_is_not_indexed_before_its_end(
    home: Home, settings: Settings
) -> None:
    with Household.open(home, settings.memory) as writer:
        member = writer.members.default(name="casa")
        chats = writer.member(member.id).chats
        question = chats.question(chats.start().id, "hola")
        answer = chats.begin_answer(question.id, "v0")
        chats.extend_answer(answer.id, "principio")
        with Household.open(home, settings.memory) as reader:
            assert reader.member(member.id).chats.search("principio") == []
        chats.finish_answer(answer.id, "final")
        assert len(chats.search("final")) == 1
        assert chats.search("principio") == []


def test_a_removal_cut_off_by_a_crash_is_finished_at_the_next_start(
    home: Home, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(member_id: str) -> None:
        raise KeyboardInterrupt

    with Household.open(home, settings.memory) as household:
        ana = household.members.add("Ana", "es")
        household.member(ana.id).chats.start()
        household.member(ana.id).facts.add("un secreto", visibility="shared")
        monkeypatch.setattr(household.members, "_finish_removal", cut_off)
        with pytest.raises(KeyboardInterrupt):
            household.members.remove("Ana")
    assert home.member_db(ana.id).exists()
    with Household.open(home, settings.memory) as household:
        assert household.members.list() == []
        bruno = household.members.add("Bruno", "es")
        assert household.member(bruno.id).facts.list() == []
    assert not home.member_db(ana.id).exists()
    assert sorted(os.listdir(home.members)) == [f"{bruno.id}.db", f"{bruno.id}.lock"]
