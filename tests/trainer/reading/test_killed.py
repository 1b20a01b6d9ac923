"""Two workers that read the same documents, killed again and again: each document is read once, and whole."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import load_settings
from memory.documents.extracting.extract import RULES_VERSION
from memory.household import Household
from tests.project import ROOT

# Each says four things: a name, a town, a firm and a mail of its own.
NOTE = "- nombre: Persona {name}\n  correo: p{number}@casa.example\n  ciudad: Huesca\n  empresa: Talleres {name} S.L.\n"
STATEMENTS = 3
FEW, MANY = 10, 200
A_ROUND = 4
LETTERS = "abcdefghij"


def worker(home: Home) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "trainer.reading", "--rules", "--now", "--home", str(home.root)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def named(number: int) -> str:
    return "".join(LETTERS[int(digit)] for digit in str(number)).capitalize()


def write(folder: Path, numbers: range) -> None:
    for number in numbers:
        (folder / f"{number}.yaml").write_text(NOTE.format(name=named(number), number=number))


def kill_often(home: Home, folder: Path, kills: int, seed: int) -> int:
    """How many documents were written while so many workers were killed."""
    chance = random.Random(seed)
    family = sqlite3.connect(home.family_db)
    written = 0
    for done in range(kills):
        write(folder, range(written, written + A_ROUND))
        written += A_ROUND
        before = family.execute("SELECT count(*) FROM document_reads").fetchone()[0]
        pair = [worker(home), worker(home)]
        # At work both of them, wherever they are then: the first one read, or a moment after.
        deadline = time.monotonic() + 60
        while family.execute("SELECT count(*) FROM document_reads").fetchone()[0] == before:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(chance.random() * 0.05)
        for process in pair if done % 3 == 0 else pair[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        for process in pair:
            process.wait(120)
            assert process.returncode in (0, -signal.SIGKILL)
    family.close()
    return written


def read_once_each(home: Home, folder: Path, kills: int, seed: int) -> None:
    with Household.open(home, load_settings(home, {}).memory) as household:
        ana = household.members.add("Ana", "es")
        household.documents.sources.add(folder, ana.id)
    written = kill_often(home, folder, kills, seed)
    last = worker(home)
    assert last.wait(300) == 0

    family = sqlite3.connect(home.family_db)
    assert family.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    reads = family.execute("SELECT document, extractor, statements FROM document_reads").fetchall()
    assert len(reads) == len({document for document, _, _ in reads}) == written
    assert {(extractor, number) for _, extractor, number in reads} == {(RULES_VERSION, STATEMENTS)}
    counted = family.execute("SELECT count(*) FROM evidence GROUP BY document").fetchall()
    assert counted == [(STATEMENTS,)] * written
    assert family.execute("SELECT count(*) FROM document_claims").fetchone() == (0,)
    assert family.execute("SELECT count(*) FROM nodes WHERE kind = 'person'").fetchone() == (written,)
    assert family.execute("SELECT sum(live) FROM statements").fetchone() == (STATEMENTS * written,)
    family.close()


@pytest.mark.timeout(900)
def test_two_workers_killed_at_random_moments_read_every_document_once(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    read_once_each(home, folder, FEW, seed=3)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_two_workers_killed_two_hundred_times_read_every_document_once(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    seed = int(os.environ.get("SOAK_SEED", random.SystemRandom().randrange(2**32)))
    kills = int(os.environ.get("SOAK_KILLS", MANY))
    sys.stderr.write(f"seed {seed}\n")
    read_once_each(home, folder, kills, seed)
