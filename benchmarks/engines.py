"""An engine and its peer, running for the length of a measurement."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.errors import MeasurementFailed
from benchmarks.harness import without_peer
from benchmarks.homes import clean_environment, enlace, temporary_home
from benchmarks.peer_server import connect, serving
from benchmarks.plan import EnginePlan
from benchmarks.processes import run
from benchmarks.streaming import SocketConnection
from configs.home import Home
from configs.settings import load_settings
from engine.fit import physical_cores

Connect = Callable[[], http.client.HTTPConnection]


@contextmanager
def engine(plan: EnginePlan, *, formed: bool = False, **settings: object) -> Iterator[tuple[Home, Connect]]:
    """A running engine in a home of its own, with these of its settings, and how to reach it.

    ``formed``: it serves the form that ``enlace models bench`` chose there.
    """
    with temporary_home() as environment:
        if formed:
            run(enlace("models", "bench"), environment, timeout=plan.bench_timeout_s)
        named = {f"ENLACE_ENGINE__{name.upper()}": str(value) for name, value in settings.items()}
        home = Home.find(environment)
        run(enlace("engine", "start"), environment | named, timeout=plan.timeout_s)
        yield home, partial(SocketConnection, home.engine_socket, plan.timeout_s)


@contextmanager
def peer_of(plan: EnginePlan, home: Home, slots: int, notes: list[str]) -> Iterator[Connect | None]:
    """How to reach xllamacpp with as much room and as many threads as the engine of ``home``.

    Without it None, and a note.
    """
    settings = load_settings(home, {}).engine
    threads = settings.threads or physical_cores()
    with without_peer(notes), serving(clean_environment(), threads, settings.context_size, slots, plan.timeout_s) as at:
        yield partial(connect, at, plan.timeout_s)
        return
    yield None


def call(reach: Connect, method: str, target: str, body: Any = None) -> Any:
    """The JSON that the engine answers. Raises MeasurementFailed."""
    connection = reach()
    try:
        connection.request(method, target, json.dumps(body) if body is not None else None)
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    if answer.status >= 400:
        raise MeasurementFailed(f"{target} answered {answer.status}: {content[:200]!r}")
    return json.loads(content)


def wait_for_busy(reach: Connect, busy: int, *, timeout: float, poll_s: float = 0.005) -> float:
    """Seconds until so many slots are busy. Raises MeasurementFailed after ``timeout`` seconds."""
    begun = time.perf_counter()
    while call(reach, "GET", "/status")["busy"] != busy:
        if time.perf_counter() - begun > timeout:
            raise MeasurementFailed(f"There were never {busy} slots busy.")
        time.sleep(poll_s)
    return time.perf_counter() - begun
