"""A night that is killed between two calls that write, or finds no room, or may write nothing: whatever then is there.

Nothing is trained here: the stages' results are in the store, and taken from there.
"""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from configs.home import Home
from configs.settings import load_settings
from memory.household import Household
from memory.runs import LESSONS
from tests.faults import Faults, fault_library
from tests.project import ROOT
from tests.trainer.consistency import contradictions, new_lessons
from tests.trainer.household import small_settings
from tests.trainer.night.test_markers import names
from tests.trainer.night.test_scheduler import ANY_TIME
from trainer.completing import complete_manifests

SUPERVISOR, SCHEDULER = "-m trainer run", "-m trainer.night once"
# Of each kind of fault, at so many places of each process.
PLACES = int(os.environ.get("SOAK_PLACES", "25"))
SEED = int(os.environ.get("SOAK_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fault_library(tmp_path_factory.mktemp("faults"))


@pytest.fixture
def faults(library: Path, home: Home, tmp_path: Path) -> Faults:
    return Faults(library, home.root, tmp_path / "calls.log")


def all_made(home: Home, taught: Home, trained: Home) -> None:
    """Have the home due for a training of which every stage was made before."""
    shutil.rmtree(home.root)
    shutil.copytree(taught.root, home.root)
    shutil.copytree(trained.store, home.store, dirs_exist_ok=True)
    small_settings(home, {"night": ANY_TIME})


@pytest.fixture
def due(home: Home, taught: Home, trained: Home) -> Home:
    all_made(home, taught, trained)
    return home


def look(home: Home, environ: Mapping[str, str] = os.environ) -> tuple[int, list[str], str]:
    """One look of the timer: its exit code, the kinds of what it tells, the last line on its stderr."""
    command = [sys.executable, "-m", "trainer.night", "once", "--home", str(home.root)]
    done = subprocess.run(
        command, cwd=ROOT, env=dict(environ), capture_output=True, text=True, check=False, timeout=120
    )
    kinds = [json.loads(line)["kind"] for line in done.stdout.splitlines()]
    return done.returncode, kinds, (done.stderr.strip().splitlines() or [""])[-1]


def ended_well(home: Home) -> list[str]:
    """What is not as it is after a night in which nothing happened; the home may have to be looked at once more."""
    wrong = contradictions(home)
    with Household.open(home, load_settings(home, {}).memory) as household:
        taught = frozenset(lesson.id for lesson in household.lessons_for_training())
        if new_lessons(household) != [taught]:
            wrong.append(f"trained {new_lessons(household)} of {taught}")
        current = household.snapshots.current()
        if current.run is None or household.runs.get(current.run).snapshot != current.id:
            wrong.append(f"{current.id} of {current.run} answers")
    if names(home) != ["0001.completed"]:
        wrong.append(f"markers {names(home)}")
    return wrong


def place_of(calls: list[str], name: str) -> int:
    """The number of the first call that changes a file whose path ends so."""
    return next(number for number, call in enumerate(calls, 1) if call.endswith(name))


@pytest.mark.parametrize("error", [0, errno.ENOSPC], ids=["killed", "no room"])
def test_a_verdict_stays_and_nothing_is_trained_again_where_its_manifest_could_not_be_written(
    due: Home, faults: Faults, taught: Home, trained: Home, error: int
) -> None:
    assert look(due, faults.environment(SUPERVISOR, error=error))[1] == ["begins", "ended"]
    assert ended_well(due) == []
    manifest = due.runs / "r0001" / "manifest.yaml"
    whole = yaml.safe_load(manifest.read_text())
    at = place_of(faults.calls(), "r0001/manifest.yaml.part")

    all_made(due, taught, trained)
    look(due, faults.environment(SUPERVISOR, at, error))
    assert not manifest.exists()
    assert not manifest.with_name("manifest.partial.yaml").exists()
    # Its verdict came, so the claim was completed with it.
    assert names(due) == ["0001.completed"]
    assert look(due)[1] == ["waiting"]
    assert ended_well(due) == []
    with Household.open(due, load_settings(due, {}).memory) as household:
        assert complete_manifests(due, household, household.runs.upcoming(LESSONS)) == ("r0001",)
        assert complete_manifests(due, household, household.runs.upcoming(LESSONS)) == ()
    again = yaml.safe_load(manifest.read_text())
    assert again.keys() == whole.keys()
    assert (again["verdict"], again["snapshot"]) == (whole["verdict"], "v1")
    assert ended_well(due) == []


def test_on_a_disk_that_may_only_be_read_a_night_says_so_and_changes_nothing(due: Home, faults: Faults) -> None:
    before = {path: path.read_bytes() for path in due.root.rglob("*") if path.is_file()}
    for process, command in (
        (SCHEDULER, ["trainer.night", "once"]),
        ("-m trainer.night run", ["trainer.night", "run"]),
        (SUPERVISOR, ["trainer", "run"]),
        ("-m trainer plan", ["trainer", "plan"]),
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command, "--home", str(due.root)],
            cwd=ROOT,
            env=faults.environment(process, 1, errno.EROFS),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 1, command
        assert json.loads(done.stderr.splitlines()[-1])["code"] in (
            "home_not_writable", "database_read_only", "training_no_room",
        ), command  # fmt: skip
    assert {path: path.read_bytes() for path in due.root.rglob("*") if path.is_file()} == before


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("process", [SCHEDULER, SUPERVISOR], ids=["scheduler", "supervisor"])
@pytest.mark.parametrize("error", [0, errno.ENOSPC, errno.EROFS], ids=["killed", "no room", "read-only"])
def test_a_fault_at_any_call_that_writes_leaves_a_home_that_the_next_look_brings_to_its_end(
    home: Home, faults: Faults, taught: Home, trained: Home, process: str, error: int
) -> None:
    all_made(home, taught, trained)
    look(home, faults.environment(process, error=error))
    assert ended_well(home) == []
    calls = faults.calls()
    print(f"seed {SEED}, {len(calls)} calls")  # noqa: T201
    wrong: dict[str, list[str]] = {}
    for at in sorted(random.Random(SEED).sample(range(1, len(calls) + 1), min(PLACES, len(calls)))):
        all_made(home, taught, trained)
        _, told, said = look(home, faults.environment(process, at, error))
        here = f"{at} of {len(calls)}: {calls[at - 1]}, {told}, {said}"
        wrong[here] = contradictions(home)
        if "Traceback" in said or (error and not told and not said):
            wrong[here].append("was told to nobody")
        look(home)
        wrong[here] += ended_well(home)
    assert {here: each for here, each in wrong.items() if each} == {}
