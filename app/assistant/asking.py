"""Asks the engine with as much of the conversation as its context holds: the oldest turns leave first."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from app.assistant.prompting import Material, messages, text_size
from configs.sections.assistant import AssistantSettings, Form
from engine.answers import Called, Delta, Finished, PrivateAdapter, Sampling, Thought, Usage, Waiting
from engine.ending import Until
from engine.errors import PromptTooLong
from engine.interface import Engine
from engine.messages import PLAIN, PromptOptions, thinking


@dataclass(frozen=True)
class Accepted:
    """The engine took the prompt; ``left_out`` is how many of the oldest messages did not fit."""

    left_out: int


class Asker:
    """Puts prompts to the engine. Learns from each answer how many bytes a token of this household's text holds."""

    def __init__(
        self,
        engine: Engine,
        settings: AssistantSettings,
        context_size: int,
        private: Callable[[], PrivateAdapter | None],
    ) -> None:
        """``private()``: the adapter of whoever asks, looked up for each prompt."""
        self._engine = engine
        self._private = private
        self._settings = settings
        self._context_size = context_size
        self._bytes_per_token = settings.bytes_per_token

    async def ask(
        self,
        material: Material,
        sampling: Sampling,
        cache_key: str,
        form: Form = "line",
        *,
        briefly: bool = False,
        until: Until | None = None,
    ) -> AsyncGenerator[Waiting | Accepted | Delta | Thought | Finished, None]:
        """Its places in the queue, Accepted, then the answer. ``briefly``: a model that thinks shall answer at once.
        ``until``: where the answer has said enough.

        Raises PromptTooLong when the question alone does not fit.
        """
        dropped = self._too_many(material, form)
        while True:
            kept = replace(material, history=material.history[dropped:])
            prompt = messages(kept, form)
            accepted = False
            try:
                options, own = self._options(briefly), self._private()
                answer = self._engine.chat(
                    prompt, sampling, cache_key=cache_key, options=options, private=own, until=until
                )
                async with aclosing(answer) as stream:
                    async for piece in stream:
                        if isinstance(piece, Waiting):
                            yield piece
                            continue
                        if not accepted:
                            accepted = True
                            yield Accepted(2 * dropped)
                        if isinstance(piece, Finished):
                            self._learn(text_size(prompt), piece.usage)
                        if not isinstance(piece, Called):
                            # No tool was offered, so a call is a server's mistake.
                            yield piece
                return
            except PromptTooLong as error:
                if accepted or dropped == len(material.history):
                    raise
                self._learn_sizes(text_size(prompt), error)
                dropped = max(dropped + 1, self._too_many(material, form))

    def _options(self, briefly: bool) -> PromptOptions:
        wish = "off" if briefly else self._settings.thinking
        return PLAIN if wish == "model" else PromptOptions(variables=thinking(wish == "on"))

    def _too_many(self, material: Material, form: Form) -> int:
        """How many of the oldest exchanges have to go, by what is known of the size of tokens."""
        room = max(0, self._context_size - self._settings.answer_reserve) * self._bytes_per_token
        room -= text_size(messages(replace(material, history=()), form))
        kept = 0
        for exchange in reversed(material.history):
            room -= exchange.size
            if room < 0:
                break
            kept += 1
        return len(material.history) - kept

    def _learn_sizes(self, size: int, error: PromptTooLong) -> None:
        """A server of the family's may leave either size unsaid."""
        asked, held = error.facts.get("prompt_tokens"), error.facts.get("context_size")
        if held:
            self._context_size = int(held)
        if asked:
            self._bytes_per_token = size / int(asked)

    def _learn(self, size: int, usage: Usage) -> None:
        self._context_size = usage.context_size
        if usage.prompt_tokens:
            self._bytes_per_token = min(self._settings.bytes_per_token, size / usage.prompt_tokens)
