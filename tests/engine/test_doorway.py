"""What comes in over HTTP: what is none, or comes too late, is told so in our own form, and holds nothing open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.client import EngineClient
from tests.engine.conftest import CONFIG, PATIENCE, House
from tests.engine.snapshots import write_manifest
from tests.engine.test_server import openai

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"


@pytest.fixture
async def brisk(home: Home, engine_settings: EngineSettings, starter: Path) -> AsyncIterator[House]:
    """A home whose engine waits no longer than a moment for a request to arrive."""
    home.config_file.write_text(CONFIG.replace("}", ", request_read_timeout_s: 0.3}"))
    digest = write_manifest(home, starter)
    made = House(home, EngineClient(home, engine_settings, lambda: digest), engine_settings, starter, digest)
    await made.client.start()
    yield made
    await made.client.stop()


async def said(house: House, *pieces: bytes) -> bytes:
    """All that the engine says to these bytes until it closes the connection."""
    reader, writer = await asyncio.open_unix_connection(str(house.home.engine_socket))
    try:
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0.05)
        async with asyncio.timeout(PATIENCE):
            return await reader.read()
    finally:
        writer.close()


async def test_a_connection_that_says_nothing_or_half_a_head_is_closed(brisk: House) -> None:
    assert await said(brisk) == b""
    assert await said(brisk, HEAD[:40]) == b""


async def test_a_body_that_does_not_arrive_is_told_so(brisk: House) -> None:
    answered = await said(brisk, HEAD, b"{")
    assert answered.startswith(b"HTTP/1.1 400")
    assert b'"code": "request_wrong"' in answered
    assert b'"field": "body"' in answered


async def test_half_a_second_request_on_one_connection_is_not_waited_for(brisk: House) -> None:
    answered = await said(brisk, b"GET /status HTTP/1.1\r\nHost: x\r\n\r\n", HEAD[:40])
    assert answered.count(b"HTTP/1.1 200") == 1


@pytest.mark.parametrize(
    "content",
    [
        b"hello\r\n\r\n",
        b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ],
)
async def test_what_is_no_http_gets_our_error_object(brisk: House, content: bytes) -> None:
    answered = await said(brisk, content)
    assert answered.startswith(b"HTTP/1.1 400")
    assert b'"code": "request_wrong"' in answered
    assert b"no valid HTTP/1.1 request" in answered


@pytest.mark.parametrize("route", ["/v1/chat/completions", "/snapshot"])
@pytest.mark.parametrize("length", ["8388609", "9" * 20, "9" * 5000])
async def test_what_calls_itself_too_large_is_refused_by_its_head(house: House, route: str, length: str) -> None:
    await house.client.start()
    reader, writer = await asyncio.open_unix_connection(str(house.home.engine_socket))
    try:
        writer.write(f"POST {route} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{{".encode())
        # The rest is waited for as long as engine.request_read_timeout_s.
        async with asyncio.timeout(house.settings.request_read_timeout_s / 2):
            answered = await reader.readuntil(b"}}")
    finally:
        writer.close()
    assert answered.startswith(b"HTTP/1.1 400")
    assert b"larger than 8388608 bytes" in answered or b"no valid HTTP/1.1 request" in answered


async def test_a_broken_chunk_in_mid_body_gets_our_error_object(brisk: House) -> None:
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    answered = await said(brisk, head, b"zz\r\n")
    assert answered.startswith(b"HTTP/1.1 400")
    assert b'"code": "request_wrong"' in answered


async def test_an_unknown_path_and_an_unknown_method_are_told_in_our_form(brisk: House) -> None:
    async with openai(brisk) as client:
        nowhere = await client.get("/v1/chat/completions/")
        wrong = await client.delete("/status")
    assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (404, "no_such_route")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "no_such_route")
    assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD"}
