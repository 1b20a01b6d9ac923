"""The engine's HTTP interface: OpenAI's chat completions, and the engine's own status, swap and shutdown."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answering import Answer
from engine.answers import EngineStatus
from engine.catalogue import list_models
from engine.crashes import Counts
from engine.errors import EngineError, NoSuchRoute, RequestWrong, told
from engine.fields import check_request
from engine.forms.adopting import serve_anew
from engine.forms.records import AS_PULLED
from engine.gauges import families
from engine.leaving import unless_gone
from engine.measuring import Measuring
from engine.metrics import Metrics
from engine.prometheus import CONTENT_TYPE, page
from engine.replies import encoded, error_object
from engine.requests import read_chat_request, read_object
from engine.resources import resident_memory
from engine.scheduler import Scheduler

LONGEST_PATH = 200


class Service:
    """The routes over one scheduler. ``end()`` is called once when a client asks for shutdown."""

    def __init__(
        self,
        home: Home,
        settings: EngineSettings,
        scheduler: Scheduler,
        clock: Callable[[], float],
        end: Callable[[], None],
        metrics: Metrics,
        counts: Counts,
        version: str,
    ) -> None:
        self._home = home
        self._settings = settings
        self._scheduler = scheduler
        self._clock = clock
        self._started = clock()
        self._end = end
        self._metrics = metrics
        self._counts = counts
        self._version = version
        self._measuring = Measuring(home, scheduler, settings)
        self._answers: weakref.WeakValueDictionary[str, Answer] = weakref.WeakValueDictionary()

    def paths(self) -> list[str]:
        """The paths that are answered."""
        return [route.path for route in self._routes()]

    def application(self) -> Starlette:
        """The ASGI application."""
        application = Starlette(
            routes=self._routes(),
            exception_handlers={
                EngineError: _show_error,
                HTTPException: _show_no_route,
                ClientDisconnect: _say_nothing,
                Exception: _show_error,
            },
        )
        # A redirection would be an answer in nobody's form.
        application.router.redirect_slashes = False
        return application

    def _routes(self) -> list[Route]:
        return [
            Route("/v1/chat/completions", self.chat, methods=["POST"]),
            Route("/cancel", self.cancel, methods=["POST"]),
            Route("/v1/embeddings", self.embeddings, methods=["POST"]),
            Route("/score", self.score, methods=["POST"]),
            Route("/tokenize", self.tokenize, methods=["POST"]),
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/status", self.status, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/snapshot", self.snapshot, methods=["POST"]),
            Route("/shutdown", self.shutdown, methods=["POST"]),
        ]

    async def chat(self, request: Request) -> ASGIApp:
        body, loop = await self._body(request), asyncio.get_running_loop()
        # A large schema takes its time to be checked, and everybody else's stream goes through the event loop.
        asked = await loop.run_in_executor(self._scheduler.readers, read_chat_request, body, self._settings)
        answer = Answer(self._home, self._scheduler, asked, self._metrics, self._settings)
        self._answers[answer.id] = answer
        return answer

    async def cancel(self, request: Request) -> Response:
        given = read_object(await self._body(request))
        check_request(given, ("id",))
        name = given.get("id")
        if not isinstance(name, str):
            raise RequestWrong(field="id", reason="the id of an answer is needed, as its chunks tell it")
        answer = self._answers.get(name)
        return _json({"cancelled": answer is not None and answer.cancel()})

    async def embeddings(self, request: Request) -> Response:
        given = read_object(await self._body(request))
        return _json(await unless_gone(self._measuring.embeddings(given), request.receive))

    async def score(self, request: Request) -> Response:
        given = read_object(await self._body(request))
        return _json(await unless_gone(self._measuring.score(given), request.receive))

    async def tokenize(self, request: Request) -> Response:
        given = read_object(await self._body(request))
        return _json(await unless_gone(self._measuring.tokenize(given), request.receive))

    async def models(self, _request: Request) -> Response:
        served = self._scheduler.loaded.served.model_name
        # A folder takes as long as its disk does, and everybody's stream goes through the event loop.
        models = await asyncio.get_running_loop().run_in_executor(None, list_models, self._home)
        found = [{"id": model.name, "object": "model", "owned_by": "enlace", "created": 0} for model in models]
        return _json({"object": "list", "data": found, "served": served})

    async def status(self, _request: Request) -> Response:
        return _json(asdict(self.account()))

    async def metrics(self, _request: Request) -> Response:
        now = families(self._scheduler, self._settings, self._counts, self._clock() - self._started)
        return Response(page([*self._metrics.families(), *now]), media_type=CONTENT_TYPE)

    async def snapshot(self, request: Request) -> Response:
        given = read_object(await self._body(request))
        check_request(given, ("manifest",))
        digest = given.get("manifest")
        if not isinstance(digest, str):
            raise RequestWrong(field="manifest", reason="the digest of a snapshot's manifest is needed")
        # Whoever has gone takes the old one for the one that is served; so no other is loaded for nobody.
        await unless_gone(serve_anew(self._home, self._scheduler, digest), request.receive)
        return _json({"snapshot": self._scheduler.loaded.served.name, "manifest": digest})

    async def shutdown(self, _request: Request) -> Response:
        asyncio.get_running_loop().call_soon(self._end)
        return _json({"ending": True}, 202)

    def account(self) -> EngineStatus:
        """What the engine says of itself."""
        loaded = self._scheduler.loaded
        return EngineStatus(
            pid=os.getpid(),
            model=loaded.served.model_name,
            snapshot=loaded.served.name,
            manifest=loaded.served.manifest_digest,
            context_size=loaded.context_size,
            slots=self._settings.slots,
            busy=self._scheduler.working,
            waiting=self._scheduler.waiting,
            uptime_s=self._clock() - self._started,
            memory_bytes=resident_memory(),
            tokens_per_second=self._scheduler.last_rate,
            form=loaded.served.form.form if loaded.served.form else AS_PULLED,
            merged=loaded.served.merged,
            version=self._version,
        )

    async def _body(self, request: Request) -> bytes:
        """The whole body; a larger one than allowed is refused before it fills the memory."""
        longest, body = self._settings.longest_request_bytes, bytearray()
        # What calls itself too large is refused by its head: nobody waits for the rest of it.
        if int(request.headers.get("content-length", 0)) > longest:
            raise RequestWrong(field="body", reason=f"larger than {longest} bytes")
        try:
            async with asyncio.timeout(self._settings.request_read_timeout_s):
                async for piece in request.stream():
                    body += piece
                    if len(body) > longest:
                        raise RequestWrong(field="body", reason=f"larger than {longest} bytes")
        except TimeoutError as error:
            raise RequestWrong(field="body", reason="it does not arrive") from error
        return bytes(body)


async def _say_nothing(_request: Request, _error: Exception) -> Response:
    """A client that went away while it was still asking."""
    return Response(status_code=400)


async def _show_no_route(request: Request, error: Exception) -> Response:
    """A path that is none of ours, or a method that it does not know."""
    wrong = NoSuchRoute(method=request.method, path=request.url.path[:LONGEST_PATH])
    status = error.status_code if isinstance(error, HTTPException) else wrong.status
    headers = error.headers if isinstance(error, HTTPException) else None
    return _json(error_object(wrong), status, headers)


async def _show_error(_request: Request, error: Exception) -> Response:
    shown = told(error)
    return _json(error_object(shown), shown.status)


def _json(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """``content`` as the whole response: every route's, so that one writes whatever another can write."""
    return Response(encoded(content), status_code=status, headers=headers, media_type="application/json")
