"""The real thing: the starter model in a real engine, in a home of the test's own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass

import pytest

from app import command
from app.assistant.assistant import Assistant
from app.assistant.events import Done, Event, Failed
from app.session import Session
from configs.home import Home
from tests.conftest import end_engine
from tests.project import ROOT

TIMEOUT_S = 120


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def enlace(home: Home) -> Run:
    """``enlace("ask", "Hi")`` runs the real command in a process of its own."""

    def run(*arguments: str, stdin: str | bytes = "", lang: str = "en_GB.UTF-8", **environment: str) -> Ran:
        content = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-m", "app", *arguments],
            cwd=ROOT,
            env={**os.environ, "LANG": lang, **environment},
            input=content,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def asking(enlace: Run, talking: Session) -> Run:
    """The same as the member of ``talking``, in the file's shared home."""

    def run(*arguments: str, stdin: str | bytes = "") -> Ran:
        return enlace(*arguments, stdin=stdin, ENLACE_HOME=str(talking.home.root), ENLACE_MEMBER=talking.member.name)

    return run


@pytest.fixture
def here(home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The same in this process, for what starts no answer: twenty times as fast."""

    def run(*arguments: str, lang: str = "en_GB.UTF-8", **environment: str) -> Ran:
        with monkeypatch.context() as patched:
            patched.setattr("sys.stdin", io.StringIO())
            for name, value in {"LANG": lang, **environment}.items():
                patched.setenv(name, value)
            capsys.readouterr()
            code = command.run(arguments)
            out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def session(home: Home) -> Iterator[Session]:
    """An English-speaking member's session."""
    with Session({**os.environ, "LANG": "en_GB.UTF-8"}) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home whose engine all tests of a file use: starting it is what takes time."""
    made = Home(tmp_path_factory.mktemp("shared") / "home")
    made.prepare()
    yield made
    end_engine(made)


@pytest.fixture
def talking(shared_home: Home) -> Iterator[Session]:
    """A session in the file's shared home, with a new member who has said nothing yet."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("ENLACE_")}
    environ |= {"ENLACE_HOME": str(shared_home.root), "LANG": "en_GB.UTF-8"}
    with Session(environ) as first:
        first.household.members.default(name="first")
        name = f"member {len(first.household.members.list())}"
        first.household.members.add(name, "en")
    with Session(environ, member=name) as opened:
        yield opened


async def drain(events: AsyncIterator[Event]) -> list[Event]:
    """All events of a turn."""
    return [event async for event in events]


def ending(events: Sequence[Event]) -> Done:
    """The Done that a turn ended with; a turn that failed fails the test."""
    last = events[-1]
    assert not isinstance(last, Failed), last.error
    assert isinstance(last, Done)
    return last


async def answer_to(assistant: Assistant, question: str) -> Done:
    """What is answered to ``question`` in a new conversation."""
    return ending(await drain(assistant.ask(question)))
