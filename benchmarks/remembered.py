"""How long it takes to find something in very much, and to keep one thing more."""

from __future__ import annotations

import math
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import progress
from benchmarks.made_talk import Talk
from benchmarks.plan import MemoryPlan
from benchmarks.rows import Row, row
from configs.home import Home
from configs.settings import load_settings
from memory.database import Database
from memory.history_index import HistoryIndex
from memory.household import Household, MemberMemory
from memory.ids import new_id
from memory.meaning.embedder import Asked, Embedder, installed
from memory.migrations import Migrations

FIND_MS, KEEP_MS = 20, 5  # at most, at the 95th percentile
_TOGETHER: Final = 2000  # kept in one transaction, where keeping is not what is measured
_NUMBERS: Final = 384
_OPTIONS: Final = {"memory": {"recall": {"meaning": {"enabled": False, "batch": _TOGETHER}}}}


class MadeVectors:
    """In the place of the model, whose vectors of so many facts would take hours: texts that share words lie near."""

    version = "made"
    works = True

    def __init__(self) -> None:
        self._of_words: dict[str, NDArray[np.float32]] = {}

    def vectors(self, kind: Asked, texts: Sequence[str]) -> NDArray[np.float32] | None:
        found = np.stack([sum(map(self._of, text.lower().split()), np.zeros(_NUMBERS, np.float32)) for text in texts])
        lengths: NDArray[np.float32] = np.linalg.norm(found, axis=1, keepdims=True).clip(min=1e-9)
        return found / lengths

    def close(self) -> None:
        self._of_words.clear()

    def _of(self, word: str) -> NDArray[np.float32]:
        if word not in self._of_words:
            chance = np.random.default_rng(zlib.crc32(word.encode()))
            self._of_words[word] = chance.normal(size=_NUMBERS).astype(np.float32)
        return self._of_words[word]


def messages(plan: MemoryPlan) -> list[Row]:
    """Searches in a growing number of messages, and messages added one by one."""
    talk, clocked = Talk(plan.seed), Clocked(plan.messages, "messages")
    with _home() as (home, household, member):
        memory, file, there = household.member(member), home.member_db(member), 0
        chats, conversation = memory.chats, memory.chats.start().id
        for size in plan.messages:
            progress(f"memory: {size} messages …")
            sentences = list(talk.sentences(size - there, 6, 40))
            _keep_messages(file, conversation, sentences)
            wanted = _some(sentences, plan.samples)
            clocked.time("search for words among", size, talk.searches(wanted), chats.search, FIND_MS)
            clocked.time("search for the evidence among", size, talk.questions(wanted), chats.evidence, FIND_MS)
            added = list(talk.sentences(plan.samples, 6, 40))
            clocked.time("message added to", size, added, lambda text: chats.question(conversation, text), KEEP_MS)
            clocked.size(size, file)
            there = size + len(added)
    return [*clocked.rows, *clocked.growth()]


def facts(plan: MemoryPlan) -> list[Row]:
    """Recall among a growing number of facts, by words and by vectors too, and facts added one by one."""
    talk, clocked = Talk(plan.seed), Clocked(plan.facts, "facts")
    with _home() as (home, household, member), Household(home, household.settings, time.time, MadeVectors()) as other:
        by_words, by_both, there = household.member(member), other.member(member), 0
        for size in plan.facts:
            progress(f"memory: {size} facts …")
            sentences = list(talk.sentences(size - there, 5, 14))
            with by_words.lessons.together("private"):
                for sentence in sentences:
                    by_words.facts.add(sentence)
            other.make_vectors(member)
            wanted = _some(sentences, plan.samples)
            for name, memory in (("by words", by_words), ("by words and vectors", by_both)):
                asked = list(talk.questions(wanted))
                clocked.time(f"recall {name} among", size, asked, _finding(memory), FIND_MS)
            added = list(talk.sentences(plan.samples, 5, 14))
            clocked.time("fact added to", size, added, by_words.facts.add, KEEP_MS)
            clocked.size(size, home.member_db(member))
            there = size + len(added)
    return [*clocked.rows, *clocked.growth(), *_embedding(talk, plan)]


