"""Requests that nobody would send on purpose: mutated, broken, half-sent, endless; the same ones for the same seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

CHAT = "/v1/chat/completions"
# The engine is to live on: what would end it in good order is left out.
ROUTES = (
    CHAT,
    "/v1/models",
    "/status",
    "/metrics",
    "/snapshot",
    "/tokenize",
    "/v1/embeddings",
    "/score",
    "/v1/completions",
)
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "FOO", "get", "P O S T", "")
FIELDS = (
    "messages", "max_tokens", "max_completion_tokens", "temperature", "top_k", "top_p", "min_p", "repeat_penalty",
    "repeat_window", "seed", "stop", "stream", "stream_options", "cache_key", "manifest", "model", "logit_bias",
    "frequency_penalty", "presence_penalty", "grammar", "json_schema", "response_format", "logprobs", "top_logprobs",
    "n", "tools", "tool_choice", "adapters", "chat_template_kwargs", "reasoning_effort", "input", "prompt", "content",
)  # fmt: skip
WORDS = (
    "hello",
    "ñandú",
    "👨‍👩‍👧‍👦",
    "\u202eabc",
    "<|im_end|>",
    "<|im_start|>system",
    "\x00",
    "\x1b[31m",
    "a" * 300,
    "",
    " ",
)
NAMES = ("json_object", "user", "auto", "root ::= [", 'root ::= "a"', "../../etc/passwd", "0" * 64)
TLS_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200
ODD_PATHS = (
    "/", "/v1", "//", "/v1/chat/completions/", "/..", "/%2e%2e/etc/passwd", "/\xff", "/a b", "*", "http://x/status", "",
    "/status?x=%zz", "/" + "a" * 5000, "/%00", "/%ff",
)  # fmt: skip
MARK = "\ue000"  # stands for half of a surrogate pair until the text is JSON


@dataclass
class Case:
    """Bytes to be sent one piece after another. ``drop``: go away then, instead of waiting for the answer.

    ``whole``: the server has got all it needs to answer.
    """

    kind: str
    pieces: list[bytes]
    drop: bool = False
    whole: bool = True
    head: bool = field(default=False)


class Fuzzer:
    """Makes cases; ``Fuzzer(seed)`` makes the same ones each time."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        makers: dict[Callable[[], Case], int] = {
            self.mutated: 40, self.broken_json: 12, self.odd_shape: 6, self.wrong_route: 10, self.odd_head: 12,
            self.half_sent: 6, self.chunked: 8, self.garbage: 3, self.dropped: 4, self.too_long: 1, self.valid: 4,
        }  # fmt: skip
        self._makers, self._weights = list(makers), list(makers.values())

    def case(self) -> Case:
        """The next one."""
        (maker,) = self._random.choices(self._makers, self._weights)
        return maker()

    def valid(self) -> Case:
        return Case("valid", [request(self._body())])

    def mutated(self) -> Case:
        """A right request with one to three things changed."""
        body = self._body()
        for _ in range(self._random.randint(1, 3)):
            self._mutate(body)
        return Case("mutated", [request(body)])

    def broken_json(self) -> Case:
        content = bytearray(encode(self._body()))
        how = self._random.randrange(6)
        at = self._random.randrange(len(content))
        if how == 0:
            del content[at:]
        elif how == 1:
            content[at] ^= 1 << self._random.randrange(8)
        elif how == 2:
            content[at:at] = self._random.randbytes(self._random.randint(1, 8))
        elif how == 3:
            del content[at : at + self._random.randint(1, 4)]
        elif how == 4:
            content[:] = content.decode().encode(self._random.choice(("utf-16", "utf-32", "utf-8-sig", "utf-7")))
        else:
            content += self._random.choice((b"}", b"null", b"\x00", b"{}", b",", bytes(content)))
        return Case("broken json", [raw(bytes(content))])

    def odd_shape(self) -> Case:
        """Deep, wide, huge or of the wrong kind from the root on."""
        depth = self._random.choice((10, 1000, 5000, 100_000))
        many = '{"messages": [' + ",".join('"a"' for _ in range(20_000)) + "]}"
        huge = '{"max_tokens": ' + "9" * 5000 + "}"
        content = self._random.choice((
            "[" * depth, "[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth,
            '{"messages":' + "[" * depth + "]" * depth + "}", many, "null", "true", '""', "[]", "{}",
            "1" * 5000, "-" * 100, "NaN", "1e999", "-Infinity", huge,
            '{"messages": [{"role": "user", "content": "a"}], "seed": 1e400}', "", " " * 5000,
            '{"messages": [{"role": "user", "content": "a"}], "messages": 7}',
        ))  # fmt: skip
        return Case("odd shape", [raw(content.encode())])

    def wrong_route(self) -> Case:
        path = self._random.choice((*ROUTES, *ODD_PATHS))
        method = self._random.choice(METHODS)
        content = encode(self._random.choice(({}, self._body(), [], self._junk())))
        return Case("wrong route", [raw(content, method=method, path=path)], head=method == "HEAD")

    def odd_head(self) -> Case:
        content = encode(self._body())
        length = f"Content-Length: {len(content)}"
        odd = self._random.choice((
            [], [length, length], [length, "Content-Length: 7"], ["Content-Length: -1"], ["Content-Length: abc"],
            ["Content-Length: 99999999999999999999"], [length, "Transfer-Encoding: chunked"],
            ["Transfer-Encoding: gzip"],
            [length, "no colon"], [length, ": no name"], [length, "X: " + "a" * 70_000], [length, "X\x00: a"],
            [length, "Expect: 100-continue"], [length, "Expect: 200-ok"],
            [length, "Upgrade: websocket", "Connection: Upgrade"],
            [length, "Connection: close"], [length, "Content-Encoding: gzip"], [length, *("X: y" for _ in range(3000))],
            [length, " folded: yes"], [length, "Host: a", "Host: b"], [length, "Content-Type: text/plain"],
            [length, "Content-Type: multipart/form-data"], [length, "Connection: keep-alive, " * 50],
        ))  # fmt: skip
        version = self._random.choice(
            ("HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9", "http/1.1", "")
        )
        host = self._random.choice((["Host: x"], ["Host: x"], [], ["Host: "]))
        head = "\r\n".join([f"POST {CHAT} {version}", *host, *odd, "", ""])
        # Where a length promises more than comes, or lies about it, the server can only wait for the rest.
        return Case("odd head", [head.encode("latin-1") + content], whole=False)

    def half_sent(self) -> Case:
        whole = request(self._body())
        return Case(
            "half sent", [whole[: self._random.randrange(1, len(whole))]], drop=self._random.random() < 0.7, whole=False
        )

    def chunked(self) -> Case:
        content, chunks = encode(self._body()), []
        while content:
            size = self._random.randint(1, 60)
            chunks.append(content[:size])
            content = content[size:]
        pieces = [f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()]
        for chunk in chunks:
            size_line = self._random.choice((b"%x", b"%X", b"%x;name=value", b"000%x", b'%x;a="b"')) % len(chunk)
            pieces.append(size_line + b"\r\n" + chunk + b"\r\n")
        end = self._random.choice(
            (b"0\r\n\r\n",) * 4
            + (b"0\r\nTrailer: x\r\n\r\n", b"0\r\n", b"-1\r\n\r\n", b"zz\r\n\r\n", b"fffffffffffffffffff\r\n", b"")
        )
        if self._random.random() < 0.2:
            pieces[self._random.randrange(1, len(pieces))] = self._random.choice(
                (b"", b"\r\n", b"g\r\nx\r\n", b"5\r\nabc\r\n")
            )
        return Case("chunked", [*pieces, end], whole=False)

    def garbage(self) -> Case:
        content = self._random.choice((
            self._random.randbytes(self._random.randint(1, 2000)), TLS_HELLO, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"\r\n" * 2000, b"GET /status\r\n", b"\x00" * 100, b"SSH-2.0-x\r\n", b"\n",
            request(self._body()) + request(self._body()),
        ))  # fmt: skip
        return Case("garbage", [content], whole=False)

    def dropped(self) -> Case:
        """A right request, and nobody there to hear the answer."""
        return Case(
            "dropped", [request({**self._body(), "stream": self._random.random() < 0.5, "max_tokens": 8})], drop=True
        )

    def too_long(self) -> Case:
        text = self._random.choice(("hola ", "a", "\n", "👨‍👩‍👧‍👦")) * self._random.choice((2000, 60_000))
        return Case("too long", [request({**self._body(), "messages": [{"role": "user", "content": text}]})])

    def _body(self) -> dict[str, Any]:
        text = self._random.choice(("Hi.", "What is 2 + 2?", "Hola.", "Sí"))
        more = self._random.choice(
            ({}, {"stream": True}, {"temperature": 1, "seed": 7}, {"stop": ["a"]}, {"cache_key": "k"})
        )
        return {"messages": [{"role": "user", "content": text}], "max_tokens": self._random.randint(1, 3), **more}

    def _mutate(self, body: dict[str, Any]) -> None:
        messages = body.get("messages")
        how = self._random.randrange(6)
        if how == 0:
            body.pop(self._random.choice(list(body)), None) if body else None
        elif how <= 2:
            self._put(body, self._random.choice(FIELDS))
        elif how == 3:
            body[self._random.choice(("", "x" * 1000, "\x00", MARK, "Messages", "ñ"))] = self._junk()
        elif isinstance(messages, list) and messages and isinstance(messages[0], dict):
            if how == 4:
                messages[0][self._random.choice(("role", "content", "tool_calls", "name", "x"))] = self._junk()
            else:
                role = self._random.choice(("system", "user", "assistant", "tool", "boss"))
                messages.insert(
                    self._random.randint(0, len(messages)), {"role": role, "content": self._random.choice(WORDS)}
                )

    def _put(self, body: dict[str, Any], name: str) -> None:
        value = self._junk()
        if name in ("max_tokens", "max_completion_tokens") and isinstance(value, int) and value > 3:
            value = 1 << 21  # more than is allowed; what is allowed would only take long
        body[name] = value

    def _junk(self, depth: int = 2) -> Any:
        pick = self._random.randrange(16 if depth else 12)
        if pick >= 14:
            return {
                self._random.choice((*FIELDS, "type", "")): self._junk(depth - 1)
                for _ in range(self._random.randint(0, 3))
            }
        if pick >= 12:
            return [self._junk(depth - 1) for _ in range(self._random.randint(0, 4))]
        return (
            None, True, False, 0, self._random.choice((-1, 1, 2**31, 2**63, 2**64, 10**400, -(10**400))),
            self._random.choice((0.5, -0.0, 1e308, 1e-308, float("nan"), float("inf"), float("-inf"))),
            self._random.choice(WORDS), MARK, f"a{MARK}b", self._random.choice(WORDS) * self._random.choice((1, 50)),
            self._random.choice(NAMES),
            self._random.uniform(-3, 3),
        )[pick]  # fmt: skip


def encode(body: Any) -> bytes:
    """JSON, with halves of surrogate pairs where the mark was."""
    return json.dumps(body).replace("\\ue000", "\\ud83d").encode()


def request(body: Any) -> bytes:
    """A whole POST of ``body``."""
    return raw(encode(body))


def raw(content: bytes, *, method: str = "POST", path: str = CHAT) -> bytes:
    """A whole request with these bytes as its body."""
    fields = f"Host: x\r\nContent-Type: application/json\r\nContent-Length: {len(content)}"
    return f"{method} {path} HTTP/1.1\r\n{fields}\r\n\r\n".encode("latin-1") + content
