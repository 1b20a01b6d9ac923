"""Requests about given texts: how many tokens they are, what an answer would be worth, where a text lies."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answering import serve_manifest
from engine.conversation_fields import read_messages
from engine.errors import EngineBusy, EngineStopping, PromptTooLong, RequestWrong
from engine.fields import check_request
from engine.loaded import Loaded
from engine.logprobs_object import token_object
from engine.sampling_fields import read_number
from engine.scheduler import Scheduler

T = TypeVar("T")
Ids = list[int]


class Measuring:
    """Answers to such requests, each given as a JSON object and returned as one. Raises RequestWrong.

    What is computed runs between the steps of the answers, so that nobody's answer waits for more than a chunk of it.
    ``manifest`` in a request is the snapshot to be served first. EngineBusy with as many of them in work
    or waiting as there may be questions.
    """

    def __init__(self, home: Home, scheduler: Scheduler, settings: EngineSettings) -> None:
        self._home = home
        self._scheduler = scheduler
        self._settings = settings
        self._working = 0

    async def tokenize(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The tokens of ``content``, a text, or of ``messages``, as a question of them would be read."""
        check_request(given, ("content", "messages", "manifest"))
        await self._serve(given)
        content = given.get("content")
        if (content is None) == (given.get("messages") is None):
            raise RequestWrong(field="content", reason="either content or messages is needed")
        if content is None:
            messages = read_messages(given["messages"], self._settings.context_size)
            ids = await self._read(lambda loaded: loaded.prompt(messages).ids)
        else:
            text = _text(content, "content")
            ids = await self._read(lambda loaded: loaded.tokens(text))
        return {"tokens": ids, "count": len(ids), "context_size": self._scheduler.loaded.context_size}

    async def score(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What each token of ``completion``, and its end, is worth as the answer to ``messages``.

        PromptTooLong where the two are longer than a conversation may be.
        """
        from engine.measures import score_steps
        from engine.routes import routed

        check_request(given, ("messages", "completion", "top_logprobs", "manifest"))
        messages = read_messages(given.get("messages"), self._settings.context_size)
        completion = _text(given.get("completion"), "completion")
        top = read_number(given.get("top_logprobs") or 0, "top_logprobs")
        await self._serve(given)

        def read(loaded: Loaded) -> tuple[Ids, Ids]:
            prompt, answer = loaded.pair(messages, completion)
            _check_length(loaded, len(prompt) + len(answer))
            return prompt, answer

        def steps(loaded: Loaded, ids: tuple[Ids, Ids]) -> Generator[None, None, Any]:
            served = loaded.served
            tokens = yield from score_steps(loaded, routed(served.adapters, messages), *ids, top)
            return tokens, len(ids[0]), served

        tokens, read_tokens, served = await self._run(read, steps)
        return {
            "object": "score",
            "model": served.model_name,
            "logprob": sum(token.logprob for token in tokens),
            "content": [token_object(token) for token in tokens],
            "usage": _usage(read_tokens, len(tokens)),
            "enlace": {"snapshot": served.name},
        }

    async def embeddings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """OpenAI's embeddings of ``input``: a text, tokens, or a list of either."""
        from engine.measures import embed_steps

        check_request(given, ("input", "encoding_format", "dimensions", "user", "manifest"))
        inputs = _inputs(given.get("input"))
        form = given.get("encoding_format") or "float"
        if form not in ("float", "base64"):
            raise RequestWrong(field="encoding_format", reason="must be float or base64")
        await self._serve(given)
        width = self._scheduler.loaded.model.width
        if given.get("dimensions") not in (None, width):
            raise RequestWrong(field="dimensions", reason=f"this model gives {width}")

        def read(loaded: Loaded) -> list[Ids]:
            texts, total = [], 0
            # One text that fits the context is always taken.
            most = max(self._settings.most_embedded_tokens, loaded.context_size)
            for place, each in enumerate(inputs):
                ids = loaded.tokens(each) if isinstance(each, str) else each
                texts.append(ids)
                if max(ids, default=0) >= loaded.vocabulary.size:
                    raise RequestWrong(field=f"input[{place}]", reason="a token that the model does not have")
                if not ids:
                    raise RequestWrong(field=f"input[{place}]", reason="the model makes no tokens of this text")
                _check_length(loaded, len(ids))
                total += len(ids)
                if total > most:
                    reason = f"{total} tokens and more, of which one request may have {most}"
                    raise RequestWrong(field="input", reason=reason)
            return texts

        def steps(loaded: Loaded, texts: list[Ids]) -> Generator[None, None, Any]:
            served = loaded.served
            found = yield from embed_steps(loaded, texts)
            return found, sum(map(len, texts)), served

        found, count, served = await self._run(read, steps)
        data = [
            {
                "object": "embedding",
                "index": place,
                "embedding": base64.b64encode(each.tobytes()).decode() if form == "base64" else each.tolist(),
            }
            for place, each in enumerate(found)
        ]
        usage = {"prompt_tokens": count, "total_tokens": count}
        return {
            "object": "list",
            "model": served.model_name,
            "data": data,
            "usage": usage,
            "enlace": {"snapshot": served.name},
        }

    async def _serve(self, given: Mapping[str, Any]) -> None:
        manifest = given.get("manifest")
        if manifest is not None:
            await serve_manifest(self._home, self._scheduler, _text(manifest, "manifest"))

    async def _read(self, read: Callable[[Loaded], T]) -> T:
        """What ``read`` makes of the model that is served. A long text takes its time, so not in the event loop."""
        return (await asyncio.get_running_loop().run_in_executor(self._scheduler.readers, self._read_now, read))[1]

    def _read_now(self, read: Callable[[Loaded], T]) -> tuple[Loaded, T]:
        while True:
            loaded = self._scheduler.loaded
            try:
                return loaded, read(loaded)
            except EngineStopping:
                # Another model took its place meanwhile, or none did.
                if loaded is self._scheduler.loaded:
                    raise

    async def _run(
        self,
        read: Callable[[Loaded], T],
        steps: Callable[[Loaded, T], Generator[None, None, Any]],
    ) -> Any:
        """Read the texts, then have the work done; it ends early where whoever waits is cancelled."""
        if self._working >= self._settings.queue_length + self._settings.slots:
            raise EngineBusy(waiting=self._working)
        self._working += 1
        try:
            return await self._run_now(read, steps)
        finally:
            self._working -= 1

    async def _run_now(
        self,
        read: Callable[[Loaded], T],
        steps: Callable[[Loaded, T], Generator[None, None, Any]],
    ) -> Any:
        loop = asyncio.get_running_loop()
        reader, ids = await loop.run_in_executor(self._scheduler.readers, self._read_now, read)

        def task(loaded: Loaded) -> Generator[None, None, Any]:
            # Another model may have come in: to that one these tokens mean something else.
            return (yield from steps(loaded, ids if loaded is reader else read(loaded)))

        return await asyncio.wrap_future(self._scheduler.run_in_background(task))


def _check_length(loaded: Loaded, tokens: int) -> None:
    if tokens > loaded.context_size:
        raise PromptTooLong(prompt_tokens=tokens, context_size=loaded.context_size)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise RequestWrong(field=name, reason="a text that is not empty is needed")
    return value


def _inputs(given: Any) -> list[str | Ids]:
    """OpenAI's four forms of input as a list of texts and lists of tokens."""
    entries = [given] if isinstance(given, str) or _is_ids(given) else given
    if not isinstance(entries, list) or not entries:
        raise RequestWrong(field="input", reason="a text, tokens or a list of them is needed")
    for place, entry in enumerate(entries):
        if not (isinstance(entry, str) and entry) and not _is_ids(entry):
            raise RequestWrong(field=f"input[{place}]", reason="a text that is not empty, or tokens, is needed")
    return entries


def _is_ids(value: Any) -> bool:
    whole = isinstance(value, list) and all(isinstance(each, int) and not isinstance(each, bool) for each in value)
    return whole and bool(value) and min(value) >= 0


def _usage(prompt: int, answer: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}
