"""``python faulty_engine.py FAULT -m engine serve …``: a real engine that breaks in one way when it is asked something.

What breaks is real: native code that touches memory which is not its own, that gives up by an assertion or an
uncaught C++ exception, that never returns, or that keeps Python's lock for ever; and errors of Python's whose messages
hold what somebody said.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from engine import __main__, loaded, native, process, readahead, scheduler, server, serving

FOR_EVER = 10**6


def segfault(*_: Any) -> None:
    ctypes.string_at(8)


def ggml_assertion(*_: Any) -> None:
    ctypes.CDLL(base_path()).ggml_abort(
        b"/builds/of/somebody/ggml.c", 42, b"GGML_ASSERT(%s) failed", b"a->ne[0] == b->ne[0]"
    )


def hang_in_native_code(*_: Any) -> None:
    time.sleep(FOR_EVER)


status = server.Service.status


async def tell_more(service: server.Service, request: Any) -> Any:
    """The account of an engine of a later version."""
    told = json.loads(bytes((await status(service, request)).body))
    return server._json({**told, "version": "later", "mood": "fine"})


async def tell_less(service: server.Service, request: Any) -> Any:
    """The account of an engine of an earlier version."""
    told = json.loads(bytes((await status(service, request)).body))
    return server._json({name: told[name] for name in ("pid", "model", "version")})


def lose_a_file(*_: Any) -> NoReturn:
    raise FileNotFoundError(WORDS)


def read_slowly(path: Path, alive: Callable[[], None]) -> None:
    """A disk that takes half a second for a piece of a model."""

    def wait() -> None:
        time.sleep(0.5)
        alive()

    readahead.read_ahead(path, wait)


async def hang_the_event_loop(*_: Any) -> None:
    time.sleep(FOR_EVER)


def hang_with_pythons_lock(*_: Any) -> None:
    re.match(r"(a|a)*b", "a" * 64)


def end_the_thread(*_: Any) -> NoReturn:
    raise SystemExit


WORDS = "zanzibar-pelican"


def raise_words(*_: Any) -> NoReturn:
    raise ValueError(WORDS)


until_idle = serving.EngineServer._until_idle


async def raise_unless_it_ends(self: serving.EngineServer, longest: float) -> None:
    """Nothing goes wrong but the wait for answers in flight before it ends to make room for a fresh one."""
    if not self._ending.is_set():
        raise_words()
    await until_idle(self, longest)


async def take_every_thread(self: serving.EngineServer, longest: float) -> None:
    """Texts are read in every thread of the event loop as long as there is a model to read them."""
    for _ in range(200):
        asyncio.get_running_loop().run_in_executor(None, self._scheduler._thread.join)
    await until_idle(self, longest)


async def raise_words_everywhere(*_: Any) -> NoReturn:
    """In a callback of the event loop, in a thread, where Python cannot raise, and in the answer to a request."""

    class Unraisable:
        def __del__(self) -> None:
            raise_words()

    Unraisable()
    threading.Thread(target=raise_words, args=(WORDS,)).start()
    loop = asyncio.get_running_loop()
    loop.call_soon(raise_words, WORDS)
    loop.create_task(_raise_words_later(), name=WORDS)  # noqa: RUF006 - it is to be forgotten
    raise ValueError(WORDS)


async def _raise_words_later() -> NoReturn:
    raise ValueError(WORDS)


FAULTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "segfault": (native.Context, "decode", segfault),
    "ggml": (native.Context, "decode", ggml_assertion),
    "hang": (native.Context, "decode", hang_in_native_code),
    "spin": (native.Context, "decode", hang_with_pythons_lock),
    "thread": (scheduler.Scheduler, "_drop_cancelled", end_the_thread),
    "words": (native.Context, "decode", raise_words),
    "words everywhere": (server.Service, "models", raise_words_everywhere),
    "load crash": (process, "load", segfault),
    "load": (process, "load", hang_in_native_code),
    "disk": (loaded, "read_ahead", read_slowly),
    "lost file": (scheduler.Scheduler, "end", lose_a_file),
    "tells more": (server.Service, "status", tell_more),
    "tells less": (server.Service, "status", tell_less),
    "end": (scheduler.Scheduler, "end", hang_in_native_code),
    "retire": (serving.EngineServer, "_until_idle", raise_unless_it_ends),
    "threads": (serving.EngineServer, "_until_idle", take_every_thread),
    "loop": (server.Service, "models", hang_the_event_loop),
}


def base_path() -> str:
    """The library that llama.cpp is built on, as it is loaded in this process."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if "libggml-base" in line)


if __name__ == "__main__":
    fault = sys.argv.pop(1)
    del sys.argv[1:3]  # -m engine
    setattr(*FAULTS[fault])
    sys.exit(__main__.main())
