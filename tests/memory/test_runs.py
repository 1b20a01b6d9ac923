"""Training runs and their logs."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import load_settings
from memory import runlog
from memory.errors import RunAlreadyRunning, RunUnknown
from memory.household import Household
from memory.processes import identity, lives, own_identity
from memory.runlog import RunEvent
from memory.runs import State


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def test_one_run_at_a_time(household: Household) -> None:
    run = household.runs.create("train")
    assert household.runs.running() == run
    with pytest.raises(RunAlreadyRunning) as caught:
        household.runs.create("train")
    assert caught.value.facts == {"id": run.id}
    household.runs.finish(run.id, "shipped", snapshot="v1", summary={"loss": 0.5})
    assert household.runs.running() is None
    later = household.runs.create("train")
    assert household.runs.latest() == later
    assert [(r.id, r.state, r.snapshot, r.summary) for r in household.runs.list()][1] == (
        run.id,
        "shipped",
        "v1",
        {"loss": 0.5},
    )


def begins(root: Path, ready: Event, go: Event, found: Queue[str]) -> None:
    """In a process of its own: begin a run when it is told to, and live until that was seen."""
    home = Home(root)
    with Household.open(home, load_settings(home, {}).memory) as household:
        ready.set()
        go.wait(30)
        try:
            found.put(household.runs.create("train").id)
        except RunAlreadyRunning as error:
            found.put(f"not beside {error.facts['id']}")
        time.sleep(30)


def test_of_several_processes_that_begin_one_in_the_same_moment_one_does(household: Household) -> None:
    context = multiprocessing.get_context("spawn")
    go, found, ready = context.Event(), context.Queue(), [context.Event() for _ in range(4)]
    processes = [context.Process(target=begins, args=(household.home.root, each, go, found)) for each in ready]
    try:
        for process in processes:
            process.start()
        assert all(each.wait(30) for each in ready)
        go.set()
        assert sorted(found.get(timeout=30) for _ in processes) == ["not beside r0001"] * 3 + ["r0001"]
    finally:
        for process in processes:
            process.kill()
            process.join()
        found.close()


def test_a_run_whose_process_died_has_stopped_and_makes_room_for_the_next(household: Household) -> None:
    with sleeper() as process:
        run = household.runs.create("train", pid=process.pid)
        assert household.runs.get(run.id).state == "running"
        process.kill()
    assert household.runs.get(run.id).state == "stopped"
    assert household.runs.running() is None
    assert household.runs.create("train").id != run.id


def test_a_process_id_that_is_used_again_is_not_taken_for_the_dead_process() -> None:
    boot, pid, started = own_identity().split(":")
    assert lives(own_identity())
    assert not lives(f"{boot}:{pid}:{int(started) + 1}")
    assert not lives(f"another-boot:{pid}:{started}")
    assert not lives("")


def test_a_process_that_ended_but_was_not_waited_for_is_dead() -> None:
    process = sleeper()
    known = identity(process.pid)
    assert lives(known)
    process.kill()
    while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        pass
    assert not lives(known)
    process.wait()
    assert not lives(known)


@pytest.mark.parametrize("name", ["", "r", "r9", "v1", "r" + "9" * 30])
def test_an_unknown_run_is_unknown(household: Household, name: str) -> None:
    with pytest.raises(RunUnknown):
        household.runs.get(name)
    with pytest.raises(RunUnknown):
        household.runs.finish(name, "failed")


def test_events_are_read_as_they_come(tmp_path: Path) -> None:
    assert runlog.read(tmp_path) == ([], 0)
    first = RunEvent(1.0, "run_started", facts={"name": "noche"})
    runlog.append(tmp_path, first)
    events, offset = runlog.read(tmp_path)
    assert events == [first]
    second = RunEvent(2.0, "step", "train", 0.5, {"loss": 1.5, "step": 3})
    runlog.append(tmp_path, second)
    assert runlog.read(tmp_path, offset)[0] == [second]


def test_a_line_that_is_not_yet_whole_is_read_when_it_is(tmp_path: Path) -> None:
    runlog.append(tmp_path, RunEvent(1.0, "run_started", facts={}))
    path = tmp_path / runlog.FILE
    line = path.read_bytes()
    path.write_bytes(line + line[:10])
    events, offset = runlog.read(tmp_path)
    assert (len(events), offset) == (1, len(line))
    path.write_bytes(line + line)
    assert len(runlog.read(tmp_path, offset)[0]) == 1


def test_a_line_torn_by_a_crash_spoils_no_other(tmp_path: Path) -> None:
    (tmp_path / runlog.FILE).write_bytes(b'{"time": 1, "ki')
    runlog.append(tmp_path, RunEvent(2.0, "run_done", facts={}))
    events, _ = runlog.read(tmp_path)
    assert [event.kind for event in events] == ["unreadable", "run_done"]


def test_a_lesson_waits_until_the_snapshot_in_force_was_trained_on_it(household: Household) -> None:
    member = household.members.default()
    lessons = household.member(member.id).lessons
    question = [{"role": "user", "content": "What is the name of our dog?"}]
    first = lessons.add(question, "Toby.", "Max.", visibility="shared")
    assert household.lessons_waiting() == [first]
    base = household.snapshots.ensure_base("smollm2-135m", "0" * 64)
    run = household.runs.create("lessons")
    household.runs.give(run.id, [first.id])
    assert household.lessons_waiting() == [first]
    trained = household.snapshots.create(
        "smollm2-135m", "0" * 64, adapters=[], parent=base.id, run=run.id, reason="training", gate=None
    )
    household.snapshots.promote(trained.id, "Ana", "shipped")
    assert household.lessons_waiting() == []
    second = lessons.add([{"role": "user", "content": "Who fixes our boiler?"}], "Luis.", visibility="shared")
    assert household.lessons_waiting() == [second]
    household.snapshots.rollback("Ana", "worse")
    assert household.lessons_waiting() == [first, second]


def test_a_lesson_makes_the_next_training_due_until_one_came_to_a_verdict_on_it(household: Household) -> None:
    member, runs = household.members.default(), household.runs
    lessons = household.member(member.id).lessons
    first = lessons.add([{"role": "user", "content": "What is our dog called?"}], "Toby.", "Max.", visibility="shared")
    ended: list[tuple[str, State]] = [("lessons", "failed"), ("lessons", "stopped"), ("private", "shipped")]
    for kind, state in ended:
        run = runs.create(kind)
        runs.give(run.id, [first.id])
        assert household.lessons_unjudged() == [first]
        runs.finish(run.id, state)
        assert (household.lessons_unjudged(), runs.last_judged()) == ([first], "")
    held = runs.create("lessons")
    runs.give(held.id, [first.id])
    runs.finish(held.id, "held")
    assert (household.lessons_unjudged(), runs.last_judged()) == ([], held.id)
    second = lessons.add([{"role": "user", "content": "Who fixes our boiler?"}], "Luis.", visibility="shared")
    lessons.add([{"role": "user", "content": "Where do I hide it?"}], "In the shed.", visibility="private")
    assert household.lessons_unjudged() == [second]
    lessons.withdraw(second.id)
    assert household.lessons_unjudged() == []
