"""A model in the caller's own process, for training's evaluation: logits, scores and likeliest answers.

The prompt, the native code and the adapters are those of serving.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from engine.errors import PromptTooLong
from engine.fit import physical_cores
from engine.gguf import check_adapter, check_gguf
from engine.library import set_thread_spins
from engine.messages import Message
from engine.native import Adapter, Context, ContextShape, Model
from engine.prompt import render, render_pair
from engine.served import AdapterFile
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary

Logits = npt.NDArray[np.float32]
SMALLEST_CHUNK = 2


class LocalModel:
    """One sequence over one model. ``chunk`` tokens are computed at a time, which bounds the memory for logits.

    Raises ModelBroken, AdapterMismatch and TemplateBroken.
    """

    def __init__(
        self,
        path: Path,
        adapters: Sequence[AdapterFile] = (),
        *,
        context_size: int = 2048,
        chunk: int = 48,
        threads: int = 0,
        thread_spins: int = 300,
        flash_attention: bool = True,
    ) -> None:
        set_thread_spins(thread_spins)
        check_gguf(path)
        self._path = path
        self._model = Model(path)
        self._chunk = max(SMALLEST_CHUNK, chunk)
        self._adapters: list[tuple[Adapter, float]] = []
        self._context = Context(
            self._model,
            ContextShape(context_size, 1, self._chunk, self._chunk, threads or physical_cores(), flash_attention),
        )
        self.vocabulary = Vocabulary(self._model)
        self.template = ChatTemplate.of(self._model.template(), self.vocabulary)
        self.set_adapters(adapters)

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
        for adapter, _ in old:
            adapter.close()

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """The token ids that serving would read. Raises TemplateBroken."""
        return render(self.template, self.vocabulary, messages)

    def pair(self, messages: Sequence[Message], answer: str) -> tuple[list[int], list[int]]:
        """(prompt_ids, answer_ids) of a question and an answer to it. Raises TemplateBroken."""
        return render_pair(self.template, self.vocabulary, messages, answer)

    def logits(self, ids: Sequence[int], *, answer: int | None = None) -> Logits:
        """The logits after each token, shape (len(ids), vocabulary).

        With ``answer``, only the rows that predict the last ``answer`` tokens: shape (answer, vocabulary), row i for
        ``ids[len(ids) - answer + i]``. Raises PromptTooLong.
        """
        self._check_length(ids)
        if answer is not None and not 0 < answer < len(ids):
            raise ValueError(f"an answer of {answer} tokens in a text of {len(ids)}")
        first, last = (0, len(ids)) if answer is None else (len(ids) - answer - 1, len(ids) - 1)
        result = np.empty((last - first, self.vocabulary.size), dtype=np.float32)
        self._context.clear()
        for begin, end in chunk_bounds(last, self._chunk):
            self._context.decode([(ids[place], place, 0, place >= first) for place in range(begin, end)])
            for place in range(max(begin, first), end):
                result[place - first] = self._context.logits(place - begin)
        return result

    def score(self, prompt_ids: Sequence[int], answer_ids: Sequence[int]) -> list[float]:
        """The natural-log probability of each token of the answer, each given all before it. Raises PromptTooLong."""
        if not answer_ids:
            return []
        rows = self.logits([*prompt_ids, *answer_ids], answer=len(answer_ids)).astype(np.float64)
        top = rows.max(axis=1, keepdims=True)
        norms = top[:, 0] + np.log(np.exp(rows - top).sum(axis=1))
        return [float(value) for value in rows[np.arange(len(answer_ids)), list(answer_ids)] - norms]

    def greedy(self, messages: Sequence[Message], max_tokens: int) -> str:
        """The answer of likeliest tokens, as serving writes it at temperature 0. Raises PromptTooLong."""
        ids = self.prompt(messages)
        self._check_length(ids)
        written: list[int] = []
        token = self._next(ids)
        while not self.vocabulary.is_end(token):
            written.append(token)
            if len(written) >= max_tokens or len(ids) + len(written) >= self._context.size:
                break
            self._context.decode([(token, len(ids) + len(written) - 1, 0, True)])
            token = int(self._context.logits(0).argmax())
        return b"".join(map(self.vocabulary.token_bytes, written)).decode("utf-8", errors="replace")

    def close(self) -> None:
        """Free the model."""
        self._context.close()
        self._model.close()

    def _next(self, ids: Sequence[int]) -> int:
        """Read ``ids`` into an empty cache; the likeliest token after them."""
        self._context.clear()
        row = 0
        for begin, end in chunk_bounds(len(ids), self._chunk):
            self._context.decode([(ids[place], place, 0, place == len(ids) - 1) for place in range(begin, end)])
            row = end - begin - 1
        return int(self._context.logits(row).argmax())

    def _check_length(self, ids: Sequence[int]) -> None:
        if len(ids) > self._context.size:
            raise PromptTooLong(prompt_tokens=len(ids), context_size=self._context.size)


def chunk_bounds(count: int, chunk: int) -> list[tuple[int, int]]:
    """(begin, end) of chunks that cover ``count`` tokens, none of a single token where there are two.

    A token computed alone differs in rounding from one computed with others, so the cut between chunks may not
    leave one over.
    """
    bounds, begin = [], 0
    while begin < count:
        left = count - begin
        take = left if left <= chunk else min(chunk, max(left - SMALLEST_CHUNK, 1))
        bounds.append((begin, begin + take))
        begin += take
    return bounds
