"""What a thinking model thinks before it answers is told of, and neither shown nor kept nor sent back."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from app.assistant.asking import Asker
from app.assistant.events import Started, Thinking, Token
from app.assistant.prompting import Material
from app.session import Session
from configs.home import Home
from engine.answers import Delta, Finished, PrivateAdapter, Sampling, Usage
from engine.ending import Until
from engine.interface import Engine
from engine.messages import Message, PromptOptions
from tests.app.conftest import drain, ending
from tests.engine.snapshots import write_thinker

USAGE = Usage(10, 0, 1, 1.0, 1.0, "v0", 100)


@pytest.fixture
def thinking(home: Home, starter: Path) -> Iterator[Session]:
    """A session whose model thinks."""
    write_thinker(home, starter)
    home.config_file.write_text("engine: {model: thinker, context_size: 1024, slots: 1}\n")
    with Session({**os.environ, "LANG": "en_GB.UTF-8"}) as opened:
        yield opened


def saying(session: Session, text: str) -> Sampling:
    """Held to writing ``text`` and nothing else."""
    grammar = f"root ::= {json.dumps(text)}"
    return dataclasses.replace(Sampling.defaults(session.settings.engine.sampling), grammar=grammar)


async def test_only_the_answer_is_shown_and_kept_and_that_the_model_thinks_is_said_once(thinking: Session) -> None:
    assistant = thinking.assistant()
    sampling = saying(thinking, "<think>\nIt is high up there.\n</think>\n\nPerhaps.")
    events = await drain(assistant.ask("Will it snow?", sampling=sampling))
    told = [event for event in events if isinstance(event, Thinking | Token)]
    assert isinstance(told[0], Thinking)
    assert [type(event) for event in told].count(Thinking) == 1
    assert "".join(event.text for event in told if isinstance(event, Token)) == "Perhaps."
    assert ending(events).text == "Perhaps."
    started = events[0]
    assert isinstance(started, Started)
    kept = [message.content for message in thinking.memory.chats.path(started.conversation_id)]
    assert kept == ["Will it snow?", "Perhaps."]


class Recorder:
    """Answers at once, and remembers with which options it was asked."""

    def __init__(self) -> None:
        self.options: list[PromptOptions] = []

    async def chat(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        cache_key: str | None,
        options: PromptOptions,
        private: PrivateAdapter | None,
        until: Until | None,
    ) -> AsyncGenerator[Delta | Finished, None]:
        self.options.append(options)
        yield Finished("stop", USAGE)


@pytest.mark.parametrize(
    ("setting", "briefly", "told"),
    [("model", False, None), ("on", False, True), ("off", False, False), ("on", True, False), ("model", True, False)],
)
async def test_the_family_says_whether_the_model_thinks(
    session: Session, setting: Any, briefly: bool, told: bool | None
) -> None:
    settings = session.settings.assistant.model_copy(update={"thinking": setting})
    recorder = Recorder()
    asker = Asker(cast(Engine, recorder), settings, 1024, lambda: None)
    sampling = Sampling.defaults(session.settings.engine.sampling)
    async for _ in asker.ask(Material("Be kind.", "Hi", ()), sampling, "key", briefly=briefly):
        pass
    (options,) = recorder.options
    assert options.variables.get("enable_thinking") == told
