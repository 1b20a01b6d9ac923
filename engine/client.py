"""The engine as the other rooms see it: starts it when needed and speaks HTTP to it over its Unix socket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answers import EngineStatus, Finished, Piece, PrivateAdapter, Sampling, TokenLogprob, Waiting
from engine.chat_body import chat_body
from engine.ending import Ending, Until
from engine.errors import (
    EngineDied,
    EngineError,
    EngineOfOtherVersion,
    EngineSilent,
    EngineStartFailed,
    EngineStopping,
    SwapBroken,
    error_from_code,
)
from engine.logprobs_object import read_logprobs
from engine.messages import PLAIN, Message, PromptOptions
from engine.pieces import pieces
from engine.starting import LOG, kill_engine, running_pid, start_engine, wait_until_gone
from engine.status_object import read_status
from engine.wire import ConnectionLost, Exchange, NobodyThere, TookTooLong

Current = TypeVar("Current")


class EngineClient:
    """Answers from the household's one engine.

    ``manifest()`` gives the digest of the snapshot that ought to be served now; an engine that serves another one
    is asked to swap before it answers.
    """

    def __init__(self, home: Home, settings: EngineSettings, manifest: Callable[[], str]) -> None:
        self._home = home
        self._settings = settings
        self._manifest = manifest

    async def chat(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        cache_key: str | None = None,
        options: PromptOptions = PLAIN,
        private: PrivateAdapter | None = None,
        snapshot: str | None = None,
        until: Until | None = None,
    ) -> AsyncGenerator[Waiting | Piece | Finished, None]:
        """The answer to ``messages``, piece by piece, ended by Finished. ``aclose()`` stops the engine's work on it.

        While every slot is taken it says the question's place in the queue. ``cache_key`` names the conversation; what
        stands before its first slash says who asks, and nobody gets every slot.

        ``options``: the tools that the model may call, and what else its template is told. Only what Delta holds is
        the answer; a thinking model's thoughts come before it. ``private``: the asking member's own adapter, which is
        left out where another snapshot than its own is current by now. ``snapshot``: the manifest of one to answer with
        in place of what is served; such an answer ends as cancelled, or does not begin, while others are answered.
        ``until``: asked after each piece whether the answer has said enough, which ends it there, as Finished tells.

        Starts the engine if none runs. If it dies before the first piece, starts it once more; raises EngineDied
        if it dies later, or again each time it was started, EngineSilent, and whatever error the engine reports.
        """
        body = chat_body(messages, sampling, cache_key, options)
        body |= {"snapshot": snapshot, "patient": True if snapshot else None}
        begun = False
        tries = _Tries()
        while True:
            try:
                async with contextlib.aclosing(self._answer(body, private, Ending(until))) as answer:
                    async for piece in answer:
                        begun = begun or not isinstance(piece, Waiting)
                        yield piece
                return
            except (ConnectionLost, EngineStopping) as error:
                if begun and isinstance(error, TookTooLong):
                    raise self._silent() from error
                if begun:
                    raise EngineDied from error
                await self._start_again(error, tries)

    async def status(self) -> EngineStatus | None:
        """The running engine's own account of itself, or None when none runs.

        Raises EngineOfOtherVersion, and EngineSilent where one runs that does not answer.
        """
        try:
            status = await self._call("GET", "/status", timeout=self._settings.status_timeout_s)
        except TookTooLong as error:
            raise self._silent() from error
        except ConnectionLost:
            return None
        return read_status(status)

    async def start(self) -> EngineStatus:
        """The status of a running engine, started if need be. Raises what kept it from starting.

        One of another version that cannot be understood is followed by the one that is installed; raises
        EngineOfOtherVersion where that cannot be either. Raises EngineSilent where one runs that does not answer.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.start_timeout_s
        ended = False
        while True:
            try:
                if running := await self.status():
                    return running
            except EngineOfOtherVersion:
                # Where this program is the older one, the next engine is no better.
                if ended:
                    raise
                ended = await self.stop()
            if loop.time() > deadline:
                raise EngineStartFailed(reason="it runs but does not answer", log=str(self._home.logs / LOG))
            await loop.run_in_executor(None, start_engine, self._home, self._settings, self._manifest())

    async def load(self, manifest_digest: str) -> None:
        """Have a running engine serve this snapshot from its next answer on; starts none.

        Returns when it is served; waits for answers in flight. Raises what the engine reports, and SwapBroken
        where it goes away over it.
        """
        # Where none runs, the next engine loads what is current then.
        with contextlib.suppress(NobodyThere, EngineStopping):
            await self._swap(manifest_digest)

    async def adopt(self, manifest_digest: str, make_current: Callable[[], Current]) -> Current:
        """Have a running engine serve a snapshot, then make it the current one; what ``make_current`` returns.

        In this order a snapshot that cannot be served never becomes the one that every question asks for, also
        where this process is killed in between: the next question then has the old one back. Where none runs and it is
        another model, one is started with it, since only native code can tell whether it can open a file. Raises what
        ``read_served``, ``load``, ``start`` and ``make_current`` raise, and then the old one is current still.
        """
        from engine.served import read_served

        loop = asyncio.get_running_loop()
        # Where no engine runs, nobody else would see a missing model or a damaged adapter before it is too late.
        await loop.run_in_executor(None, read_served, self._home, manifest_digest)
        try:
            await self._swap(manifest_digest)
        except (NobodyThere, EngineStopping) as error:
            if await loop.run_in_executor(None, self._another_model, manifest_digest):
                if isinstance(error, EngineStopping):
                    await wait_until_gone(self._home, self._settings)
                await loop.run_in_executor(None, start_engine, self._home, self._settings, manifest_digest)
                # Somebody else's question may have started one with the old model meanwhile.
                await self.load(manifest_digest)
        return make_current()

    async def stop(self) -> bool:
        """End the running engine and wait until it is gone; False when none ran. One that does not answer is killed.

        Raises EngineNotEnded, and EngineUntraced where it cannot be told which process that is.
        """
        try:
            await self._call("POST", "/shutdown", timeout=self._settings.status_timeout_s)
        except TookTooLong:
            kill_engine(self._home)
        except ConnectionLost:
            return False
        await wait_until_gone(self._home, self._settings)
        return True

    async def score(self, messages: Sequence[Message], completion: str, *, top: int = 0) -> list[TokenLogprob]:
        """What each token of ``completion``, and its end, is worth as the answer to ``messages``.

        With the ``top`` likeliest tokens at each place. Starts the engine if none runs, waits for the next one where
        this one ends, and asks once more where it dies; raises what it reports, and EngineDied as ``chat`` does.
        """
        conversation = [message.openai() for message in messages]
        body = {"messages": conversation, "completion": completion, "top_logprobs": top}
        return list(read_logprobs((await self._measure("/score", body))["content"]))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Where each text lies: vectors of length 1, nearer to each other the more alike. Raises as ``score`` does."""
        answer = await self._measure("/v1/embeddings", {"input": list(texts)})
        return [entry["embedding"] for entry in answer["data"]]

    async def tokenize(self, content: str | Sequence[Message]) -> list[int]:
        """The tokens of a text, or of a conversation as the model is asked it. Raises as ``score`` does."""
        if isinstance(content, str):
            body: dict[str, Any] = {"content": content}
        else:
            body = {"messages": [message.openai() for message in content]}
        ids: list[int] = (await self._measure("/tokenize", body))["tokens"]
        return ids

    def _silent(self) -> EngineSilent:
        return EngineSilent(pid=running_pid(self._home))

    async def _swap(self, manifest_digest: str) -> None:
        """Raises NobodyThere and EngineStopping where no engine runs, and what ``load`` raises."""
        try:
            await self._call("POST", "/snapshot", {"manifest": manifest_digest})
        except NobodyThere:
            raise
        except ConnectionLost as error:
            raise SwapBroken(reason=str(error)) from error

    def _another_model(self, manifest_digest: str) -> bool:
        """Whether this snapshot rests on another model than the current one, or on who knows which."""
        from engine.served import read_recorded

        new = read_recorded(self._home, manifest_digest).base_sha256
        try:
            return read_recorded(self._home, self._manifest()).base_sha256 != new
        except EngineError:
            return True

    async def _measure(self, target: str, body: dict[str, Any]) -> Any:
        tries = _Tries()
        while True:
            try:
                return await self._call("POST", target, {**body, "manifest": self._manifest()})
            except (ConnectionLost, EngineStopping) as error:
                await self._start_again(error, tries)

    async def _start_again(self, error: ConnectionLost | EngineStopping, tries: _Tries) -> None:
        """Have an engine for what was not answered because of ``error``; raises EngineDied where that is no chance."""
        if isinstance(error, EngineStopping | NobodyThere):
            tries.starts += 1
        else:
            tries.deaths += 1
        if tries.starts > self._settings.most_starts or tries.deaths > 1:
            raise EngineDied from error
        if isinstance(error, EngineStopping):
            await wait_until_gone(self._home, self._settings)
        await self.start()

    async def _answer(
        self, body: dict[str, Any], private: PrivateAdapter | None, ending: Ending
    ) -> AsyncGenerator[Waiting | Piece | Finished, None]:
        exchange = Exchange(self._home.engine_socket, self._settings.silence_timeout_s)
        try:
            body["manifest"] = manifest = self._manifest()
            body["private"] = asdict(private) if private and private.manifest == manifest else None
            status = await exchange.send("POST", "/v1/chat/completions", body)
            if status != 200:
                raise _reported(await exchange.json())
            async for event in exchange.server_events():
                if "error" in event:
                    raise _reported(event)
                going_on = not ending.reached
                for piece in pieces(event):
                    if (kept := ending.kept(piece)) is not None:
                        yield kept
                if going_on and ending.reached:
                    await self._cancel(event["id"])
        finally:
            exchange.close()

    async def _cancel(self, answer_id: str) -> None:
        # Where it cannot be told so, the answer ends all the same, only later.
        with contextlib.suppress(ConnectionLost, EngineError):
            await self._call("POST", "/cancel", {"id": answer_id}, timeout=self._settings.status_timeout_s)

    async def _call(self, method: str, target: str, body: Any | None = None, *, timeout: float | None = None) -> Any:
        exchange = Exchange(self._home.engine_socket, timeout or self._settings.request_timeout_s)
        try:
            status = await exchange.send(method, target, body)
            answer = await exchange.json()
        finally:
            exchange.close()
        if status >= 400:
            raise _reported(answer)
        return answer


@dataclass
class _Tries:
    """How often an engine was started for one question, and how often one died over it."""

    starts: int = 0
    deaths: int = 0


def _reported(answer: Any) -> Exception:
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict) or "code" not in error:
        return ConnectionLost(f"an answer that is no error of the engine's: {answer!r:.200}")
    return error_from_code(error["code"], error.get("facts", {}))
