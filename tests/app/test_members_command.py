"""``enlace members remove``: what is asked before it, and who administers after it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from app.session import Session
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


def test_whoever_administers_next_is_told(here: Run) -> None:
    for name in ("Ana", "Leo", "Inés"):
        here("members", "add", name)
    assert "administers" not in here("members", "remove", "Inés", "--yes").out
    assert "Leo administers" in here("members", "remove", "Ana", "--yes").out
    (left,) = json.loads(here("members", "list", "--json").out)
    assert (left["name"], left["admin"]) == ("Leo", True)
