"""``enlace members remove``: what is asked before it, and who administers after it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from app.assistant.private import own_adapter
from app.catalogue import Catalogue
from app.errors_text import explain
from app.session import Session
from memory.errors import MemberUnknown
from tests.app.conftest import TIMEOUT_S, Run
from tests.project import ROOT

pytestmark = pytest.mark.timeout(180)


def teach(session: Session, question: str, *, shared: bool) -> None:
    messages = [{"role": "user", "content": question}]
    session.memory.lessons.add(messages, "The answer.", visibility="shared" if shared else "private")


def test_the_question_counts_the_lessons_that_the_household_loses(here: Run, session: Session) -> None:
    for name in ("Ana", "Leo"):
        here("members", "add", name)
    teach(session, "What goes?", shared=True)
    teach(session, "What else goes?", shared=True)
    teach(session, "What is mine?", shared=False)
    ours, theirs = pty.openpty()
    os.write(ours, b"no\n")
    asked = subprocess.run(
        [sys.executable, "-m", "app", "members", "remove", session.member.name],
        cwd=ROOT, env={**os.environ, **session.environ}, stdin=theirs, capture_output=True, text=True,
        timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    assert f"2 lessons that {session.member.name} shared go too, for everybody." in asked.stderr
    assert len(session.household.members.list()) == 2


def test_what_the_others_lose_is_said_before_and_after_also_where_nobody_is_asked(here: Run, session: Session) -> None:
    session.household.members.default()
    here("members", "add", "Leo")
    here("members", "child", "Leo")
    household, base = session.household, session.snapshot()
    leo = session.as_member("Leo")
    teach(leo, "Mine?", shared=False)
    ours = [leo.memory.lessons.add([{"role": "user", "content": "What goes?"}], "This.", visibility="shared")]
    ours.append(leo.memory.lessons.add([{"role": "user", "content": "What waits?"}], "This.", visibility="shared"))
    household.approvals.approve(ours[0].id, session.member.id)
    run = household.runs.create("lessons")
    household.runs.give(run.id, [ours[0].id])
    household.runs.finish(run.id, "shipped")
    household.snapshots.create(
        base.base_name, base.base_sha256, adapters=[], parent=base.id, run=run.id, reason="training", gate=None
    )
    ran = here("members", "remove", "Leo", "--yes")
    assert ran.code == 0
    learned = "Trained on some of these, and keep what they learned: v1."
    assert ran.err.splitlines() == [
        "2 lessons that Leo shared go too, for everybody.", learned,
        "A backup first keeps them: enlace backup create",
    ]  # fmt: skip
    assert ran.out.splitlines() == [
        "Leo has been removed.", "2 lessons that Leo had shared have gone too.", learned,
    ]  # fmt: skip


def test_an_open_session_of_whoever_was_removed_says_their_name(here: Run, session: Session) -> None:
    session.household.members.default()
    here("members", "add", "Leo")
    leo = session.as_member("Leo")
    teach(leo, "Mine?", shared=False)
    here("members", "remove", "Leo", "--yes")
    for asks in (lambda: leo.memory, lambda: own_adapter(leo.household, leo.member.id)):
        with pytest.raises(MemberUnknown) as refused:
            asks()
        assert explain(refused.value, Catalogue("en")).what == "Nobody in the house is called “Leo”."


def test_whoever_administers_next_is_told(here: Run) -> None:
    for name in ("Ana", "Leo", "Inés"):
        here("members", "add", name)
    assert "administers" not in here("members", "remove", "Inés", "--yes").out
    assert "Leo administers" in here("members", "remove", "Ana", "--yes").out
    (left,) = json.loads(here("members", "list", "--json").out)
    assert (left["name"], left["admin"]) == ("Leo", True)
