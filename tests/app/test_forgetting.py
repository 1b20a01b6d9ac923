"""What is forgotten for good is in no byte of the home any more, nor of the next backup."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.session import Session
from configs.home import Home
from memory.chats import Chats
from memory.errors import FactOfAnother, LessonUnknown
from tests.app.conftest import Run
from tests.app.report.conftest import ANSWERS, Runs

# Nothing else begins or goes on like it: an index that stores words by what they do not share with the one before keeps
# the end of it whole.
CANARY = "qzxkwvjphlogiston"
TELLTALE = CANARY[3:]
WORDS = [
    "house",
    "garden",
    "winter",
    "summer",
    "river",
    "mountain",
    "bread",
    "cheese",
    "window",
    "kitchen",
    "table",
    "chair",
    "music",
]


def every_byte(root: Path) -> Iterator[tuple[Path, bytes]]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and "models" not in path.relative_to(root).parts:
            yield path, path.read_bytes()


def traces(root: Path) -> list[str]:
    """The files that hold the canary, as it is, in other encodings, in a name, or packed."""
    forms = [TELLTALE.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be")]
    found = [str(path.relative_to(root)) for path in root.rglob("*") if TELLTALE in path.name]
    for path, content in every_byte(root):
        if any(form in content.lower() for form in forms):
            found.append(str(path.relative_to(root)))
        if content[:2] == b"\x1f\x8b" and TELLTALE.encode() in zlib.decompress(content, 31).lower():
            found.append(f"{path.relative_to(root)} (packed)")
    return found


def live(chats: Chats, seed: int, rounds: int = 60) -> None:
    """Talk about other things, long and short, so that pages are split, merged and used again."""
    draw = random.Random(seed)
    for _ in range(rounds):
        conversation = chats.start()
        said = " ".join(draw.choices(WORDS, k=draw.choice((3, 40, 400))))
        question = chats.question(conversation.id, said)
        answer = chats.begin_answer(question.id, "v0")
        for part in range(3):
            chats.extend_answer(answer.id, said[: (part + 1) * 50])
        chats.finish_answer(answer.id, said[::-1])
        if draw.random() < 0.3:
            chats.delete(conversation.id)
            chats.purge(conversation.id)


def tell_the_canary(session: Session) -> str:
    """A conversation full of it; its id."""
    chats = session.memory.chats
    conversation = chats.start()
    for number in range(20):
        question = chats.question(conversation.id, f"Where is our {CANARY}? {'so ' * 200 * (number % 3)}")
        answer = chats.begin_answer(question.id, "v0")
        chats.extend_answer(answer.id, f"In the {CANARY} box" * 5)
        chats.finish_answer(answer.id, f"In the {CANARY} drawer.")
    return conversation.id


@pytest.fixture
def backed_up(here: Run, tmp_path: Path, home: Home) -> Iterator[Path]:
    """Where the next backup appears; what is in it is looked through at the end."""
    place = tmp_path / "backups"
    place.mkdir()
    yield place
    assert here("backup", "create", str(place / "next.tar"), "--without-models").code == 0
    assert traces(place) == []
    assert traces(home.root) == []


def test_a_conversation_forgotten_for_good_leaves_no_byte_behind(
    here: Run, session: Session, home: Home, backed_up: Path
) -> None:
    session.snapshot()
    live(session.memory.chats, 1)
    conversation = tell_the_canary(session)
    live(session.memory.chats, 2)
    session.close()
    assert traces(home.root)
    ran = here("chats", "delete", conversation, "--for-good", "--yes")
    assert (ran.code, "Forgotten for good" in ran.out) == (0, True), ran.err


def test_what_was_said_in_a_conversation_and_shared_with_the_house_goes_with_it(
    here: Run, session: Session, home: Home, backed_up: Path
) -> None:
    chats = session.memory.chats
    question = chats.question(chats.start().id, f"Remember that our key is in the {CANARY} box")
    (fact,) = session.memory.hearing.hear(question).new
    session.memory.facts.edit(fact.id, visibility="shared")
    ran = here("chats", "delete", question.conversation_id, "--for-good", "--yes")
    assert (ran.code, "One thing that I remember of it goes too." in ran.err) == (0, True), ran.err
    # Another window is still there, which keeps the household's file open.
    assert traces(home.root) == []
    session.close()


def test_who_deletes_a_conversation_is_told_what_is_remembered_of_it_and_reads_there_where_it_was(
    here: Run, session: Session, home: Home
) -> None:
    chats = session.memory.chats
    question = chats.question(chats.start().id, "I'm allergic to peanuts")
    (fact,) = session.memory.hearing.hear(question).new
    session.close()
    told = here("chats", "delete", question.conversation_id, "--yes")
    assert "I still remember one thing that you said in it" in told.err
    shown = json.loads(here("memory", "show", fact.id, "--json").out)
    assert (shown["origin"], shown["evidence"]) == ("deleted", None)
    assert "in a conversation that you deleted" in here("memory", "show", fact.id).out
    assert here("chats", "restore", question.conversation_id).code == 0
    shown = json.loads(here("memory", "show", fact.id, "--json").out)
    assert (shown["origin"], shown["evidence"]["message"]) == ("here", question.id)
    here("chats", "delete", question.conversation_id, "--yes")
    with Session({"ENLACE_HOME": str(home.root)}) as later:
        later.memory.chats.purge(question.conversation_id)
    assert json.loads(here("memory", "show", fact.id, "--json").out)["origin"] == "gone"
    assert "is there no more" in here("memory", "show", fact.id).out


def test_what_was_taught_in_a_conversation_goes_with_it_out_of_runs_too(
    here: Run, session: Session, home: Home, backed_up: Path
) -> None:
    base = session.snapshot()
    chats, lessons = session.memory.chats, session.memory.lessons
    question = chats.question(chats.start().id, f"What is a {CANARY}?")
    answer = chats.finish_answer(chats.begin_answer(question.id, "v0").id, "Nothing.")
    taught = lessons.add(
        [{"role": "user", "content": question.content}], f"A {CANARY}.", "Nothing.", visibility="shared"
    )
    right = chats.begin_answer(question.id, "v0")
    chats.finish_answer(right.id, taught.chosen, "complete", {"corrects": answer.id, "lesson": taught.id})
    asked = [{"role": "user", "content": question.content}]
    lessons.add(asked, "", "Nothing.", source="thumb", lesson_id=f"thumb-{answer.id}")
    told = {"lesson": taught.id, "question": taught.question, "after": taught.chosen, "after_right": True}
    run = Runs(session).judged([*ANSWERS, ANSWERS[0] | told])
    session.household.runs.give(run.id, [taught.id])
    made = session.household.snapshots.create(
        base.base_name, base.base_sha256, adapters=[], parent=base.id, run=run.id, reason="training", gate=None
    )
    session.household.snapshots.promote(made.id, "Ana", "a test")
    (home.cache).mkdir(exist_ok=True)
    (home.cache / "answers.json").write_text(json.dumps({"question": CANARY}), encoding="utf-8")
    session.close()
    ran = here("chats", "delete", "1", "--for-good", "--yes")
    assert ran.code == 0, ran.err
    assert "The 2 lessons that you taught me in it go too" in ran.err
    assert "v1 still knows it" in ran.out


def test_a_fact_forgotten_for_good_leaves_no_byte_behind(
    here: Run, session: Session, home: Home, backed_up: Path
) -> None:
    session.snapshot()
    for number in range(50):
        session.memory.facts.add(
            f"{WORDS[number % 13]} number {number}", visibility="shared" if number % 2 else "private"
        )
    kept = session.memory.facts.add(f"Our {CANARY} is green")
    session.memory.facts.edit(kept.id, visibility="shared")
    session.memory.facts.edit(kept.id, text=f"Our {CANARY} is {CANARY}")
    session.memory.facts.forget(kept.id)
    session.close()
    assert here("memory", "forget", kept.id, "--for-good", "--yes").code == 0
    assert len(json.loads(here("memory", "list", "--json").out)) == 50


def test_a_lesson_withdrawn_for_good_leaves_no_byte_behind(
    here: Run, session: Session, home: Home, backed_up: Path
) -> None:
    session.snapshot()
    for number in range(30):
        session.memory.lessons.add([{"role": "user", "content": f"Who is {number}?"}], f"{WORDS[number % 13]}.")
    lesson = session.memory.lessons.add([{"role": "user", "content": f"What is {CANARY}?"}], f"{CANARY}!")
    session.memory.lessons.share(lesson.id)
    session.close()
    assert here("lessons", "withdraw", lesson.id, "--for-good", "--yes").code == 0
    assert len(json.loads(here("lessons", "list", "--json").out)) == 30


def test_nobody_forgets_for_good_what_another_said(session: Session) -> None:
    household = session.household
    household.members.add("Ana", "en")
    other = household.member(household.members.add("Bruno", "en").id)
    fact = other.facts.add("The gate code is 1234", visibility="shared")
    lesson = other.lessons.add([{"role": "user", "content": "Who?"}], "Me.", visibility="shared")
    with pytest.raises(FactOfAnother):
        session.memory.facts.purge(fact.id)
    with pytest.raises(LessonUnknown):
        session.memory.lessons.purge([lesson.id])
    assert other.facts.get(fact.id) == fact
    assert other.lessons.get(lesson.id) == lesson


def test_where_another_window_still_reads_the_trace_goes_when_that_one_is_closed(
    here: Run, session: Session, home: Home, backed_up: Path
) -> None:
    conversation = tell_the_canary(session)
    with Session(session.environ) as other:
        assert other.memory.chats.search(CANARY)
        reading = other.memory.chats._database
        with reading._lock:
            reading._connection.execute("BEGIN")
            reading._connection.execute("SELECT count(*) FROM messages").fetchone()
            session.close()
            ran = here("chats", "delete", conversation, "--for-good", "--yes")
            assert "the last one to close wipes the trace" in ran.err
            reading._connection.execute("COMMIT")
    assert traces(home.root) == []
