"""One chat request from its arrival to the last byte of its answer, and its end when the client goes away."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import string
import time
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answers import Called, Delta, Finished, Piece, Thought, Waiting
from engine.callforms import Offered
from engine.errors import AdapterMismatch, EngineError, told
from engine.event_stream import EventStream
from engine.handover import Handover
from engine.jobs import Job, JobEvent, Written
from engine.leaving import unless_gone
from engine.metrics import Metrics
from engine.reading import AnswerReader
from engine.replies import chunk, completion, send_error, send_json
from engine.requests import ChatRequest
from engine.sampling_fields import LARGEST_SEED
from engine.scheduler import Scheduler
from engine.served import ServedSnapshot, adapted, beside, read_served, with_private

CALL_ID_LENGTH = 9
# One more where another snapshot came in during the first: what it is by then is asked anew.
TRIES = 2

Told = Waiting | Piece | Finished | EngineError
# From what is served, what one request is answered with; None where that is the same.
OwnSet = Callable[[ServedSnapshot], ServedSnapshot | None]


async def serve_manifest(home: Home, scheduler: Scheduler, digest: str) -> None:
    """Have the snapshot ``digest`` served; returns at once when it is. Raises what the swap raises."""
    if scheduler.loaded.served.manifest_digest != digest:
        served = await asyncio.get_running_loop().run_in_executor(scheduler.readers, read_served, home, digest)
        # Two questions after a promotion both come here: the second must not wait for the first one's answer.
        if scheduler.loaded.served.manifest_digest != digest:
            await asyncio.wrap_future(scheduler.swap(served))


class Answer:
    """The response to a chat request, as an ASGI application.

    It listens for the client's going away while the answer is waiting, read for or written, and then cancels
    the work, so that the slot is free at once. One slow reader holds up its own answer only.
    """

    def __init__(
        self, home: Home, scheduler: Scheduler, request: ChatRequest, metrics: Metrics, settings: EngineSettings
    ) -> None:
        self._home = home
        self._scheduler = scheduler
        self._request = request
        self._metrics = metrics
        self._most_calls = settings.most_tool_calls if request.parallel_calls else 1
        self._silent_s = settings.sign_of_life_s
        self._interval_s = settings.stream_interval_s
        self._events: asyncio.Queue[JobEvent] = asyncio.Queue()
        self._over = False
        self._job: Job | None = None
        self.id = f"chatcmpl-{uuid.uuid4().hex}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; returns early when the client goes away."""
        with contextlib.suppress(ClientDisconnect):
            await unless_gone(self._answer(send), receive)

    def cancel(self) -> bool:
        """Write no more of it; its end is told, with what it took. False where nothing is written any more."""
        if self._job is None or self._over:
            return False
        self._scheduler.cancel(self._job)
        return True

    async def _answer(self, send: Send) -> None:
        request = self._request
        emit = Handover(asyncio.get_running_loop(), self._take, self._interval_s, time.monotonic)
        seed = request.sampling.seed if request.sampling.seed is not None else secrets.randbelow(LARGEST_SEED)
        job = self._job = Job(
            request.messages,
            request.sampling,
            seed,
            emit,
            request.cache_key,
            request.options,
            owner=request.user,
            patient=request.patient,
        )
        events = self._pieces(job)
        try:
            if request.stream:
                async with EventStream(send, self._silent_s) as stream:
                    await self._stream(stream, events)
            else:
                await self._whole(send, events)
        finally:
            self._over = True
            while not self._events.empty():
                self._metrics.event(self._events.get_nowait())
            self._scheduler.cancel(job)
            self._release(job)

    def _take(self, event: JobEvent) -> None:
        """What the decoding thread reports is told and counted; once nobody is told any more, it is only counted."""
        if self._over:
            self._metrics.event(event)
        else:
            self._events.put_nowait(event)

    async def _begin(self, job: Job) -> None:
        """Have ``job`` answered. Raises what keeps it from being begun."""
        # Before a snapshot is read for it, which whoever is patient may ask for every second.
        if not self._scheduler.gives_way(job):
            await self._have_at_hand(job)
        # A long text takes its time to be read into tokens, so not in the event loop.
        await asyncio.get_running_loop().run_in_executor(self._scheduler.readers, self._scheduler.submit, job)

    async def _have_at_hand(self, job: Job) -> None:
        """Have served, or adapters at hand for, what the request names. Raises what reading and trying it raises."""
        if self._request.manifest is not None:
            await serve_manifest(self._home, self._scheduler, self._request.manifest)
        adapters, private, snapshot = self._request.adapters, self._request.private, self._request.snapshot
        if snapshot is not None:
            await self._lease(job, lambda served: beside(self._home, served, snapshot))
        elif adapters is not None:
            await self._lease(job, lambda served: adapted(self._home, served, adapters))
        elif private is not None:
            await self._lease_if_it_fits(job, lambda served: with_private(self._home, served, private))

    async def _lease(self, job: Job, own_set: OwnSet) -> None:
        """Have ``job`` answered with a set of its own, if there is one. Raises what reading and trying it raises."""
        loop, served = asyncio.get_running_loop(), self._scheduler.loaded.served
        job.served = await loop.run_in_executor(self._scheduler.readers, own_set, served)
        if job.served is not None:
            await asyncio.wrap_future(self._scheduler.lease(job.served))

    async def _lease_if_it_fits(self, job: Job, own_set: OwnSet) -> None:
        """The same; where another model comes in meanwhile, ``job`` is answered as everybody's is, not refused."""
        job.otherwise = True
        for _ in range(TRIES):
            before = self._scheduler.loaded.served
            try:
                await self._lease(job, own_set)
            except AdapterMismatch:
                if self._scheduler.loaded.served == before:
                    raise
                self._release(job)
            else:
                return

    def _release(self, job: Job) -> None:
        if job.served is not None:
            self._scheduler.release(job.served)
            job.served = None

    async def _pieces(self, job: Job) -> AsyncIterator[Told]:
        """What the decoding thread reports, thoughts and tool calls told apart, up to and with the end."""
        try:
            await self._begin(job)
        except Exception as error:
            refusal = told(error)
            self._metrics.event(refusal)
            yield refusal
            return
        while isinstance(event := await self._events.get(), Waiting):
            if self._request.stream:
                yield event
        # Not before now is it certain which model writes, and so in which form.
        reader = self._reader(job)
        while isinstance(event, Written):
            for piece in reader.feed(event.text, event.logprobs):
                yield piece
            if reader.ended:
                self._scheduler.cancel(job)
            event = await self._events.get()
        pieces: list[Piece] = []
        if isinstance(event, Finished):
            pieces = reader.finish()
            if reader.called and (event.reason == "stop" or reader.ended):
                event = replace(event, reason="tool_calls")
        # Before the rest is told, which nobody may be there to hear.
        self._metrics.event(event)
        for piece in pieces:
            yield piece
        yield event

    def _reader(self, job: Job) -> AnswerReader:
        tools = self._request.options.tools
        offered = Offered(tools, _call_id) if tools else None
        return AnswerReader(job.form, offered, self._most_calls)

    async def _stream(self, stream: EventStream, events: AsyncIterator[Told]) -> None:
        head: dict[str, Any] = {}
        calls = 0
        async for event in events:
            if isinstance(event, EngineError):
                await stream.fail(event)
                return
            head = head or self._head()
            await stream.event(_streamed(head, event, calls))
            calls += isinstance(event, Called)
        await stream.end()

    async def _whole(self, send: Send, events: AsyncIterator[Told]) -> None:
        pieces: list[Piece] = []
        async for event in events:
            if isinstance(event, Delta | Thought | Called):
                pieces.append(event)
            elif isinstance(event, Finished):
                await send_json(send, 200, completion(self._head(), pieces, event))
            elif isinstance(event, EngineError):
                await send_error(send, event)

    def _head(self) -> dict[str, Any]:
        model = self._scheduler.loaded.served.model_name
        return {"id": self.id, "created": int(time.time()), "model": model}


def _streamed(head: dict[str, Any], event: Waiting | Piece | Finished, calls: int) -> dict[str, Any]:
    if isinstance(event, Finished):
        return chunk(head, finished=event)
    if isinstance(event, Waiting):
        return {**chunk(head), "enlace": {"waiting": event.place}}
    return chunk(head, event, calls=calls)


def _call_id() -> str:
    """An identifier that every template takes: Mistral's want nine letters and digits."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(CALL_ID_LENGTH))
