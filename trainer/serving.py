"""The served function in this process: llama.cpp on the served file, several answers at once, chosen adapters.

A worker measures what the family would get, so it loads the same files through the engine's own wrappers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from engine.gguf import check_adapter, check_gguf
from engine.native import Adapter, Context, ContextShape, Model
from engine.scoring import chunk_bounds
from engine.served import AdapterFile
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary

SLOTS = 8  # answers written side by side: the weights are read once for all of them
BATCH = 48  # as serving reads prompts: larger batches round differently (docs/decisions/same-answer-every-time.md)


class ServedModel:
    """A base GGUF with whatever adapters ``use`` last set (none at first). Raises what engine.native raises."""

    def __init__(self, path: Path, *, context_size: int, threads: int, pause: Callable[[], None]) -> None:
        check_gguf(path)
        self._path = path
        self._model = Model(path)
        shape = ContextShape(
            context_size=context_size,
            slots=SLOTS,
            batch_size=BATCH,
            outputs=BATCH,
            threads=threads,
            flash_attention=True,
        )
        self._context = Context(self._model, shape)
        self._context_size = context_size
        self._adapters: list[Adapter] = []
        self._pause = pause
        self.vocabulary = Vocabulary(self._model)
        self.template = ChatTemplate.of(self._model.template(), self.vocabulary)

    def use(self, adapters: Sequence[AdapterFile]) -> None:
        """Serve with exactly these adapters from now on. Raises AdapterMismatch."""
        for adapter in adapters:
            check_adapter(adapter.path, self._path)
        loaded = [(Adapter(self._model, adapter.path), adapter.scale) for adapter in adapters]
        self._context.set_adapters(loaded)
        self._context.clear()
        for old in self._adapters:
            old.close()
        self._adapters = [adapter for adapter, _ in loaded]

    def greedy(self, prompts: Sequence[Sequence[int]], most_tokens: int) -> list[list[int]]:
        """The most likely answer to each prompt, token by token, without its end token."""
        answers: list[list[int]] = []
        for start in range(0, len(prompts), SLOTS):
            answers.extend(self._greedy_side_by_side(prompts[start : start + SLOTS], most_tokens))
        return answers

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as the text that people read."""
        return b"".join(self.vocabulary.token_bytes(token) for token in tokens).decode("utf-8", errors="replace")

    def log_probs(self, prompt: Sequence[int], answer: Sequence[int]) -> NDArray[np.float32]:
        """Log-probabilities of the whole vocabulary at each position of ``answer``: [answer, vocabulary]."""
        tokens = [*prompt, *answer[:-1]]
        first = len(prompt) - 1
        found = []
        self._context.clear()
        for start, end in chunk_bounds(len(tokens), BATCH):
            self._pause()
            piece = tokens[start:end]
            rows = [(token, start + i, 0, start + i >= first) for i, token in enumerate(piece)]
            self._context.decode(rows)
            found += [_log_softmax(self._context.logits(i)) for i, row in enumerate(rows) if row[3]]
        return np.stack(found)

    def _greedy_side_by_side(self, prompts: Sequence[Sequence[int]], most_tokens: int) -> list[list[int]]:
        answers: list[list[int]] = [[] for _ in prompts]
        self._context.clear()
        next_tokens = {slot: self._read(slot, prompt) for slot, prompt in enumerate(prompts)}
        while next_tokens:
            going = {slot: token for slot, token in next_tokens.items() if not self.vocabulary.is_end(token)}
            for slot, token in going.items():
                answers[slot].append(token)
            going = {slot: token for slot, token in going.items() if len(answers[slot]) < most_tokens}
            if not going:
                break
            self._pause()
            rows = [(token, len(prompts[slot]) + len(answers[slot]) - 1, slot, True) for slot, token in going.items()]
            self._context.decode(rows)
            next_tokens = {slot: int(self._context.logits(row).argmax()) for row, slot in enumerate(going)}
        return answers

    def _read(self, slot: int, prompt: Sequence[int]) -> int:
        """Read a prompt into a slot; the token that follows it."""
        for start, end in chunk_bounds(len(prompt), BATCH):
            self._pause()
            piece = prompt[start:end]
            rows = [(token, start + i, slot, start + i == len(prompt) - 1) for i, token in enumerate(piece)]
            self._context.decode(rows)
        return int(self._context.logits(len(piece) - 1).argmax())

    def close(self) -> None:
        """Free everything."""
        self._context.close()
        self._model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    shifted = logits - logits.max()
    result: NDArray[np.float32] = shifted - np.log(np.exp(shifted).sum())
    return result


def kl(base: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """KL(base || other) in nats, summed over positions; both are log-probabilities [positions, vocabulary]."""
    return float((np.exp(base) * (base - other)).sum())
