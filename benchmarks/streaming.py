"""One streamed chat completion over HTTP, timed where the reader sits: the same client for both servers."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.errors import MeasurementFailed


@dataclass(frozen=True)
class Streamed:
    """One answer as its reader saw it. ``tokens`` as the server counted them; ``arrivals`` by ``perf_counter``."""

    first_token_s: float
    tokens: int
    tokens_per_second: float
    prompt_tokens: int
    text: str
    started: float
    arrivals: tuple[float, ...]
    snapshot: str


class SocketConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def stream(connection: http.client.HTTPConnection, prompt: str, tokens: int) -> Streamed:
    """Ask one question for a long text; see ``converse``."""
    return converse(connection, opened(prompt), tokens)


def opened(prompt: str) -> list[dict[str, str]]:
    """A conversation that begins with this question."""
    return [{"role": "system", "content": "You write long texts."}, {"role": "user", "content": prompt}]


def converse(
    connection: http.client.HTTPConnection,
    messages: list[dict[str, str]],
    tokens: int,
    *,
    key: str | None = None,
) -> Streamed:
    """Ask greedily for ``tokens`` tokens and time the first and the last. Raises MeasurementFailed.

    The speed of writing is that of the tokens after the first, so that reading the prompt is not in it. ``key`` names
    the conversation to a server that wants to know it.
    """
    request = {
        "messages": messages,
        "max_tokens": tokens,
        "temperature": 0.0,
        "repeat_penalty": 1.0,
        "stream": True,
        "stream_options": {"include_usage": True},
        **({"cache_key": key} if key else {}),
    }
    arrivals: list[float] = []
    pieces: list[str] = []
    usage: dict[str, Any] = {}
    snapshot = ""
    started = time.perf_counter()
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(request), {"Content-Type": "application/json"})
        for chunk in _chunks(connection.getresponse()):
            usage = chunk.get("usage") or usage
            snapshot = chunk.get("enlace", {}).get("snapshot", snapshot)
            piece = chunk["choices"][0]["delta"].get("content") if chunk.get("choices") else None
            if piece:
                arrivals.append(time.perf_counter())
                pieces.append(piece)
    except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
        raise MeasurementFailed(f"The server did not stream an answer: {error!r}") from error
    finally:
        connection.close()
    if not arrivals:
        raise MeasurementFailed("The answer was empty.")
    written = int(usage.get("completion_tokens", len(arrivals)))
    speed = (written - 1) / (arrivals[-1] - arrivals[0]) if len(arrivals) > 1 else 0.0
    return Streamed(
        first_token_s=arrivals[0] - started,
        tokens=written,
        tokens_per_second=speed,
        prompt_tokens=int(usage.get("prompt_tokens", 0)),
        text="".join(pieces),
        started=started,
        arrivals=tuple(arrivals),
        snapshot=snapshot,
    )


def _chunks(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """The JSON objects of a server-sent event stream, as they come."""
    if response.status != 200:
        raise MeasurementFailed(f"The server answered {response.status}: {response.read(400)!r}")
    while line := response.readline():
        if line.startswith(b"data:") and b"[DONE]" not in line:
            yield json.loads(line[5:])
