"""The interface opened on a home of the test's own, driven like a person drives it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from app.interface.app import EnlaceApp
from app.interface.chat.screen import ChatScreen
from app.session import Session
from configs.home import Home
from tests.conftest import end_engine

WITHIN = 120.0
SHORT = 12  # tokens of an answer that a test only waits for
LONG = 1024  # and of one that it stops in the middle


@dataclass
class Person:
    """Somebody at the interface."""

    app: EnlaceApp
    pilot: Pilot[int]

    @property
    def chat(self) -> ChatScreen:
        found = self.app.chat()
        assert found is not None
        return found

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for ``condition``; fails after a while."""
        deadline = time.monotonic() + WITHIN
        while not condition():
            assert time.monotonic() < deadline, f"still not so:\n{self.screen_text()}"
            # Not the pilot's pause: it waits for a screen at rest, which one that streams is not for seconds.
            await asyncio.sleep(0.02)

    async def ask(self, question: str) -> None:
        """Send a question and wait for the end of its answer."""
        self.chat.composer.load_text(question)
        await self.pilot.press("enter")
        await self.until(lambda: self.talk_path() and not self.writing() and self.talk_path()[-1] == "assistant")
        await self.pilot.pause()

    def writing(self) -> bool:
        return self.chat.talk is not None and self.chat.talk.progress.writing

    def talk_path(self) -> list[str]:
        return [message.role for message in self.chat.talk.path] if self.chat.talk else []

    def transcript_text(self) -> str:
        return "\n".join(line.text for line in self.chat.transcript._lines)

    def screen_text(self) -> str:
        """Every cell of the screen, row by row."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    def find(self, selector: str) -> Widget:
        return self.app.screen.query_one(selector)


Opener = Callable[..., AbstractAsyncContextManager[Person]]


@asynccontextmanager
async def interface(
    home: Home,
    *,
    language: str = "es",
    size: tuple[int, int] = (120, 36),
    answer_tokens: int = SHORT,
    member: str | None = None,
) -> AsyncIterator[Person]:
    """The interface of ``home``, open; no answer is longer than ``answer_tokens``. ``member``: whose, by name.

    Somebody has been here before: nobody is asked who they are.
    """
    environ = {"ENLACE_HOME": str(home.root), "LANG": f"{language}.UTF-8"}
    options = {"engine": {"sampling": {"max_tokens": answer_tokens, "temperature": 0.0}}}
    with Session(environ, member=member, language=language, options=options) as session:
        session.household.members.default()
        app = EnlaceApp(session)
        async with app.run_test(size=size) as pilot:
            person = Person(app, pilot)
            await person.until(lambda: app.is_open and app.chat() is not None and person.chat.talk is not None)
            await pilot.pause()
            yield person


@pytest.fixture
def open_interface(home: Home) -> Opener:
    """Opens the interface on this test's own home."""

    def opener(**how: object) -> AbstractAsyncContextManager[Person]:
        return interface(home, **how)  # type: ignore[arg-type]

    return opener


@pytest.fixture(scope="module")
def talking_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home whose engine the tests of one file share."""
    made = Home(tmp_path_factory.mktemp("talking") / "home")
    made.prepare()
    yield made
    end_engine(made)
