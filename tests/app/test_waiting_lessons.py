"""``enlace members child|guest`` and ``enlace lessons waiting|approve``."""

from __future__ import annotations

import json

from app.session import Session
from tests.app.conftest import Run


def test_a_childs_lesson_is_listed_and_approved_by_whoever_administers(here: Run, session: Session) -> None:
    session.household.members.default(name="Ana")
    here("members", "add", "Leo")
    assert "as a child, is trained once it is approved" in here("members", "child", "Leo").out
    told = here("lessons", "add", "--question", "What is it?", "--chosen", "A lamp.", "--member", "Leo").out
    assert told == "Learned for you; it waits for approval (enlace lessons waiting): What is it?\n"
    listed = here("lessons", "list").out
    assert [word for word in ("Leo", "waiting", "in force", "household") if word in listed] == ["Leo", "waiting"]
    assert json.loads(here("lessons", "list", "--json").out)[0]["waiting"] is True
    told = here("lessons", "waiting").out
    assert "Leo" in told
    assert "A lamp." in told
    refused = here("lessons", "approve", "1", "--member", "Leo")
    assert (refused.code, "Leo does not administer" in refused.err) == (1, True)
    assert here("lessons", "approve", "1").out == "To be trained: What is it?\n"
    assert json.loads(here("lessons", "waiting", "--json").out) == []
    assert "in force" in here("lessons", "list").out
    assert json.loads(here("lessons", "list", "--json").out)[0]["waiting"] is False
    assert here("lessons", "waiting").out == "Nothing waits.\n"
    unknown = here("lessons", "approve", "1")
    assert (unknown.code, "with `enlace lessons waiting`" in unknown.err) == (2, True)


def test_only_whoever_administers_says_who_is_a_child(here: Run, session: Session) -> None:
    session.household.members.default(name="Ana")
    here("members", "add", "Leo")
    assert here("members", "guest", "Ana", "--member", "Leo").code == 1
    assert "kind" not in here("members", "list").out
    here("members", "guest", "Leo")
    assert [word for word in ("kind", "a guest") if word in here("members", "list").out] == ["kind", "a guest"]
    assert [m["standing"] for m in json.loads(here("members", "list", "--json").out)] == ["trusted", "guest"]
    assert "like everybody's" in here("members", "guest", "Leo", "--off").out


def test_what_members_answer_in_different_ways_is_listed_with_who_said_it(here: Run, session: Session) -> None:
    members = session.household.members
    members.default(name="Ana")
    assert here("lessons", "contradicted").out == "Nobody contradicts anybody.\n"
    for name, chosen in (("Leo", "Our dog is called Rex."), ("Eva", "It is called Toby.")):
        here("members", "add", name)
        here("lessons", "add", "--question", "What is our dog called?", "--chosen", chosen, "--member", name)
    told = here("lessons", "contradicted").out
    assert "What is our dog called?" in told
    assert [who for who in ("Leo", "Eva") if who in told] == ["Leo", "Eva"]
    as_json = json.loads(here("lessons", "contradicted", "--json").out)
    assert [side[0]["chosen"] for side in as_json[0]["sides"]] == ["Our dog is called Rex.", "It is called Toby."]
    here("lessons", "withdraw", "1")
    assert json.loads(here("lessons", "contradicted", "--json").out) == []
