"""The engine's process: one for a home, from taking its lock to giving it back."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from configs.disk import identity
from configs.errors import EnlaceError
from configs.home import Home
from configs.locks import take_lock
from configs.sections.engine import EngineSettings
from configs.settings import load_settings
from engine.errors import EngineStartFailed
from engine.library import set_thread_spins
from engine.loaded import Loaded, load
from engine.logs import log_to, note, raised
from engine.served import ServedSnapshot, read_served
from engine.starting import LOG

if TYPE_CHECKING:
    from engine.upkeep import Upkeep

ENDING = (signal.SIGTERM, signal.SIGINT)
PRIVATE_SOCKET_UMASK = 0o177
# Connections that wait until the event loop comes round to them: far more than a house has clients.
BACKLOG = 128

log = logging.getLogger("enlace.engine")


def run(home: Home, environ: Mapping[str, str], manifest: str, report_fd: int | None) -> int:
    """Serve ``manifest`` until told to end; the exit status.

    ``report_fd`` gets one line of JSON: {"ready": pid}, {"held": true} when another engine of this home runs,
    {"error": {code, facts}}, or {"killed": how} where it is told to end before it was ready.
    """
    # The terminal that started it may close; the engine stays for the next conversation.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    report = reporter(report_fd)
    try:
        if not serve(home, environ, manifest, ready=lambda: report({"ready": os.getpid()})):
            report({"held": True})
    except EnlaceError as error:
        note(log, "cannot_start", logging.ERROR, error=error)
        report({"error": {"code": error.code, "facts": error.facts}})
        return 1
    except (SystemExit, KeyboardInterrupt):
        note(log, "ended")
        report({"killed": "it was told to end"})
    return 0


def serve(home: Home, environ: Mapping[str, str], manifest: str, ready: Callable[[], None]) -> bool:
    """Be the engine of ``home`` until told to end; False at once when it has one already.

    ``ready()`` is called when questions are answered. Raises what keeps it from starting, and SystemExit or
    KeyboardInterrupt where it is told to end before that; whatever ends it later than that is raised as it is.
    """
    answering = False

    def answers() -> None:
        nonlocal answering
        answering = True
        ready()

    # Until the server listens to it: what was begun ends in good order. Ctrl-C does the same by itself.
    signal.signal(signal.SIGTERM, _end)
    home.prepare()
    settings = load_settings(home, environ).engine
    try:
        with home.engine_lock.open("ab") as lock:
            if not take_lock(lock):
                return False
            log_to(home.logs / LOG, settings.log_bytes, settings.log_files)
            _serve(home, settings, manifest, answers)
    except OSError as error:
        if answering:
            # It started; whatever ended it now is told with the place where it was raised.
            raise
        note(log, "cannot_start", logging.ERROR, **raised(error))
        raise EngineStartFailed(reason=str(error), log=str(home.logs / LOG)) from error
    return True


def _serve(home: Home, settings: EngineSettings, manifest: str, ready: Callable[[], None]) -> None:
    from engine.upkeep import Upkeep

    served = read_served(home, manifest)
    # Before anything native: a crash of that leaves a report.
    upkeep = Upkeep(home, settings)
    try:
        # Loading runs in native code, beside it there is time to import the server.
        loading: Future[Loaded] = Future()
        threading.Thread(target=_load, args=(loading, served, settings), daemon=True).start()
        _answer(home, settings, loading, upkeep, ready)
    finally:
        upkeep.close()
    note(log, "ended")


def _answer(
    home: Home, settings: EngineSettings, loading: Future[Loaded], upkeep: Upkeep, ready: Callable[[], None]
) -> None:
    from engine.doorway import Doorway
    from engine.heartbeat import Heartbeat
    from engine.metrics import Metrics
    from engine.scheduler import Scheduler
    from engine.server import Service
    from engine.serving import EngineServer

    heartbeat, metrics = Heartbeat(home.busy_flag), Metrics(settings.metrics)
    scheduler = Scheduler(loading.result(), settings, heartbeat, time.monotonic)
    scheduler.swaps.on_swap = metrics.swap
    scheduler.start()
    try:
        with _listening(home) as listener:
            server = EngineServer(scheduler, settings, (upkeep.loop_liveness, upkeep.end_liveness), metrics)
            service = Service(
                home, settings, scheduler, time.monotonic, server.end, metrics, upkeep.counts, upkeep.version
            )
            application = Doorway(service.application(), service.paths(), metrics.request, lambda: server.leaving)
            upkeep.watch(scheduler, heartbeat, metrics, server.retire)
            server.serve(application, listener, ready)
    finally:
        scheduler.end()


def _load(loading: Future[Loaded], served: ServedSnapshot, settings: EngineSettings) -> None:
    set_thread_spins(settings.thread_spins)
    try:
        loading.set_result(load(served, settings))
    except BaseException as error:  # the waiting thread raises it again
        loading.set_exception(error)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit


@contextlib.contextmanager
def _listening(home: Home) -> Iterator[socket.socket]:
    """The socket, open to its owner alone. Whoever holds the lock may remove what a killed engine left."""
    path = home.engine_socket
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = path.parent.stat()
    if path.parent != home.root and (folder.st_uid != os.getuid() or stat.S_IMODE(folder.st_mode) & 0o077):
        raise EngineStartFailed(reason=f"{path.parent} is open to others", log=str(home.logs / LOG))
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(PRIVATE_SOCKET_UMASK)
    try:
        listener.bind(os.fsencode(path))
    finally:
        os.umask(before)
    listener.listen(BACKLOG)
    own = identity(path)
    try:
        yield listener
    finally:
        # Where the home was removed and made anew, the path may be another engine's by now.
        if identity(path) == own:
            path.unlink(missing_ok=True)
        listener.close()


def reporter(report_fd: int | None) -> Callable[[dict[str, Any]], None]:
    """What tells the starter one thing, unless it has gone away meanwhile; whatever comes after that goes nowhere.

    By then the pipe is closed, and its number may be that of a client's connection.
    """
    pipe = os.fdopen(report_fd, "w") if report_fd is not None else None

    def report(content: dict[str, Any]) -> None:
        if pipe is not None and not pipe.closed:
            with contextlib.suppress(OSError), pipe:
                pipe.write(json.dumps(content) + "\n")

    return report
