"""The exchange of a member's file for an encrypted one, beside other processes and through kills."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from configs.home import Home
from memory import exchanging
from memory.entrance_errors import MemberFileOpen, PassphraseNeeded, PassphraseWrong
from memory.household import Household
from memory.members import Member
from memory.sealing import decrypt, encrypt
from tests.memory.conftest import everything, in_plain
from tests.memory.test_sealing import OTHER, PASSPHRASE
from tests.project import ROOT

HOLDS = """
import sys
from configs.home import Home
from configs.settings import load_settings
from memory.household import Household
from pathlib import Path

home = Home(Path(sys.argv[1]))
with Household.open(home, load_settings(home, {}).memory) as household:
    member = household.members.get(sys.argv[2])
    if len(sys.argv) > 3:
        household.doors.enter(member, sys.argv[3])
    household.member(member.id)
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("sealed", [False, True])
def test_a_file_that_another_process_has_open_stays_what_it_is(
    household: Household, telling: Member, home: Home, sealed: bool
) -> None:
    before = everything(household, telling)
    if sealed:
        encrypt(household, telling.id, PASSPHRASE)
    given = [PASSPHRASE] if sealed else []
    holds = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(home.root), telling.id, *given],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holds.stdout
    assert holds.stdout.readline() == b"open\n"
    with pytest.raises(MemberFileOpen):
        encrypt(household, telling.id, OTHER)
    if sealed:
        with pytest.raises(MemberFileOpen):
            decrypt(household, telling.id)
    assert everything(household, telling) == before
    holds.communicate()
    encrypt(household, telling.id, OTHER)
    assert everything(household, telling) == before


def test_whoever_opens_it_while_it_is_exchanged_waits_and_finds_the_new_one(
    household: Household, telling: Member, anew: Callable[..., Household], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = exchanging._write
    begun = threading.Event()

    def slowly(*what: object) -> None:
        begun.set()
        time.sleep(0.3)
        written(*what)  # type: ignore[arg-type]

    monkeypatch.setattr(exchanging, "_write", slowly)
    thread = threading.Thread(target=lambda: encrypt(household, telling.id, PASSPHRASE))
    thread.start()
    begun.wait()
    with anew() as elsewhere:
        with pytest.raises(PassphraseNeeded):
            elsewhere.member(telling.id)
        thread.join()
        elsewhere.doors.enter(telling, PASSPHRASE)
        assert everything(elsewhere, telling)


KILLED = """
import os, signal, sys
from pathlib import Path
from configs.home import Home
from configs.settings import load_settings
from memory import exchanging
from memory.household import Household
from memory.sealing import decrypt, encrypt

home, member, at, what = Home(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3]), sys.argv[4]
options = {"memory": {"entrance": {"memory_mib": 8, "passes": 1, "lanes": 1}}}
steps = 0

def counted(frame, event, argument):
    global steps
    if event == "line" and frame.f_code.co_filename in (exchanging.__file__, sys.modules["memory.sealing"].__file__):
        steps += 1
        if steps == at:
            os.kill(os.getpid(), signal.SIGKILL)
    return counted

with Household.open(home, load_settings(home, {}, options).memory) as household:
    found = household.members.get(member)
    if what != "encrypt":
        household.doors.enter(found, "siete gatos en un tejado")
    sys.settrace(counted)
    if what == "decrypt":
        decrypt(household, member)
    else:
        encrypt(household, member, "ocho perros en una barca" if what == "change" else "siete gatos en un tejado")
"""


# Every so many lines of the two files; all of them take minutes.
EVERY = 29
EACH = [pytest.param(what, 1, marks=pytest.mark.soak) for what in ("encrypt", "change", "decrypt")]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("what", "every"), [("encrypt", EVERY), ("change", EVERY), ("decrypt", EVERY), *EACH])
def test_a_kill_at_any_step_loses_nothing_and_leaves_no_plain_copy(
    household: Household, telling: Member, home: Home, anew: Callable[..., Household], what: str, every: int
) -> None:
    before = everything(household, telling)
    if what != "encrypt":
        encrypt(household, telling.id, PASSPHRASE)
    household.close()
    step, ended = 1, False
    while not ended:
        killed = subprocess.run(
            [sys.executable, "-c", KILLED, str(home.root), telling.id, str(step), what], cwd=ROOT, check=False
        )
        ended = killed.returncode == 0
        assert ended or killed.returncode == -signal.SIGKILL
        with anew() as later:
            sealed = later.doors.secret_of(telling.id) == "passphrase"
            if sealed:
                assert in_plain(home) == []
                try:
                    later.doors.enter(telling, PASSPHRASE)
                except PassphraseWrong:
                    later.doors.enter(telling, OTHER)
            assert everything(later, telling) == before
            # As it was, for the next one.
            if what == "encrypt" and sealed:
                decrypt(later, telling.id)
            elif what != "encrypt":
                encrypt(later, telling.id, PASSPHRASE)
        step += every
    assert step > 3 * every
