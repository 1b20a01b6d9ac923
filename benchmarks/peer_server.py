"""The server of the peer ``xllamacpp``, for the length of a measurement."""

from __future__ import annotations

import http.client
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO
from urllib.parse import urlsplit

from benchmarks.errors import PeerMissing
from benchmarks.homes import starter_model
from benchmarks.peers.environments import HERE, peer
from benchmarks.processes import SHOWN_CHARACTERS, end_group

PEER = "xllamacpp"


def connect(address: str, timeout: float) -> http.client.HTTPConnection:
    """A connection to the server at ``address``."""
    place = urlsplit(address)
    return http.client.HTTPConnection(str(place.hostname), place.port, timeout=timeout)


@contextmanager
def serving(environment: dict[str, str], threads: int, context: int, slots: int, timeout: float) -> Iterator[str]:
    """The address of xllamacpp's server with so many slots, which is ended with the block. Raises PeerMissing."""
    python = peer("xllamacpp").python
    command = [python, str(HERE / "xllamacpp_server.py"), str(starter_model()), *map(str, (threads, context, slots))]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield _address(process, time.monotonic() + timeout, log)
        finally:
            end_group(process)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def _address(process: subprocess.Popen[bytes], deadline: float, log: IO[bytes]) -> str:
    """The first line that the server prints. Raises PeerMissing, with its last words, when there is none."""
    assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
    ready, _, _ = select.select([process.stdout], [], [], max(deadline - time.monotonic(), 0))
    line = process.stdout.readline().decode() if ready else ""
    if not line.startswith("http"):
        log.seek(0)
        said = log.read().decode(errors="replace").strip()[-SHOWN_CHARACTERS:]
        raise PeerMissing(f"The peer xllamacpp did not start its server here, so its side is left out: {said}")
    return line.strip()
