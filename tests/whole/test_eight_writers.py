"""Eight processes write at once while backups are made: nothing is refused, lost or torn, and each backup is a moment.

Ten minutes under `make soak` (SOAK_SECONDS says how long), some seconds otherwise.
"""

from __future__ import annotations

import collections
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from app.backup.creating import create
from app.backup.restoring import restore
from configs.home import Home
from configs.settings import Settings
from memory.household import Household
from tests.project import ROOT

WRITERS = 8
MEMBERS = ("Ana", "Bruno", "Carla")
SHORT_S, LONG_S = 8.0, 600.0
STARTS_WITHIN_S, ENDS_WITHIN_S = 60.0, 60.0
NUMBERED = re.compile(r"(?:answer of )?writer (\d) number (\d+)")

Written = dict[int, dict[int, set[str]]]  # of each writer, each number, the kinds of rows that hold it


@pytest.mark.timeout(180)
def test_eight_processes_write_for_a_while_and_nothing_is_lost(home: Home, settings: Settings, tmp_path: Path) -> None:
    write_and_back_up(home, settings, tmp_path, SHORT_S)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_eight_processes_write_for_ten_minutes_and_nothing_is_lost(
    home: Home, settings: Settings, tmp_path: Path
) -> None:
    write_and_back_up(home, settings, tmp_path, float(os.environ.get("SOAK_SECONDS", LONG_S)))


def write_and_back_up(home: Home, settings: Settings, folder: Path, seconds: float) -> None:
    with Household.open(home, settings.memory) as household:
        for name in MEMBERS:
            household.members.add(name, "es")
    stop, journals = folder / "stop", [folder / f"journal{n}" for n in range(WRITERS)]
    writers = [start_writer(home, n, journals[n], stop) for n in range(WRITERS)]
    backups: list[tuple[Path, list[int], list[int]]] = []
    made = 0
    try:
        wait_for_all(writers, journals)
        end = time.monotonic() + seconds
        while time.monotonic() < end or not backups:
            made += 1
            file = folder / f"backup{made}.tar"
            before = accepted(journals)
            back_up(home, settings, file)
            backups.append((file, before, accepted(journals)))
            if len(backups) > 2:
                # The first and the last one are looked at.
                backups.pop(1)[0].unlink()
            time.sleep(min(1.0, seconds / 20))
        stop.touch()
        said = [writer.communicate(timeout=ENDS_WITHIN_S)[0] for writer in writers]
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    assert [(writer.returncode, text) for writer, text in zip(writers, said, strict=True)] == [(0, "")] * WRITERS
    wrote = [kinds(journal) for journal in journals]
    assert whole_numbers(read(home)) == [len(each) for each in wrote]
    hold_to(read(home), wrote)
    for number, (file, before, after) in enumerate(backups):
        again = Home(folder / f"restored{number}")
        restore(again, file, replace=False, now=0.0, tell=lambda done, total: None)
        found = whole_numbers(read(again))
        assert all(b <= f <= a + 1 for b, f, a in zip(before, found, after, strict=True)), (before, found, after)
        hold_to(read(again), [each[:count] for each, count in zip(wrote, found, strict=True)])
    print(f"{sum(map(len, wrote))} things written by {WRITERS} processes in {seconds:.0f} s beside {made} backups")  # noqa: T201


def start_writer(home: Home, number: int, journal: Path, stop: Path) -> subprocess.Popen[str]:
    told = {"WRITER": str(number), "MEMBER": MEMBERS[number % len(MEMBERS)], "JOURNAL": str(journal), "STOP": str(stop)}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.whole.writers"],
        cwd=ROOT,
        env=home.environment({**os.environ, **told}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )


def wait_for_all(writers: list[subprocess.Popen[str]], journals: list[Path]) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while not all(journal.exists() and journal.stat().st_size for journal in journals):
        assert time.monotonic() < deadline
        assert all(writer.poll() is None for writer in writers), [w.communicate()[0] for w in writers if w.poll()]
        time.sleep(0.05)


def back_up(home: Home, settings: Settings, to: Path) -> None:
    create(
        home,
        to,
        models=False,
        skip_damaged=False,
        busy_seconds=settings.memory.busy_seconds,
        tries=settings.memory.copy_tries,
        now=0.0,
        version="",
        readme="",
        tell=lambda done, total: None,
    )


def accepted(journals: list[Path]) -> list[int]:
    """How many things each writer has been told are stored."""
    return [len(kinds(journal)) for journal in journals]


def kinds(journal: Path) -> list[str]:
    whole, _, _ = journal.read_text(encoding="utf-8").rpartition("\n")
    return [json.loads(line)["kind"] for line in whole.splitlines()]


def read(home: Home) -> Written:
    """What is in the databases of a home, each of which must be sound."""
    found: Written = collections.defaultdict(lambda: collections.defaultdict(set))
    for path in [home.family_db, *sorted(home.members.glob("*.db"))]:
        shared = "shared " if path == home.family_db else ""
        with closing(sqlite3.connect(path)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert database.execute("PRAGMA foreign_key_check").fetchall() == []
            texts = [(f"{shared}fact", text) for (text,) in database.execute("SELECT text FROM facts")]
            texts += [
                (f"{shared}lesson", json.loads(messages)[-1]["content"])
                for (messages,) in database.execute("SELECT messages FROM lessons")
            ]
            if not shared:
                database.execute("INSERT INTO messages_text (messages_text) VALUES ('integrity-check')")
                texts += [
                    ("question" if role == "user" else "answer", content)
                    for role, content in database.execute("SELECT role, content FROM messages WHERE state = 'complete'")
                ]
        for kind, text in texts:
            if told := NUMBERED.fullmatch(text):
                assert kind not in found[int(told[1])][int(told[2])], f"twice: {text}"
                found[int(told[1])][int(told[2])].add(kind)
    return found


def whole_numbers(found: Written) -> list[int]:
    """Up to which number all of each writer's things are there; none beyond it may be."""
    counts = []
    for writer in range(WRITERS):
        numbers = sorted(found[writer])
        assert numbers == list(range(len(numbers))), f"writer {writer} has gaps"
        counts.append(len(numbers))
    return counts


def hold_to(found: Written, wrote: list[list[str]]) -> None:
    """Everything is there as it was written; of the last one of a backup, what was stored by then."""
    for writer, each in enumerate(wrote):
        for number, kind in enumerate(each):
            expected = {"question", "answer"} if kind == "answer" else {kind}
            got = found[writer][number]
            last = number == len(each) - 1
            assert got == expected or (last and kind == "answer" and got == {"question"}), (writer, number, kind, got)
