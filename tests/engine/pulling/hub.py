"""A hub on this machine, over real HTTP, that misbehaves as it is told."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gguf
import numpy as np

REPOSITORY = "owner/model-GGUF"
BLOCK = 65536


def small_model(path: Path, *, megabytes: int = 2, seed: int = 0, kind: str = "model") -> bytes:
    """A sound GGUF file of about this size, written to ``path``; its content."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type(kind)
    writer.add_name(f"small {seed}")
    writer.add_block_count(1)
    writer.add_context_length(128)
    writer.add_embedding_length(64)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    numbers = np.random.default_rng(seed).normal(size=(megabytes * 4096, 64)).astype(np.float32)
    writer.add_tensor("token_embd.weight", numbers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


@dataclass
class Asked:
    """A request as it came."""

    path: str
    range: str | None
    if_range: str | None
    authorization: str | None
    encoding: str | None


@dataclass
class Hub:
    """What the server has and how it behaves; may be changed while it runs."""

    content: bytes = b""
    redirects: bool = True  # as Hugging Face does: from the repository to where the bytes are
    linked: bool = True  # says SHA-256 and size on the redirect
    etag: bool = True
    modified: str | None = None
    ranges: bool = True
    claims_ranges: bool = True  # honours the one-byte range that is asked first
    drops: int = 0  # how many answers break off
    drop_after: int = 300_000  # bytes into the answer
    length_is: float = 1.0  # of the true length, in Content-Length
    chunked: bool = False  # no Content-Length at all
    corrupt: int = 0  # how many answers carry a wrong byte
    failures: list[int] = field(default_factory=list)  # statuses of the next answers
    retry_after: str | None = None
    bytes_per_s: float | None = None  # of each connection
    location: str | None = None  # where it redirects to instead
    encoding: str | None = None
    on_body: list[Callable[[], None]] = field(default_factory=list)  # called once each, in the midst of an answer
    asked: list[Asked] = field(default_factory=list)
    sent: int = 0
    address: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def url(self) -> str:
        return f"{self.address}/{REPOSITORY}/resolve/main/model.gguf"

    def take(self, name: str) -> bool:
        """Count one of the remaining ``name`` down."""
        with self.lock:
            left: int = getattr(self, name)
            setattr(self, name, max(0, left - 1))
            return left > 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_GET(self) -> None:
        hub = self.hub
        heads = self.headers
        asked = Asked(self.path, heads["Range"], heads["If-Range"], heads["Authorization"], heads["Accept-Encoding"])
        with hub.lock:
            hub.asked.append(asked)
            failure = hub.failures.pop(0) if hub.failures else None
        if failure:
            self._empty(failure, {"Retry-After": hub.retry_after} if hub.retry_after else {})
        elif "/resolve/" in self.path and (hub.redirects or hub.location):
            linked = {"X-Linked-ETag": f'"{hub.sha256}"', "X-Linked-Size": str(len(hub.content))} if hub.linked else {}
            self._empty(302, {"Location": hub.location or f"/cdn/{len(hub.content)}", **linked})
        else:
            self._file(asked)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _empty(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _file(self, asked: Asked) -> None:
        hub, content = self.hub, self.hub.content
        etag = f'"{hub.sha256[:16]}"' if hub.etag else None
        start, end, status = 0, len(content), 200
        fits = asked.if_range in (None, etag, hub.modified)
        if asked.range and fits and (hub.ranges or (hub.claims_ranges and asked.range == "bytes=0-0")):
            first, last = asked.range.removeprefix("bytes=").split("-")
            start, end, status = int(first), min(end, int(last) + 1), 206
            if start >= len(content):
                self._empty(416, {"Content-Range": f"bytes */{len(content)}"})
                return
        body = bytearray(content[start:end])
        if len(body) > 1 and hub.take("corrupt"):
            body[len(body) // 2] ^= 255
        self.send_response(status)
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
        for name, value in (("ETag", etag), ("Last-Modified", hub.modified), ("Content-Encoding", hub.encoding)):
            if value:
                self.send_header(name, value)
        if hub.linked and not hub.redirects:
            self.send_header("X-Linked-ETag", f'"{hub.sha256}"')
        if hub.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(int(len(body) * hub.length_is) if len(body) > 1 else len(body)))
        self.end_headers()
        self._send(bytes(body))

    def _send(self, body: bytes) -> None:
        hub = self.hub
        dropped_at = hub.drop_after if len(body) > 1 and hub.take("drops") else None
        sent = 0
        for place in range(0, len(body), BLOCK):
            block = body[place : place + BLOCK]
            if dropped_at is not None:
                block = block[: max(0, dropped_at - place)]
            try:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(block), block) if hub.chunked and block else block)
            except OSError:
                self.close_connection = True
                return
            sent += len(block)
            with hub.lock:
                hub.sent += len(block)
                calls = [hub.on_body.pop(0)] if hub.on_body and len(body) > 1 else []
            for call in calls:
                call()
            if dropped_at is not None and sent >= dropped_at:
                self.close_connection = True
                self.connection.close()
                return
            if hub.bytes_per_s:
                time.sleep(len(block) / hub.bytes_per_s)
        if hub.chunked:
            self.wfile.write(b"0\r\n\r\n")
        if hub.length_is > 1:
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that goes away is no error."""


@contextmanager
def running(hub: Hub) -> Iterator[Hub]:
    """``hub`` at an address of its own."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
