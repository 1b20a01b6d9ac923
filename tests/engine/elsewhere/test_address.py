"""Where a server is: what counts as an address, what is sent where, and which key goes with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.elsewhere.address import is_public, place_of
from engine.elsewhere.errors import ServerAddressWrong, ServerKeyMissing, ServerOutside
from tests.engine.elsewhere.conftest import Guest, answer
from tests.engine.elsewhere.openai_doubles import LlamaServerDouble


@pytest.mark.parametrize(
    ("url", "host", "prefix"),
    [
        ("http://127.0.0.1:8080", "127.0.0.1:8080", ""),
        ("http://127.0.0.1:8080/", "127.0.0.1:8080", ""),
        ("http://gpu.local:8000/v1", "gpu.local:8000", ""),
        ("http://gpu.local:8000/v1/", "gpu.local:8000", ""),
        ("https://gpu.local/llm/v1", "gpu.local", "/llm"),
        ("http://gpu.local:80", "gpu.local", ""),
        ("http://[::1]:9000", "[::1]:9000", ""),
    ],
)
def test_an_address_is_read_as_people_copy_it(guest: Guest, url: str, host: str, prefix: str) -> None:
    place = place_of(guest.settings("vllm", url).server, {})
    assert (place.host, place.prefix) == (host, prefix)


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8080",
        "ftp://gpu",
        "http://",
        "http://:8080",
        "http://a b",
        "http://gpu:99999",
        "http://gpu/?key=1",
        "http://g\npu",
    ],
)
def test_what_is_no_address_is_refused(guest: Guest, url: str) -> None:
    with pytest.raises(ServerAddressWrong):
        place_of(guest.settings("vllm", "http://gpu").server.model_copy(update={"url": url}), {})


def test_a_key_in_an_address_is_refused_and_not_repeated(guest: Guest) -> None:
    with pytest.raises(ServerAddressWrong) as caught:
        place_of(guest.settings("vllm", "http://me:hunter2@gpu:8000").server, {})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("127.0.0.1", False), ("::1", False), ("192.168.1.7", False), ("10.0.0.1", False), ("172.16.5.5", False),
        ("169.254.3.3", False), ("fe80::1%eth0", False), ("fd00::1", False), ("100.64.0.9", False),
        ("::ffff:192.168.1.7", False), ("8.8.8.8", True), ("2606:4700::1", True), ("::ffff:8.8.8.8", True),
        ("nonsense", True),
    ],
)  # fmt: skip
def test_an_address_that_the_whole_world_can_have_is_outside_the_house(address: str, public: bool) -> None:
    assert is_public(address) is public


async def test_nothing_is_sent_to_an_address_outside_the_house(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.elsewhere.address.is_public", lambda _address: True)
    async with (double := LlamaServerDouble()).running():
        with pytest.raises(ServerOutside):
            await answer(guest.client("llama-server", double), guest)
        assert double.asked == []
        said, _ = await answer(guest.client("llama-server", double, outside=True), guest)
        assert said == "Hola, soy yo."


async def test_the_key_goes_with_every_request_and_is_shown_nowhere(guest: Guest, tmp_path: Path) -> None:
    guest.environ["HOUSE_KEY"] = "sk-secret"
    (tmp_path / "key").write_text("sk-of-a-file\n")
    async with (double := LlamaServerDouble()).running():
        for named, key in (
            ({"key_variable": "HOUSE_KEY"}, "sk-secret"),
            ({"key_file": str(tmp_path / "key")}, "sk-of-a-file"),
        ):
            client = guest.client("llama-server", double, **named)
            double.asked.clear()
            await answer(client, guest)
            assert double.asked
            assert {asked.headers["authorization"] for asked in double.asked} == {f"Bearer {key}"}
            assert key not in repr(client._line.place)
            assert key not in repr(await client.status())


@pytest.mark.parametrize("content", [None, "", "two words", "ñandú"])
def test_a_key_that_is_not_there_or_cannot_be_one_is_an_error(guest: Guest, content: str | None) -> None:
    settings = guest.settings("vllm", "http://gpu", key_variable="HOUSE_KEY").server
    with pytest.raises(ServerKeyMissing) as caught:
        place_of(settings, {} if content is None else {"HOUSE_KEY": content})
    assert caught.value.facts == {"place": "HOUSE_KEY"}
    with pytest.raises(ServerKeyMissing):
        place_of(guest.settings("vllm", "http://gpu", key_file="/nowhere/key").server, {})
