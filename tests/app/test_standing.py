"""What a child or a guest leaves to the adults of the household."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.recalled_sources import RecalledSource, correct, forget
from app.session import Session
from app.standing import AdultsAlone, OwnFactsAlone, OwnLessonsAlone
from app.training import start_manifest
from memory.errors import OnlyAdmin
from memory.pausing import pause, paused
from tests.app.conftest import Run


@pytest.fixture
def family(session: Session) -> Session:
    """Ana administers, Eva is another adult, Leo is a child."""
    members = session.household.members
    members.default(name="Ana")
    members.add("Eva", "en")
    members.add("Leo", "en")
    members.set_standing("Leo", "child")
    return session


def of_a_child(here: Run, *command: str) -> None:
    """The command is refused to Leo in a sentence that says who can do it."""
    ran = here(*command, ENLACE_MEMBER="Leo")
    assert ran.code == 1
    assert "Leo is a child or a guest in this household" in ran.err
    assert "another adult can" in ran.err


@pytest.mark.parametrize("standing", ["child", "guest"])
def test_they_withdraw_and_bring_back_only_their_own_lessons(here: Run, family: Session, standing: str) -> None:
    here("members", standing, "Leo")
    here("lessons", "add", "--question", "What is it?", "--chosen", "A lamp.", "--member", "Eva")
    of_a_child(here, "lessons", "withdraw", "1")
    assert here("lessons", "withdraw", "1", "--member", "Ana").code == 0
    of_a_child(here, "lessons", "restore", "1")
    assert json.loads(here("lessons", "list", "--json").out)[0]["status"] == "withdrawn"
    here("lessons", "add", "--question", "Who is it?", "--chosen", "Leo.", "--member", "Leo")
    of_a_child(here, "lessons", "withdraw", "1", "--retrain")
    assert json.loads(here("lessons", "list", "--json").out)[0]["status"] == "active"
    for command in ("withdraw", "restore"):
        assert here("lessons", command, "1", "--member", "Leo").code == 0


def test_what_was_recalled_is_put_right_and_forgotten_by_adults_alone_where_it_is_anothers(family: Session) -> None:
    eva, leo = family.as_member("Eva"), family.as_member("Leo")
    fact = eva.memory.facts.add("the key is under the stone", visibility="shared")
    lesson = eva.memory.lessons.add([{"role": "user", "content": "What?"}], "A lamp.", visibility="shared")
    of_a_fact = RecalledSource("fact", fact.id, fact.text, "", "Eva", 0.0, False, "", None)
    of_a_lesson = RecalledSource("lesson", lesson.id, "A lamp.", "What?", "Eva", 0.0, False, "", None)
    with pytest.raises(OwnFactsAlone):
        correct(leo, of_a_fact, "it is gone")
    with pytest.raises(OwnFactsAlone):
        forget(leo, of_a_fact)
    with pytest.raises(OwnLessonsAlone):
        forget(leo, of_a_lesson)
    forget(eva, of_a_fact)
    forget(eva, of_a_lesson)


def test_they_have_no_other_snapshot_answer(here: Run, family: Session) -> None:
    base, snapshots = family.snapshot(), family.household.snapshots
    made = snapshots.create(
        base.base_name, base.base_sha256, adapters=(), parent=base.id, run=None, reason="test", gate=None
    )
    snapshots.promote(made.id, "Ana", "test")
    of_a_child(here, "snapshots", "rollback", "--to", base.id)
    of_a_child(here, "models", "use", base.base_name)
    assert snapshots.current().id == made.id
    assert here("snapshots", "rollback", "--to", base.id, "--member", "Eva").code == 0


def test_they_neither_start_nor_hold_nor_end_trainings(here: Run, family: Session) -> None:
    run = family.household.runs.create("lessons")
    of_a_child(here, "train", "pause")
    of_a_child(here, "train", "stop")
    family.household.runs.finish(run.id, "held")
    for command in (("now",), ("blame", run.id), ("reproduce", "plan.yaml")):
        of_a_child(here, "train", *command)
    with pytest.raises(AdultsAlone):
        start_manifest(family.as_member("Leo"), Path("plan.yaml"))
    assert len(family.household.runs.list()) == 1
    pause(family.home, "Ana", lambda: 0.0)
    of_a_child(here, "train", "resume")
    assert paused(family.home) is not None
    assert here("train", "resume", ENLACE_MEMBER="Eva").code == 0


def test_the_only_one_who_administers_is_no_child_and_no_guest(here: Run, family: Session) -> None:
    refused = here("members", "child", "Ana")
    assert (refused.code, "Ana is the only one who administers" in refused.err) == (2, True)
    with pytest.raises(OnlyAdmin):
        family.household.members.set_standing("Ana", "guest")
    assert family.household.members.get("Ana").standing == "trusted"


def test_no_child_comes_to_administer_because_nobody_else_is_left(here: Run, family: Session) -> None:
    assert here("members", "remove", "Eva", "--yes").code == 0
    refused = here("members", "remove", "Ana", "--yes")
    assert (refused.code, "only children and guests" in refused.err) == (2, True)
    assert family.household.members.get("Ana").admin
    here("members", "child", "Leo", "--off")
    assert "Leo administers" in here("members", "remove", "Ana", "--yes").out


def test_whoever_becomes_a_child_does_not_administer_any_more(family: Session) -> None:
    members = family.household.members
    members.remove("Eva")
    family.household._family.run("UPDATE members SET admin = 1 WHERE name = 'Leo'")
    members.set_standing("Leo", "child")
    assert not members.get("Leo").admin
