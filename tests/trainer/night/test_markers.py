"""Markers: one holder at a time, who is never robbed while it lives, and whose claim is open again when it is dead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from configs.home import Home
from tests.project import ROOT
from trainer.errors import ClaimLost, NoRoom
from trainer.night.markers import Claim, Markers

LEASE = 120.0
# Sees what there is, waits until it is told to go, takes it if it can, says whether it did, and holds it to its end.
CLAIMS = """
import sys, time
from pathlib import Path
from trainer.night.markers import Markers
markers = Markers(Path(sys.argv[1]), 120.0, time.monotonic)
marker = markers.open()
print("ready", flush=True)
sys.stdin.readline()
print("claimed" if marker and markers.claim(marker) else "refused", flush=True)
sys.stdin.readline()
"""


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def markers(home: Home, clock: Clock) -> Markers:
    return Markers(home.night, LEASE, clock)


def claimer(folder: Path) -> subprocess.Popen[str]:
    """A process that claims a marker when a line is written to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", CLAIMS, str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert said(process) == "ready"
    return process


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def claimed(markers: Markers) -> Claim:
    """The open marker, claimed by this process."""
    marker = markers.open()
    assert marker is not None
    claim = markers.claim(marker)
    assert claim is not None
    return claim


def names(home: Home) -> list[str]:
    """The markers by their files, whoever holds them."""
    return sorted(".".join(path.name.split(".")[:2]) for path in home.night.glob("[0-9]*"))


def test_a_marker_is_written_once_claimed_and_completed(home: Home, markers: Markers) -> None:
    first = markers.write(5.0, 50, "r0003")
    assert markers.write(6.0, 51, "r0003").number == first.number
    assert names(home) == ["0001.pending"]
    claim = claimed(markers)
    assert names(home) == ["0001.claimed"]
    found = markers.open()
    assert found is not None
    assert (found.written_at, found.pairs, found.judged) == (5.0, 50, "r0003")
    claim.complete()
    assert names(home) == ["0001.completed"]
    assert markers.open() is None
    assert markers.write(7.0, 50, "r0004").number == 2
    claimed(markers).complete()
    assert names(home) == ["0002.completed"]


def test_of_many_processes_that_claim_at_once_one_does(home: Home, markers: Markers) -> None:
    for _ in range(3):
        markers.write(1.0, 50, "")
        # All of them have seen it pending before any of them takes it.
        processes = [claimer(home.night) for _ in range(6)]
        try:
            for process in processes:
                go(process)
            assert sorted(said(process) for process in processes) == ["claimed"] + ["refused"] * 5
        finally:
            for process in processes:
                end(process)
        # Whoever held it is dead, so it can be had again.
        claimed(markers).complete()
        assert markers.open() is None


def test_a_claim_is_open_again_when_its_holder_was_killed_and_not_a_moment_before(
    home: Home, markers: Markers, clock: Clock
) -> None:
    markers.write(1.0, 50, "")
    holder = claimer(home.night)
    go(holder)
    assert said(holder) == "claimed"
    try:
        # It stands still and renews nothing, for days: it lives.
        holder.send_signal(signal.SIGSTOP)
        for _ in range(3):
            marker = markers.open()
            assert marker is not None
            assert not markers.abandoned(marker)
            assert markers.claim(marker) is None
            clock.now += 86400
    finally:
        end(holder)
    claimed(markers)
    assert names(home) == ["0001.claimed"]


def of_another_machine(home: Home) -> Path:
    """Hand the pending marker to a process of another machine."""
    (pending,) = home.night.glob("*.pending")
    return pending.rename(pending.with_name("0001.claimed.attic.aaaa-bbbb_17_99"))


def test_a_claim_of_another_machine_is_open_again_when_its_lease_ran_out_unrenewed(
    home: Home, markers: Markers, clock: Clock
) -> None:
    markers.write(1.0, 50, "")
    theirs = of_another_machine(home)
    marker = markers.open()
    assert marker is not None
    assert markers.claim(marker) is None
    for moment in (17, 18, 19):
        clock.now += LEASE - 1
        # Whatever its clock says: it is enough that it changes.
        os.utime(theirs, (moment, moment))
        assert markers.claim(marker) is None
    clock.now += LEASE
    assert markers.claim(marker) is None
    clock.now += 1
    assert markers.claim(marker) is not None
    with pytest.raises(ClaimLost):
        Claim(theirs, 1.0).renew()
    with pytest.raises(ClaimLost):
        Claim(theirs, 1.0).complete()
    assert names(home) == ["0001.claimed"]


def test_who_takes_over_takes_the_dead_ones_claim_and_no_later_one(home: Home, markers: Markers) -> None:
    markers.write(1.0, 50, "")
    holder = claimer(home.night)
    go(holder)
    assert said(holder) == "claimed"
    end(holder)
    seen = markers.open()
    assert seen is not None
    # Between the look and the claim somebody else takes it over.
    faster = claimer(home.night)
    go(faster)
    assert said(faster) == "claimed"
    try:
        assert markers.claim(seen) is None
        marker = markers.open()
        assert marker is not None
        assert not markers.abandoned(marker)
    finally:
        end(faster)


def test_a_claim_that_is_renewed_changes_for_who_watches_and_a_released_one_is_pending(
    home: Home, markers: Markers
) -> None:
    markers.write(1.0, 50, "")
    claim = claimed(markers)
    (path,) = home.night.glob("*.claimed.*")
    os.utime(path, (5, 5))
    claim.renew()
    assert path.stat().st_mtime > 5
    assert claim.renew_s < LEASE / 2
    claim.release()
    assert names(home) == ["0001.pending"]
    with pytest.raises(ClaimLost):
        claim.release()


def test_a_marker_that_nobody_can_read_is_there_and_belongs_to_no_known_training(home: Home, markers: Markers) -> None:
    markers.write(1.0, 50, "r0001").path.write_text("half a lin")
    marker = markers.open()
    assert marker is not None
    assert (marker.state, marker.judged) == ("pending", "?")


def test_a_folder_that_cannot_be_made_is_told(home: Home, markers: Markers) -> None:
    home.night.write_text("a file in its place")
    with pytest.raises(NoRoom) as told:
        markers.write(1.0, 50, "")
    assert told.value.facts["path"] == str(home.night)
