"""A new snapshot whose answers are called bad goes by itself, and the screen says so, with a way to have it back."""

from __future__ import annotations

import pytest

from app.session import Session
from configs.home import Home
from tests.app.interface.conftest import Opener, Person


@pytest.fixture
def session(home: Home) -> Session:
    """The home as it is before the interface opens: a night has promoted v1, and four answers of it were bad."""
    session = Session({"ENLACE_HOME": str(home.root), "LANG": "es"})
    base, snapshots = session.snapshot(), session.household.snapshots
    answered(session, "v0", 30)
    made = snapshots.create(
        base.base_name, base.base_sha256, adapters=(), parent=base.id, run="r0001", reason="training", gate=None
    )
    snapshots.promote(made.id, "Ana", "run r0001")
    return session


def answered(session: Session, snapshot: str, number: int, rating: int = 0) -> None:
    chats = session.memory.chats
    for _ in range(number):
        answer = chats.begin_answer(chats.question(chats.start().id, "¿Qué hay?").id, snapshot)
        chats.finish_answer(answer.id, "Esto.")
        chats.rate(answer.id, rating)


async def rate_the_last(person: Person, key: str) -> None:
    """Open the conversation that was used last, and rate its answer."""
    await person.pilot.press("f3", "enter", "enter")
    await person.until(lambda: "Esto." in person.transcript_text())
    await person.pilot.press(key)


async def test_the_bad_rating_that_is_one_too_many_goes_back_and_says_so(
    session: Session, open_interface: Opener
) -> None:
    answered(session, "v1", 3, rating=-1)
    answered(session, "v1", 1)
    snapshots = session.household.snapshots
    async with open_interface() as person:
        await rate_the_last(person, "f7")
        said = "v1 se ha retirado solo: 4 de sus primeras 4 respuestas se corrigieron o se valoraron mal"
        await person.until(lambda: said in " ".join(person.screen_text().split()))
        assert snapshots.current().id == "v0"
        move = snapshots.history()[0]
        assert (move.kind, move.who, move.why) == ("rollback", "enlace", "probation")
        assert move.evidence is not None
        assert (move.evidence["before"], move.evidence["after_bad"]) == (30, 4)
        person.chat.composer.focus()
        await person.pilot.press("ctrl+z")
        await person.until(lambda: snapshots.current().id == "v1")
        assert session.household.probations.state() is None


async def test_a_good_rating_changes_nothing(session: Session, open_interface: Opener) -> None:
    answered(session, "v1", 4)
    async with open_interface() as person:
        await rate_the_last(person, "f6")
        await person.until(lambda: session.household.probations.state() is not None)
        state = session.household.probations.state()
        assert state is not None
        await person.until(lambda: state.counts.after == 4)
        await person.pilot.press("escape", "f9", "f4")
        await person.until(lambda: "v1 está a prueba" in person.screen_text())
        assert session.snapshot().id == "v1"


async def test_whoever_looks_on_is_told_as_well(session: Session, open_interface: Opener) -> None:
    answered(session, "v1", 4, rating=-1)
    async with open_interface() as person:
        await person.until(lambda: "v1" in person.screen_text().splitlines()[-1])
        household = session.household
        found = household.count_answers(session.member.id)
        assert found is not None
        assert found.failed
        household.probations.go_back(found)
        await person.until(lambda: "v1 se ha retirado solo" in person.screen_text())


def test_what_was_put_in_its_place_meanwhile_stays(session: Session) -> None:
    answered(session, "v1", 4, rating=-1)
    household = session.household
    found = household.count_answers(session.member.id)
    assert found is not None
    household.snapshots.rollback("Ana", "worse")
    assert household.probations.go_back(found).id == "v0"
    assert household.snapshots.history()[0].who == "Ana"
