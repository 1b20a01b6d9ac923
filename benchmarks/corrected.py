"""How many of sixty corrections come back, and at how many other questions one does, with vectors and without."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.rows import Row, row
from configs.home import Home
from configs.settings import load_settings
from memory.household import Household, MemberMemory
from memory.meaning.embedder import installed

SET = Path(__file__).with_name("data") / "memory" / "corrections.yaml"
ALONE, REWORDED, FALSE = 0.95, 0.85, 0.02  # at least, at least, at most


def rows() -> list[Row]:
    """Shares from 0 to 1; every correction is taught in one household."""
    found = yaml.safe_load(SET.read_text(encoding="utf-8"))
    made = _measured("words alone", found, meaning=False)
    if installed():
        made += _measured("words and vectors", found, meaning=True)
    return made


def _measured(name: str, found: dict[str, Any], *, meaning: bool) -> list[Row]:
    corrections, unrelated = found["corrections"], found["unrelated"]
    with taught(corrections, meaning=meaning) as memory:
        same, other = ([each[part] for each in corrections] for part in ("same", "other"))
        every = [each["question"] for each in corrections]
        alone, in_same, in_other = (recalled(memory, corrections, asked) for asked in (every, same, other))
        fired = sum(bool(memory.recall.find(question, memory.member).lessons) for question in unrelated)
    number = len(corrections)
    reworded = (in_same + in_other) / (2 * number)
    bounds = {"bound_on": "value", "better": "higher"} if meaning or not installed() else {}
    return [
        _share(f"corrections recalled at the question itself, {name}", alone / number, number, ALONE, **bounds),
        _share(f"corrections recalled at another wording, {name}", reworded, 2 * number, REWORDED, **bounds),
        _share(f"… in the language of the correction, {name}", in_same / number, number, None),
        _share(f"… in the other language, {name}", in_other / number, number, None),
        row(
            f"unrelated questions that recalled a correction, {name}",
            fired / len(unrelated),
            "share",
            bound=FALSE,
            bound_on="value",
            samples=len(unrelated),
        ),
    ]


def _share(name: str, value: float, samples: int, bound: float | None, **bounds: Any) -> Row:
    return row(name, value, "share", samples=samples, bound=bound if bounds else None, **bounds)


def recalled(memory: MemberMemory, corrections: Sequence[dict[str, str]], asked: Sequence[str]) -> int:
    """At how many questions the correction that each belongs to is among what is recalled."""
    found = [{each.lesson.chosen for each in memory.recall.find(question, memory.member).lessons} for question in asked]
    return sum(correction["answer"] in answers for correction, answers in zip(corrections, found, strict=True))


@contextmanager
def taught(corrections: Sequence[dict[str, str]], *, meaning: bool) -> Iterator[MemberMemory]:
    """A household of one, who corrected all of them."""
    with tempfile.TemporaryDirectory(prefix="enlace-b-") as folder:
        home = Home(Path(folder) / "home")
        options = {"memory": {"recall": {"meaning": {"enabled": meaning, "at_once": len(corrections)}}}}
        settings = load_settings(home, {}, options).memory
        with Household.open(home, settings) as household:
            memory = household.member(household.members.add("Ana", "es").id)
            for each in corrections:
                memory.lessons.add([{"role": "user", "content": each["question"]}], each["answer"], "…")
            yield memory
