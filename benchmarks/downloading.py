"""How fast ``enlace models pull`` is beside a plain stream of httpx into a file, from a server on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import gguf
import httpx
import numpy as np

from benchmarks.errors import MeasurementFailed
from benchmarks.measures import side_by_side
from benchmarks.plan import Plan
from benchmarks.rows import Row, row
from configs.home import Home
from configs.settings import load_settings
from engine.pulling.pull import pull
from engine.pulling.source import Source

MB = 1_000_000
PEER = "httpx stream"


def unlimited(plan: Plan) -> list[Row]:
    """From a server that sends as fast as it can: what our own work costs."""
    return [_compared("pull, server without a limit", plan, 0)]


def limited(plan: Plan) -> list[Row]:
    """From a server that holds each connection to a speed: what parts at once bring."""
    speed = plan.pull.connection_mb_per_s
    return [_compared(f"pull, {speed} MB/s a connection", plan, speed * MB, bound=1.5)]


def _compared(name: str, plan: Plan, bytes_per_s: float, bound: float | None = None) -> Row:
    with tempfile.TemporaryDirectory(prefix="enlace-pull-") as folder:
        model = _sparse_model(Path(folder) / "model.gguf", plan.pull.megabytes)
        size = model.stat().st_size / MB
        with _serving(model, bytes_per_s) as address:
            ours, theirs = side_by_side(
                lambda _: size / _seconds(lambda: _pulled(Path(folder) / "home", address)),
                lambda _: size / _seconds(lambda: _streamed(Path(folder) / "plain.gguf", address)),
                plan.pull.rounds,
            )
    value, peer = statistics.median(ours), statistics.median(theirs)
    note = "ours checks the SHA-256 and the structure too"
    return row(
        name, value, "MB/s", peer=PEER, peer_value=peer, bound=bound, better="higher", samples=len(ours), note=note
    )


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _sparse_model(path: Path, megabytes: int) -> Path:
    """A sound GGUF file of this size whose weights are a hole: reading it costs no disk."""
    writer = gguf.GGUFWriter(path, "llama")
    rows = megabytes * MB // 4096
    writer.add_tensor_info("token_embd.weight", (rows, 1024), np.dtype(np.float32), rows * 4096)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    with path.open("ab") as file:
        file.truncate(-(-file.tell() // 32) * 32 + rows * 4096)
    return path


@contextlib.contextmanager
def _serving(model: Path, bytes_per_s: float) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.range_server", str(model), str(bytes_per_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None  # noqa: S101 - for the type checker
            address = server.stdout.readline().strip()
            if not address:
                raise MeasurementFailed("the server did not start")
            yield address
        finally:
            server.kill()


def _pulled(folder: Path, address: str) -> None:
    home = Home(folder)
    home.prepare()
    settings = load_settings(home, {}).engine
    pulled = asyncio.run(pull(home, Source("model", address), settings, lambda _: None))
    pulled.path.unlink()


def _streamed(path: Path, address: str) -> None:
    with httpx.stream("GET", address) as response, path.open("wb") as file:
        for content in response.iter_raw():
            file.write(content)
    path.unlink()
