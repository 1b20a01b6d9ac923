"""What became of every document: how many were kept, and for which reason each of the others was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainer.corpus.judging import Judged, Reason
from trainer.corpus.readers.document import Older, Problem

EXAMPLES: Final = 3  # places that are named for each reason
PROBLEMS: Final = 100  # that are named


@dataclass
class Tally:
    """Documents and their characters, and where the first of them are."""

    documents: int = 0
    characters: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, judged: Judged) -> None:
        """Count it."""
        self.documents += 1
        self.characters += len(judged.text)
        if len(self.examples) < EXAMPLES:
            self.examples.append(judged.where)


@dataclass
class CorpusReport:
    """Characters are those after cleaning. ``languages``: of what was left out for its language."""

    kept: Tally = field(default_factory=Tally)
    left_out: dict[Reason, Tally] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)
    personal: Counter[str] = field(default_factory=Counter)
    problems: list[dict[str, Any]] = field(default_factory=list)
    unreadable: int = 0
    older_lines: dict[str, int] = field(default_factory=dict)

    def add(self, judged: Judged, reason: Reason | None) -> None:
        """Count a document that was kept, or left out for ``reason``."""
        if reason is None:
            self.kept.add(judged)
            self.personal.update(judged.personal)
            return
        self.left_out.setdefault(reason, Tally()).add(judged)
        if judged.language:
            self.languages[judged.language] += 1

    def add_problem(self, problem: Problem) -> None:
        """Count what could not be read."""
        self.unreadable += 1
        if len(self.problems) < PROBLEMS:
            self.problems.append({"path": problem.path, "line": problem.line, "reason": problem.reason})

    def add_older(self, older: Older) -> None:
        """Note a file that was not all UTF-8."""
        if len(self.older_lines) < PROBLEMS:
            self.older_lines[older.path] = older.lines

    @property
    def documents(self) -> int:
        """All that were read."""
        return self.kept.documents + sum(tally.documents for tally in self.left_out.values())

    def as_json(self) -> dict[str, Any]:
        """For ``report_from_json``, for programs, and for the command."""
        measured = self.left_out.get("in_evaluation", Tally()).documents
        return {
            "documents": self.documents,
            "kept": vars(self.kept),
            "left_out": {reason: vars(tally) for reason, tally in sorted(self.left_out.items())},
            "languages": dict(sorted(self.languages.items())),
            "personal": dict(sorted(self.personal.items())),
            "contamination": measured / self.documents if self.documents else 0.0,
            "problems": self.problems,
            "unreadable": self.unreadable,
            "older_lines": self.older_lines,
        }


def report_from_json(told: Mapping[str, Any]) -> CorpusReport:
    """What ``as_json`` told."""
    return CorpusReport(
        kept=Tally(**told["kept"]),
        left_out={reason: Tally(**tally) for reason, tally in told["left_out"].items()},
        languages=Counter(told["languages"]),
        personal=Counter(told["personal"]),
        problems=list(told["problems"]),
        unreadable=int(told["unreadable"]),
        older_lines=dict(told["older_lines"]),
    )
