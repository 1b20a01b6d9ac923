"""How a future ends that somebody may or may not wait for."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, TypeVar

from engine.errors import EngineError

T = TypeVar("T")


def settle(done: Future[T], result: T) -> None:
    """Tell whoever waits what came of it, unless nobody does any more."""
    if done.set_running_or_notify_cancel():
        done.set_result(result)


def refuse(done: Future[T], error: EngineError) -> None:
    """Tell whoever waits that nothing comes of it, unless nobody does any more."""
    if done.set_running_or_notify_cancel():
        done.set_exception(error)


def refused(error: EngineError) -> Future[Any]:
    """Nothing comes of it, and that is known at once."""
    done: Future[Any] = Future()
    done.set_exception(error)
    return done