class Clocked:
    """Rows of times at several sizes, and how they grow. ``what``: of which there are so many."""

    def __init__(self, sizes: Sequence[int], what: str) -> None:
        self.rows: list[Row] = []
        self._sizes = sizes
        self._what = what
        self._times: dict[str, list[float]] = {}

    def time(
        self, name: str, size: int, texts: Iterator[str] | list[str], does: Callable[[str], object], bound: float
    ) -> None:
        """The time of each of ``texts``, at the 95th percentile: by the clock, and of the processor in the note."""
        by_clock, of_processor = [], []
        for text in texts:
            clock, processor = time.perf_counter(), time.process_time()
            does(text)
            of_processor.append(1000 * (time.process_time() - processor))
            by_clock.append(1000 * (time.perf_counter() - clock))
        self._times.setdefault(name, []).append(_percentile(of_processor))
        middle = f"middle {_percentile(by_clock, 0.5):.2f} ms"
        self.rows.append(
            row(
                f"{name} {size} {self._what}, 95th percentile",
                _percentile(by_clock),
                "ms",
                bound=bound,
                bound_on="value",
                samples=len(by_clock),
                note=f"{middle}; of the processor {_percentile(of_processor):.2f} ms",
            )
        )

    def size(self, size: int, file: Path) -> None:
        """How large the database is by now."""
        total = sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*"))
        self.rows.append(row(f"database of {size} {self._what}", total / 1e6, "MB"))

    def growth(self) -> list[Row]:
        """From the first size to the last, of the processor's time: against the growth of the logarithm of the size."""
        first, last = self._sizes[0], self._sizes[-1]
        return [
            row(
                f"{name} {last} {self._what} against {first}: growth",
                times[-1] / times[0],
                "times",
                bound=math.log(last) / math.log(first),
                bound_on="value",
                note="of the processor's time at the 95th percentile; the bound is the growth of the logarithm",
            )
            for name, times in self._times.items()
        ]


def _embedding(talk: Talk, plan: MemoryPlan) -> list[Row]:
    """What the model takes for a question, which comes on top of recall by vectors."""
    if not installed():
        return []
    clocked, embedder = Clocked((1,), "question"), Embedder(load_settings(Home(Path()), {}).memory.recall.meaning)
    embedder.vectors("query", ["¿Qué?"])
    asked = ["¿Dónde guardamos las llaves?", "What time does the school bus leave?", "¿Quién es nuestro dentista?"]
    texts = [asked[place % len(asked)] for place in range(plan.samples)]
    clocked.time("vector of", 1, texts, lambda text: embedder.vectors("query", [text]), FIND_MS)
    embedder.close()
    return clocked.rows


def _finding(memory: MemberMemory) -> Callable[[str], object]:
    return lambda text: memory.recall.find(text, memory.member)


def _keep_messages(file: Path, conversation: str, sentences: list[str]) -> None:
    """As if they had been said, many in one transaction."""
    database = Database(file, Migrations("member"), clock=time.time, busy_seconds=10)
    index = HistoryIndex(database)
    for start in range(0, len(sentences), _TOGETHER):
        with database.transaction():
            for text in sentences[start : start + _TOGETHER]:
                now = time.time()
                name = new_id(now)
                database.run(
                    "INSERT INTO messages (id, conversation_id, role, content, state, created_at)"
                    " VALUES (?, ?, 'user', ?, 'complete', ?)",
                    (name, conversation, text, now),
                )
                index.add(name)
    database.close()


def _some(sentences: list[str], number: int) -> list[str]:
    return sentences[:: max(1, len(sentences) // number)][:number]


def _percentile(times: Sequence[float], share: float = 0.95) -> float:
    return sorted(times)[min(len(times) - 1, math.ceil(share * len(times)) - 1)]


@contextmanager
def _home() -> Iterator[tuple[Home, Household, str]]:
    """A household of one, who is asked by words alone; the member's id."""
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        home = Home(Path(folder) / "home")
        options: dict[str, Any] = _OPTIONS
        with Household.open(home, load_settings(home, {}, options).memory) as household:
            yield home, household, household.members.add("Ana", "es").id
