"""What must go on or come to an end in an engine, and how long it has given no sign of that."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol

from engine.heartbeat import Heartbeat


class Liveness(Protocol):
    """Something that must go on."""

    def silent(self, passed: float, longest: float) -> str | None:
        """Why the engine must end, or None. Called regularly; ``passed`` seconds since the last time."""


class DecodingLiveness:
    """The decoding thread: it must finish a step within ``longest`` while it has work, and must not be gone."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat
        self._seen = -1
        self._silence = 0.0

    def silent(self, passed: float, longest: float) -> str | None:
        if self._heartbeat.died:
            return "decoding_thread_died"
        if self._heartbeat.resting or self._heartbeat.ended or self._heartbeat.steps != self._seen:
            self._seen, self._silence = self._heartbeat.steps, 0.0
            return None
        self._silence += passed
        return "decoding_hung" if self._silence > longest else None


class LoopLiveness:
    """The event loop: what it is asked to do must be done within ``longest``."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._answered = True
        self._silence = 0.0

    def watch(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Watch this loop from now on; none of them with None."""
        self._loop, self._answered = loop, True

    def silent(self, passed: float, longest: float) -> str | None:
        loop = self._loop
        if loop is None or self._answered:
            self._silence, self._answered = 0.0, loop is None
            if loop is not None:
                with contextlib.suppress(RuntimeError):  # it was closed a moment ago
                    loop.call_soon_threadsafe(self._beat)
            return None
        self._silence += passed
        return "event_loop_hung" if self._silence > longest else None

    def _beat(self) -> None:
        self._answered = True


class EndLiveness:
    """The end of the engine: once it has begun to give up its answers, it must be gone within ``longest``."""

    def __init__(self) -> None:
        self._begun = False
        self._silence = 0.0

    def begin(self) -> None:
        """The engine begins to end."""
        self._begun = True

    def silent(self, passed: float, longest: float) -> str | None:
        self._silence += passed if self._begun else 0
        return "end_hung" if self._silence > longest else None
