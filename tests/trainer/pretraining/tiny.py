"""A run of a few thousand weights on made text, whose steps take milliseconds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from configs.home import Home
from configs.pretraining.composing import compose
from configs.pretraining.schema import Run
from trainer.corpus.index import Split
from trainer.corpus.loader import TokenLoader
from trainer.pretraining.files import PretrainingFiles
from trainer.pretraining.loop import Around
from trainer.pretraining.resuming import identity_of

VOCABULARY = 264
SMALL = (
    "name=tiny", "hardware.threads=1", "model.layers=2", "model.width=16", "model.heads=2", "model.kv_heads=1",
    "model.head_size=8", "model.feed_forward=24", "model.context=12",
    "train.batch=4", "train.micro_batch=2", "train.warmup_steps=2", "train.tokens=480", "train.validate_steps=5",
    "train.validation_sequences=2", "train.sample_steps=10", "train.sample_tokens=4", "train.sample_prompts=[a]",
    "train.adamw.learning_rate=0.02", "train.checkpoint_seconds=1e-9", "train.spike.window=3", "train.spike.factor=10",
)  # fmt: skip


def small(*changed: str) -> tuple[str, ...]:
    """What is changed of the shipped run, and of that."""
    keys = {each.partition("=")[0] for each in changed}
    return *(each for each in SMALL if each.partition("=")[0] not in keys), *changed


def tiny(*changed: str) -> Run:
    """Ten steps of four sequences of twelve tokens, a checkpoint after each."""
    return compose("smoke", small(*changed), Home(Path("nowhere")), Path("nowhere")).run


class MadeText:
    """Tokens of which each says what follows it, but for some noise."""

    def __init__(self, split: Split, total: int = 2000) -> None:
        self.split = split
        self.total = total
        self.digest: str = split
        random = np.random.default_rng(len(split))
        self._ids = (np.arange(total) * 7 + random.integers(0, 3, total)) % 256

    def read(self, start: int, count: int) -> NDArray[Any]:
        return self._ids[start : start + count]


class Letters:
    """A vocabulary of bytes."""

    end = 256

    @property
    def byte_lengths(self) -> NDArray[np.int64]:
        return (np.arange(VOCABULARY) < 256).astype(np.int64)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [list(text.encode()) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(number for number in ids if number < 256).decode("latin-1")


class Heard:
    """What was told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
        self.events.append((kind, dict(facts)))

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [facts for told, facts in self.events if told == kind]

    @property
    def losses(self) -> list[float]:
        return [facts["loss"] for facts in self.of("step")]


def around(run: Run, folder: Path, tell: Heard | None = None, rank: int = 0, size: int = 1, **others: Any) -> Around:
    """What a run has around it here."""
    return Around(
        text=Letters(),
        train=TokenLoader(MadeText("train"), run.train.seed, rank, size),
        validation=TokenLoader(MadeText("validation"), run.train.seed, rank, size),
        files=PretrainingFiles(folder),
        belongs=identity_of(run),
        tell=tell or Heard(),
        **others,
    )


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """So that nothing of this size waits for another thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
