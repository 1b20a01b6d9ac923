"""A stream says that it goes on whatever is being waited for, and never after its end."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from engine.errors import EngineBusy
from engine.event_stream import DONE, KEEP_ALIVE, EventStream

SILENT_S = 0.02


class Sent(list[dict[str, Any]]):
    """What a server was given to send; ``slow``: to a client that takes its time for each piece."""

    def __init__(self, slow: float = 0) -> None:
        super().__init__()
        self._slow = slow

    async def __call__(self, message: Any) -> None:
        await asyncio.sleep(self._slow)
        self.append(dict(message))

    @property
    def bodies(self) -> list[bytes]:
        return [message["body"] for message in self if message["type"] == "http.response.body"]

    async def until(self, count: int) -> None:
        """Until so many bodies were sent."""
        while len(self.bodies) < count:
            await asyncio.sleep(SILENT_S / 4)


async def test_signs_of_life_come_before_the_first_event_and_between_two() -> None:
    sent = Sent()
    async with EventStream(sent, SILENT_S) as stream:
        await sent.until(2)
        await stream.event({"a": 1})
        begun = len(sent.bodies)
        await sent.until(begun + 2)
        await stream.end()
    assert [message["type"] for message in sent].count("http.response.start") == 1
    assert sent[0]["status"] == 200
    assert sent.bodies[begun - 1] == b'data: {"a": 1}\n\n'
    assert {*sent.bodies[: begun - 1], *sent.bodies[begun:-1]} == {KEEP_ALIVE}
    assert sent[-1] == {"type": "http.response.body", "body": DONE, "more_body": False}


async def test_an_error_has_its_status_where_nothing_was_said_and_is_an_event_after_that() -> None:
    at_once, late = Sent(), Sent()
    async with EventStream(at_once, SILENT_S) as stream:
        await stream.fail(EngineBusy(waiting=3))
    async with EventStream(late, SILENT_S) as stream:
        await late.until(1)
        await stream.fail(EngineBusy(waiting=3))
    assert at_once[0]["status"] == EngineBusy.status
    assert len(at_once) == 2
    assert late[0]["status"] == 200
    assert late.bodies[-1] == DONE
    error = json.loads(late.bodies[-2].removeprefix(b"data: "))["error"]
    assert json.loads(at_once[1]["body"])["error"] == error
    assert error["facts"] == {"waiting": 3}


async def test_nothing_follows_the_end_however_slow_the_reader_is() -> None:
    for failing in (False, True):
        sent = Sent(slow=5 * SILENT_S)
        async with EventStream(sent, SILENT_S) as stream:
            await (stream.fail(EngineBusy(waiting=3)) if failing else stream.end())
        assert [message.get("more_body") for message in sent][-1] is (None if failing else False)
        assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
