"""Counters, gauges and histograms, written down as Prometheus reads them (text format 0.0.4).

By hand, because importing prometheus_client takes 100 ms of a start that is waited for; a test reads the page with
its parser.
"""

from __future__ import annotations

import bisect
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]
Kind = Literal["counter", "gauge", "histogram"]


@dataclass(frozen=True)
class Family:
    """One metric: its name, what it says, and its samples as (suffix of the name, labels, value)."""

    name: str
    about: str
    kind: Kind
    samples: Sequence[tuple[str, Labels, float]]


class Counter:
    """Counts what only grows, apart for each combination of labels. Any thread may add."""

    def __init__(self, name: str, about: str, *labels: str) -> None:
        self._name = name
        self._about = about
        self._labels = labels
        self._lock = threading.Lock()
        # Without labels there is one count, and it is there from the start.
        self._counts: dict[tuple[str, ...], float] = {} if labels else {(): 0}

    def add(self, amount: float = 1, *labels: str) -> None:
        """Count ``amount`` more for these values of the labels."""
        with self._lock:
            self._counts[labels] = self._counts.get(labels, 0) + amount

    def family(self) -> Family:
        with self._lock:
            counts = sorted(self._counts.items())
        samples = [("", dict(zip(self._labels, labels, strict=True)), count) for labels, count in counts]
        return Family(self._name, self._about, "counter", samples)


@dataclass
class Histogram:
    """How often a value was at most each of ``bounds``, which rise. Any thread may observe."""

    name: str
    about: str
    bounds: Sequence[float]
    _counts: list[int] = field(init=False)
    _sum: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self._counts = [0] * (len(self.bounds) + 1)

    def observe(self, value: float) -> None:
        """Count one value."""
        with self._lock:
            self._counts[bisect.bisect_left(self.bounds, value)] += 1
            self._sum += value

    def family(self) -> Family:
        with self._lock:
            counts, total = [*self._counts], self._sum
        samples: list[tuple[str, Labels, float]] = []
        below = 0
        for bound, count in zip([*self.bounds, float("inf")], counts, strict=True):
            below += count
            samples.append(("_bucket", {"le": _number(bound)}, below))
        samples += [("_sum", {}, total), ("_count", {}, below)]
        return Family(self.name, self.about, "histogram", samples)


def gauge(name: str, about: str, value: float, kind: Kind = "gauge") -> Family:
    """A value as it is now."""
    return Family(name, about, kind, [("", {}, value)])


def page(families: Sequence[Family]) -> str:
    """All of them as text."""
    return "".join(f"{line}\n" for family in families for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {_escaped(family.about)}"
    yield f"# TYPE {family.name} {family.kind}"
    for suffix, labels, value in family.samples:
        inside = ",".join(f'{name}="{_escaped(text, quotes=True)}"' for name, text in labels.items())
        yield f"{family.name}{suffix}{'{' + inside + '}' if inside else ''} {_number(value)}"


def _escaped(text: str, *, quotes: bool = False) -> str:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    return escaped.replace('"', '\\"') if quotes else escaped


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if float(value).is_integer() else repr(float(value))
