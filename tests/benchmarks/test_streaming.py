from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks.errors import MeasurementFailed
from benchmarks.streaming import stream

PIECES = ("Once", " upon", " a", " time")
FIRST_AFTER = 0.3
BETWEEN = 0.1


class Server(BaseHTTPRequestHandler):
    """Streams ``PIECES`` as llama.cpp does: the role first, the reason and the usage last."""

    protocol_version = "HTTP/1.1"
    asked: dict[str, object]

    def do_POST(self) -> None:
        Server.asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        time.sleep(FIRST_AFTER)
        self.event({"choices": [{"delta": {"role": "assistant", "content": None}}]})
        for piece in PIECES:
            self.event({"choices": [{"delta": {"content": piece}}]})
            time.sleep(BETWEEN)
        self.event({"choices": [], "usage": {"prompt_tokens": 21, "completion_tokens": 8}})
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def event(self, value: object) -> None:
        self.chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

    def chunk(self, content: bytes) -> None:
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self.wfile.flush()

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_first_token_and_the_speed_after_it_are_timed_where_the_reader_sits(port: int) -> None:
    streamed = stream(http.client.HTTPConnection("127.0.0.1", port, timeout=30), "Tell me a story.", 8)
    assert streamed.text == "Once upon a time"
    assert streamed.first_token_s >= FIRST_AFTER
    assert (streamed.tokens, streamed.prompt_tokens) == (8, 21)
    first, last = streamed.arrivals[0], streamed.arrivals[-1]
    # A busy machine may get to a piece late, and never early.
    assert last - streamed.started >= FIRST_AFTER + 3 * BETWEEN
    # Eight tokens, seven of them after the first.
    assert streamed.tokens_per_second == pytest.approx(7 / (last - first))


def test_the_question_is_asked_greedily_for_so_many_tokens(port: int) -> None:
    stream(http.client.HTTPConnection("127.0.0.1", port, timeout=30), "Tell me a story.", 8)
    wanted = {"temperature": 0.0, "max_tokens": 8, "stream": True}
    assert wanted.items() <= Server.asked.items()


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(MeasurementFailed, match="did not stream an answer"):
        stream(http.client.HTTPConnection("127.0.0.1", 1, timeout=5), "Hello", 8)
