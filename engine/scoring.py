"""A model in the caller's own process, for training's evaluation: likeliest answers and what each token was worth.

The prompt, the native code, the chunks and the adapters are those of serving, so a worker measures what the family
would get.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from configs.sections.engine import EngineSettings
from engine.chunks import chunk_bounds, logits_by_chunk
from engine.errors import PromptTooLong
from engine.gguf import check_adapter, check_gguf
from engine.logprobs import log_softmax
from engine.native import Adapter, Context, ContextShape, Model
from engine.served import AdapterFile
from engine.slots import common_prefix
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary

LogProbs = npt.NDArray[np.float32]


class LocalModel:
    """A base GGUF with whatever adapters ``set_adapters`` last set, ``adapters`` at first.

    ``slots`` answers are written side by side, each with room for ``context_size`` tokens: the weights are read once
    for all of them. ``pause`` is called before each batch: the place to let others go first.
    Raises ModelBroken, TemplateBroken, AdapterMismatch and EngineFailed, and then holds no memory.
    """

    def __init__(
        self,
        path: Path,
        settings: EngineSettings,
        *,
        context_size: int,
        threads: int,
        slots: int = 1,
        adapters: Sequence[AdapterFile] = (),
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        check_gguf(path)
        self._path = path
        self._chunk = settings.prompt_chunk
        self._slots = slots
        self._pause = pause
        self._adapters: list[tuple[Adapter, float]] = []
        # What the cache holds of each slot's last text: whole chunks, as they were read.
        self._held: list[list[int]] = [[] for _ in range(slots)]
        shape = ContextShape(context_size, slots, self._chunk, self._chunk, threads, settings.flash_attention)
        with contextlib.ExitStack() as undo:
            self._model = Model(path)
            undo.callback(self._model.close)
            self._context = Context(self._model, shape)
            undo.callback(self._context.close)
            self.vocabulary = Vocabulary(self._model)
            self.template = ChatTemplate.of(self._model.template(), self.vocabulary, datetime.now)
            if adapters:
                self.set_adapters(adapters)
            self._opened = undo.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def set_adapters(self, adapters: Sequence[AdapterFile]) -> None:
        """Apply exactly these adapters from now on. Raises AdapterMismatch; the old ones then stay."""
        new: list[tuple[Adapter, float]] = []
        try:
            for file in adapters:
                check_adapter(file.path, self._path)
                new.append((Adapter(self._model, file.path), file.scale))
            self._context.set_adapters(new)
        except Exception:
            for adapter, _ in new:
                adapter.close()
            raise
        old, self._adapters = self._adapters, new
        self._forget()
        for adapter, _ in old:
            adapter.close()

    def log_probs(self, prompt: Sequence[int], answer: Sequence[int]) -> LogProbs:
        """Natural-log probabilities of the whole vocabulary at each position of ``answer``: (answer, vocabulary).

        Row i is what the model holds of token i of the answer, given all before it. Raises PromptTooLong.
        """
        tokens = [*prompt, *answer[:-1]]
        self._check_length(tokens)
        first = len(prompt) - 1
        result = np.empty((len(answer), self.vocabulary.size), dtype=np.float32)
        self._pause()
        for rows in logits_by_chunk(self._context, tokens, first, self._chunk, held=self._keep(0, tokens, first)):
            for place, logits in rows:
                result[place - first] = log_softmax(logits)
            self._pause()
        self._held[0] = tokens
        return result

    def nats(self, prompt: Sequence[int], answer: Sequence[int]) -> float:
        """What ``answer``, which is not empty, costs after ``prompt``: nats a token. Raises PromptTooLong."""
        rows = self.log_probs(prompt, answer)
        return -sum(float(row[token]) for row, token in zip(rows, answer, strict=True)) / len(answer)

    def greedy(self, prompts: Sequence[Sequence[int]], most_tokens: int) -> list[list[int]]:
        """The likeliest answer to each prompt, as serving writes it at temperature 0, without its end token.

        Raises PromptTooLong.
        """
        answers: list[list[int]] = []
        for start in range(0, len(prompts), self._slots):
            answers.extend(self._side_by_side(prompts[start : start + self._slots], most_tokens))
        return answers

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as the text that people read."""
        return b"".join(map(self.vocabulary.token_bytes, tokens)).decode("utf-8", errors="replace")

    def close(self) -> None:
        """Free the model, and the adapters with it."""
        self._opened.close()

    def _side_by_side(self, prompts: Sequence[Sequence[int]], most_tokens: int) -> list[list[int]]:
        answers: list[list[int]] = [[] for _ in prompts]
        next_tokens = {slot: self._read(slot, prompt) for slot, prompt in enumerate(prompts)}
        while True:
            going = {slot: token for slot, token in next_tokens.items() if not self.vocabulary.is_end(token)}
            for slot, token in going.items():
                answers[slot].append(token)
            going = {s: token for s, token in going.items() if self._goes_on(prompts[s], answers[s], most_tokens)}
            if not going:
                return answers
            self._pause()
            rows = [(token, len(prompts[slot]) + len(answers[slot]) - 1, slot, True) for slot, token in going.items()]
            self._context.decode(rows)
            next_tokens = {slot: int(self._context.logits(row).argmax()) for row, slot in enumerate(going)}

    def _goes_on(self, prompt: Sequence[int], answer: Sequence[int], most_tokens: int) -> bool:
        return len(answer) < most_tokens and len(prompt) + len(answer) < self._context.size

    def _read(self, slot: int, prompt: Sequence[int]) -> int:
        """Read a prompt into a slot; the likeliest token after it."""
        self._check_length(prompt)
        row, held = 0, self._keep(slot, prompt, len(prompt) - 1)
        for begin, end in chunk_bounds(len(prompt), self._chunk):
            if begin < held:
                continue
            self._pause()
            rows = [(prompt[place], place, slot, place == len(prompt) - 1) for place in range(begin, end)]
            self._context.decode(rows)
            row = end - begin - 1
        # Only now: a batch that failed is not in the cache.
        self._held[slot] = list(prompt)
        return int(self._context.logits(row).argmax())

    def _keep(self, slot: int, tokens: Sequence[int], most: int) -> int:
        """How many of ``tokens``, at most ``most``, a slot goes on holding from its last text; the rest it forgets.

        Whole chunks alone, which end where they would if ``tokens`` were read from the beginning: its numbers are the
        same to the bit.
        """
        held, self._held[slot] = self._held[slot], []
        same = min(most, common_prefix(held, tokens))
        ends = {end for _, end in chunk_bounds(len(held), self._chunk)}
        count = max(
            (end for _, end in chunk_bounds(len(tokens), self._chunk) if end <= same and end in ends), default=0
        )
        return count if self._context.keep(slot, count) else 0

    def _forget(self) -> None:
        """Hold nothing of any slot."""
        self._context.clear()
        self._held = [[] for _ in self._held]

    def _check_length(self, ids: Sequence[int]) -> None:
        if len(ids) > self._context.size:
            raise PromptTooLong(prompt_tokens=len(ids), context_size=self._context.size)


def kl(reference: LogProbs, other: LogProbs) -> float:
    """KL(reference || other) in nats, summed over positions; both are log-probabilities (positions, vocabulary)."""
    return float((np.exp(reference) * (reference - other)).sum())
