"""A search service on this machine, which speaks as DuckDuckGo does."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

PAGE = """<html><body>{results}</body></html>"""
RESULT = '<div class="links_main result__body"><h2><a>{title}</a></h2><a href="{url}">{body}</a></div>'


class Service(ThreadingHTTPServer):
    """A search service on this machine: answers ``status`` with ``results`` after ``delay`` seconds."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.results: list[tuple[str, str, str]] = []
        self.delay = 0.0
        self.asked: list[dict[str, list[str]]] = []

    def handle_error(self, request: object, client_address: object) -> None:
        """A worker that was stopped hangs up on the service, which is no news."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/html/"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        service = self.server
        assert isinstance(service, Service)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        service.asked.append(parse_qs(body.decode()))
        time.sleep(service.delay)
        page = PAGE.format(results="".join(RESULT.format(title=t, url=u, body=b) for t, u, b in service.results))
        content = page.encode()
        self.send_response(service.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """The test's output stays clean."""


@contextmanager
def serving() -> Iterator[Service]:
    """The service, answering until the block ends."""
    server = Service()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
