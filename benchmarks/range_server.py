"""A file over HTTP as fast as this machine can send it, or no faster than a line would: what downloads are measured by.

``python -m benchmarks.range_server FILE [BYTES_PER_S]`` prints its address and serves until it is ended. The limit is
each connection's own, as it is at a hub that many people use.
"""

from __future__ import annotations

import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BLOCK = 1 << 18
RANGE = re.compile(r"bytes=(\d+)-(\d*)")


class FileHandler(BaseHTTPRequestHandler):
    """Answers every GET with the file, or the part of it that was asked for."""

    protocol_version = "HTTP/1.1"
    path_of_file: Path
    bytes_per_s: float

    def do_GET(self) -> None:
        """Send it."""
        size = self.path_of_file.stat().st_size
        asked = RANGE.fullmatch(self.headers.get("Range", ""))
        start = int(asked[1]) if asked else 0
        end = min(size, int(asked[2]) + 1) if asked and asked[2] else size
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.send_header("ETag", f'"{size}"')
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        self.wfile.flush()
        with self.path_of_file.open("rb") as file:
            self._send(file.fileno(), start, end)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it has in the base
        """Say nothing."""

    def _send(self, file: int, place: int, end: int) -> None:
        began, sent = time.monotonic(), 0
        while place < end:
            count = os.sendfile(self.connection.fileno(), file, place, min(BLOCK, end - place))
            if not count:
                return
            place, sent = place + count, sent + count
            if self.bytes_per_s:
                time.sleep(max(0.0, began + sent / self.bytes_per_s - time.monotonic()))


class FileServer(ThreadingHTTPServer):
    """One thread a connection; a client that goes away is no error."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


def main(arguments: list[str]) -> None:
    """Serve until ended."""
    path, limit = Path(arguments[0]), float(arguments[1]) if len(arguments) > 1 else 0.0
    handler = type("Handler", (FileHandler,), {"path_of_file": path, "bytes_per_s": limit})
    server = FileServer(("127.0.0.1", 0), handler)
    print(f"http://127.0.0.1:{server.server_port}/model.gguf", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
