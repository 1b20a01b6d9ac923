"""The status line says what is so."""

from __future__ import annotations

import os
import time

import pytest

from app.interface.chat import status
from app.interface.chat.talk import Progress
from app.session import Session
from configs.home import Home
from memory import runlog
from memory.runlog import RunEvent
from memory.runs import LESSONS, PRIVATE, run_folder


async def test_the_model_is_that_of_the_current_snapshot_while_no_engine_runs(home: Home) -> None:
    session = Session({"ENLACE_HOME": str(home.root), "LANG": "es"})
    base, snapshots = session.snapshot(), session.household.snapshots
    other = snapshots.create("other", base.base_sha256, adapters=(), parent=None, run=None, reason="model", gate=None)
    snapshots.promote(other.id, "Ana", "models use other")
    facts = await status.look(session)
    assert (facts.model, facts.snapshot, facts.engine_runs) == ("other", other.id, False)


SAID = [("family", "entrena: 40 %"), ("own", "entrena: 40 %"), ("another's", "entrenador ocupado")]


@pytest.mark.parametrize(("whose", "said"), SAID)
async def test_of_a_training_that_is_anothers_own_no_more_is_read_than_that_it_is_there(
    home: Home, whose: str, said: str
) -> None:
    session = Session({"ENLACE_HOME": str(home.root), "LANG": "es"})
    own, other = session.member, session.household.members.add("Luis", "es")
    member = {"family": None, "own": own.id, "another's": other.id}[whose]
    run = session.household.runs.create(PRIVATE if member else LESSONS, member=member, pid=os.getpid())
    folder = run_folder(home, run)
    folder.mkdir(parents=True)
    runlog.append(folder, RunEvent(time.time(), "step", "train", 0.4, {}))
    facts = await status.look(session)
    assert (facts.training is None, facts.busy) == (whose == "another's", whose == "another's")
    assert said in status.sentence(facts, Progress(), session.catalogue)
