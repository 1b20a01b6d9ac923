"""Data sets are fetched from a hub, over real HTTP, whole and once, and what cannot be had is told."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import load_settings
from trainer.corpus.errors import DataSetNotFetched, DataSetUnreadable
from trainer.corpus.hub import Hub
from trainer.corpus.preparing import Interrupted
from trainer.corpus.readers.document import Document
from trainer.corpus.readers.sources import files_of

PULL = {
    "backoff_s": 0.001,
    "longest_backoff_s": 0.01,
    "attempts": 3,
    "first_attempts": 2,
    "fresh_starts": 1,
    "part_mb": 1,
}
LINES = b"".join(json.dumps({"text": f"Línea {number}."}).encode() + b"\n" for number in range(3000))


@dataclass
class DataHub:
    """A hub with one data set. ``drops``: answers that break off; ``corrupt``: that have a wrong byte."""

    files: dict[str, bytes]
    drops: int = 0
    corrupt: int = 0
    status: int = 200
    asked: list[str] = field(default_factory=list)
    address: str = ""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: DataHub

    def do_GET(self) -> None:
        hub = self.hub
        hub.asked.append(self.path)
        if self.path == "/api/datasets/casa/cuentos/revision/main":
            listed = [{"rfilename": name} for name in (*hub.files, "README.md", "../fuera.txt", ".gitattributes")]
            self._answer(hub.status, json.dumps({"sha": "abc123", "siblings": listed}).encode(), {})
            return
        content = hub.files.get(self.path.removeprefix("/datasets/casa/cuentos/resolve/abc123/"))
        if content is None:
            self._answer(404, b"", {})
            return
        headers = {"X-Linked-ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
        if (asked := self.headers["Range"]) is None:
            self._answer(200, content, headers)
            return
        first, last = map(int, asked.removeprefix("bytes=").split("-"))
        last = min(last, len(content) - 1)
        body = bytearray(content[first : last + 1])
        if len(body) > 1 and hub.corrupt:
            hub.corrupt -= 1
            body[7] ^= 1
        self._answer(206, bytes(body), {**headers, "Content-Range": f"bytes {first}-{last}/{len(content)}"})

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if len(body) > 1 and self.hub.drops and "X-Linked-ETag" in headers:
            self.hub.drops -= 1
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
            return
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def hub() -> Iterator[DataHub]:
    made = DataHub({"datos/uno.jsonl.gz": gzip.compress(LINES), "dos.txt": b"Un cuento.\n", "tres.parquet": b"PAR1"})
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"hub": made}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    made.address = f"http://127.0.0.1:{server.server_port}"
    yield made
    server.shutdown()
    server.server_close()
    thread.join()


def fetcher(home: Home, hub: DataHub, *, stopping: bool = False) -> Hub:
    settings = load_settings(home, {}, {"engine": {"hub": hub.address, "pull": PULL}}).engine
    return Hub(home.corpora, settings, lambda *_: None, lambda: stopping)


@pytest.mark.parametrize(("drops", "corrupt"), [(0, 0), (2, 0), (0, 1)])
def test_a_data_set_is_fetched_whole_and_read(home: Home, hub: DataHub, drops: int, corrupt: int) -> None:
    hub.drops, hub.corrupt = drops, corrupt
    places = fetcher(home, hub).fetch("casa/cuentos")
    assert [(place.path.name, place.form) for place in places] == [("uno.jsonl.gz", "jsonl"), ("dos.txt", "text")]
    read = [each for file in files_of(places) for each in file.read(10_000)]
    assert len(read) == 3001
    assert all(isinstance(each, Document) for each in read)
    # What is not read, and what leads out of the folder, is not asked for.
    assert not any("parquet" in path or "README" in path or "fuera" in path for path in hub.asked)
    folder = home.corpora / "hub" / "casa__cuentos" / "main"
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        "dos.txt",
        "files.json",
        "uno.jsonl.gz",
    ]


def test_what_was_fetched_once_is_not_asked_for_again(home: Home, hub: DataHub) -> None:
    first = fetcher(home, hub).fetch("casa/cuentos")
    asked = len(hub.asked)
    assert fetcher(home, hub).fetch("casa/cuentos") == first
    assert len(hub.asked) == asked
    # A file that was taken away is fetched, and only that one.
    first[1].path.unlink()
    assert fetcher(home, hub).fetch("casa/cuentos") == first
    assert not any("uno" in path for path in hub.asked[asked:])


def test_a_data_set_that_cannot_be_had_is_told(home: Home, hub: DataHub) -> None:
    with pytest.raises(DataSetNotFetched, match="answers 404"):
        fetcher(home, hub).fetch("casa/otros")
    hub.status = 503
    with pytest.raises(DataSetNotFetched, match="503"):
        fetcher(home, hub).fetch("casa/cuentos")
    hub.status, hub.corrupt = 200, 100
    with pytest.raises(DataSetNotFetched, match="what arrives is not"):
        fetcher(home, hub).fetch("casa/cuentos")
    hub.corrupt, hub.files = 0, {"tres.parquet": b"PAR1"}
    with pytest.raises(DataSetUnreadable, match=r"tres\.parquet"):
        fetcher(home, hub).fetch("casa/cuentos")


def test_a_wish_to_stop_ends_a_download_which_goes_on_later(home: Home, hub: DataHub, tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        fetcher(home, hub, stopping=True).fetch("casa/cuentos")
    assert len(fetcher(home, hub).fetch("casa/cuentos")) == 2
