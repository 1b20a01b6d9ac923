"""Running the HTTP server over an open socket, and ending it in good order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import uvicorn

from configs.sections.engine import EngineSettings
from engine.doorway import protocol
from engine.liveness import EndLiveness, LoopLiveness
from engine.logs import note
from engine.metrics import Metrics
from engine.process import ENDING
from engine.scheduler import Scheduler

LOOK_AGAIN_S = 0.02

log = logging.getLogger("enlace.engine")


class _Server(uvicorn.Server):
    """uvicorn, with signals left to EngineServer: its own handling raises them again at the end."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class EngineServer:
    """Serves until ``end()``, a SIGTERM or a SIGINT; answers in flight get ``stop_timeout_s`` to be written."""

    def __init__(
        self,
        scheduler: Scheduler,
        settings: EngineSettings,
        watched: tuple[LoopLiveness, EndLiveness],
        metrics: Metrics,
    ) -> None:
        self._scheduler = scheduler
        self._settings = settings
        self._loop_liveness, self._end_liveness = watched
        self._metrics = metrics
        self._ending = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.retiring = False
        # The event loop itself keeps no task alive.
        self._retirement: asyncio.Task[None] | None = None

    @property
    def leaving(self) -> bool:
        """Whether nothing new is to be taken on: it would be cut off, where another engine can answer it whole."""
        return self.retiring or self._ending.is_set()

    def end(self) -> None:
        """Begin to end; to be called in the event loop."""
        self._ending.set()

    def retire(self) -> bool:
        """Make room for a fresh engine: take nothing new, end once the answers in flight are written.

        May be called by any thread; False where it was begun before.
        """
        if self._loop is None or self.retiring:
            return False
        self.retiring = True
        self._loop.call_soon_threadsafe(self._begin_to_retire)
        return True

    def serve(self, application: Any, listener: socket.socket, ready: Callable[[], None]) -> None:
        """Returns when everything has ended."""
        config = uvicorn.Config(
            application,
            loop="asyncio",
            http=protocol(self._settings.request_read_timeout_s, self._metrics.request),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        asyncio.run(self._run(_Server(config, ready), listener))
        for number in ENDING:
            # asyncio has given them back, and whoever ends the engine a second time would break off its end.
            signal.signal(number, signal.SIG_IGN)

    async def _run(self, server: _Server, listener: socket.socket) -> None:
        loop = self._loop = asyncio.get_running_loop()
        self._loop_liveness.watch(loop)
        for number in ENDING:
            loop.add_signal_handler(number, self.end)
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        ending = asyncio.ensure_future(self._ending.wait())
        await asyncio.wait([serving, ending], return_when=asyncio.FIRST_COMPLETED)
        await self._until_idle(self._settings.stop_timeout_s)
        self._end_liveness.begin()
        # In a thread of its own: slow work that takes all others ends with it.
        with ThreadPoolExecutor(1, thread_name_prefix="ending") as thread:
            await loop.run_in_executor(thread, self._scheduler.end)
        server.should_exit = True
        ending.cancel()
        await serving
        self._loop_liveness.watch(None)

    def _begin_to_retire(self) -> None:
        self._retirement = asyncio.ensure_future(self._retire())

    async def _retire(self) -> None:
        try:
            await self._until_idle(self._settings.retire_timeout_s)
        except Exception as error:
            note(log, "retiring_failed", logging.ERROR, error=error)
        finally:
            # Whatever happened: one that takes nothing new and does not end would be in everybody's way for ever.
            self.end()

    async def _until_idle(self, longest: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + longest
        while (self._scheduler.working or self._scheduler.waiting) and loop.time() < deadline:
            await asyncio.sleep(LOOK_AGAIN_S)
