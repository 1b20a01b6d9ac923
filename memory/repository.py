"""Supervised pairs from a git repository: what was changed and how it was told, said again, and reviewed.

Only git itself reads the repository, and nothing that the repository configures is run for it: no external diff, no
conversion of texts, no check of signatures. Reviews are the repository's notes (git-notes(1), refs/notes/*).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from configs.sections.memory import RepositorySettings
from memory.errors import RepositoryUnreadable
from memory.text import storable

_RECORD, _FIELD = b"\0", b"\x1f"
_BLOCK = 1 << 16
_TRAILER = re.compile(r"(?:[a-z]+-)+(?:by|id|to|on): .+|(?:cc|bug|link|closes|fixes|refs): .+", re.IGNORECASE)
# What a program wrote, or what says nothing by itself.
_EMPTY_SUBJECT = re.compile(
    r"(?:fixup|squash|amend)!|wip\b|merge\b|revert\b|bump .+ from .+ to |v?\d+(?:\.\d+)+$|initial commit$",
    re.IGNORECASE,
)
_HUNK = re.compile(r"^@@ .+? @@.*\n", re.MULTILINE)
_FILE = re.compile(r"^diff --git ", re.MULTILINE)


@dataclass(frozen=True)
class Commit:
    """One commit that is no merge. ``change``: its patch; empty where that is longer than the settings allow.

    ``review``: what its notes say.
    """

    id: str
    author: str
    message: str
    review: str
    change: str


@dataclass(frozen=True)
class Asking:
    """How each kind of pair is asked for, in a person's language, with ``{change}``, ``{message}`` and ``{path}``."""

    message: str
    edit: str
    review: str


@dataclass(frozen=True)
class RepositoryPair:
    """One question and its answer. ``kind``: message, edit or review."""

    commit: str
    kind: str
    question: str
    answer: str

    def as_line(self) -> str:
        """A line of the supervised form, which ``enlace lessons import`` reads."""
        line: dict[str, Any] = {
            "prompt": [{"role": "user", "content": self.question}],
            "completion": [{"role": "assistant", "content": self.answer}],
            "commit": self.commit,
            "kind": self.kind,
        }
        return json.dumps(line, ensure_ascii=False)


def read_commits(repository: Path, settings: RepositorySettings) -> Iterator[Commit]:
    """The latest commits of what is checked out, the newest first. Raises RepositoryUnreadable."""
    command = [
        "git", "-C", str(repository), "-c", "log.showSignature=false", "-c", "core.quotePath=false",
        "-c", "core.fsmonitor=false", "log", "--no-merges", f"--max-count={settings.commits}", "--notes=*",
        "--src-prefix=a/", "--dst-prefix=b/", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
        "--unified=3", "--patch", "--encoding=UTF-8", "--format=%x00%H%x1f%an%x1f%B%x1f%N%x1f",
    ]  # fmt: skip
    environ = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints
            )
        except OSError as error:
            raise RepositoryUnreadable(path=str(repository), reason=error.strerror or str(error)) from error
        with process:
            output = process.stdout
            for record in _records(output, settings.change_characters) if output else ():
                yield _commit(record, settings.change_characters)
        if process.returncode > 0:
            complaints.seek(0)
            told = complaints.read(_BLOCK).decode(errors="replace").strip().splitlines()
            raise RepositoryUnreadable(path=str(repository), reason=told[0] if told else f"git: {process.returncode}")


def pairs_of(commits: Iterable[Commit], asking: Asking, settings: RepositorySettings) -> list[RepositoryPair]:
    """What can be learned of commits, the oldest first and each question once.

    A message is the answer to its change; the changed lines are the answer to the message and the lines before, where
    one place of one file was changed; a review is the answer to both. Commits of programs, and messages of fewer words
    than the settings ask for, teach nothing.
    """
    groups: list[list[RepositoryPair]] = []
    asked: set[str] = set()
    for commit in commits:
        message = _without_trailers(commit.message)
        told = len(message.split()) >= settings.least_words and not _EMPTY_SUBJECT.match(message)
        if not commit.change or commit.author.endswith("[bot]"):
            continue
        pairs = []
        if told:
            question = asking.message.format(change=commit.change)
            pairs.append(RepositoryPair(commit.id, "message", question, message))
            if edit := _edit(commit.change):
                path, before, after = edit
                question = asking.edit.format(message=message, path=path, change=before)
                pairs.append(RepositoryPair(commit.id, "edit", question, after))
        if len(commit.review.split()) >= settings.least_words:
            question = asking.review.format(message=message, change=commit.change)
            pairs.append(RepositoryPair(commit.id, "review", question, commit.review))
        # Of one question asked twice, the latest answer is in force: commits come the newest first.
        groups.append([pair for pair in pairs if pair.question not in asked])
        asked.update(pair.question for pair in pairs)
    return [pair for group in reversed(groups) for pair in group]


def _records(output: IO[bytes], most: int) -> Iterator[bytes]:
    """What stands between NULs, each cut at four bytes for every character allowed, and one more."""
    record, limit = bytearray(), 4 * most + _BLOCK
    begun = False
    while block := output.read(_BLOCK):
        *ended, rest = block.split(_RECORD)
        for piece in ended:
            record += piece[: limit - len(record)]
            if begun:
                yield bytes(record)
            record, begun = bytearray(), True
        record += rest[: limit - len(record)]
    if begun:
        yield bytes(record)


def _commit(record: bytes, most: int) -> Commit:
    fields = record.split(_FIELD, 4)
    commit, author, message, review, change = (
        storable(field.decode("utf-8", errors="replace")) for field in (*fields, *[b""] * (5 - len(fields)))
    )
    return Commit(commit, author, message.strip(), review.strip(), change.strip() if len(change) <= most else "")


def _without_trailers(message: str) -> str:
    """The message without the lines at its end that programs read: Signed-off-by, Change-Id and the like."""
    lines = message.rstrip().splitlines()
    while len(lines) > 1 and (_TRAILER.fullmatch(lines[-1].strip()) or not lines[-1].strip()):
        lines.pop()
    return "\n".join(lines).strip()


def _edit(change: str) -> tuple[str, str, str] | None:
    """Path, the lines before and the lines after, where a change is one place of one file that was there and stays."""
    hunks = _HUNK.split(change)
    if len(hunks) != 2 or len(_FILE.findall(change)) != 1:
        return None
    path = re.search(r"^\+\+\+ b/(.+?)\t?$", hunks[0], re.MULTILINE)
    if not path or "\n--- /dev/null" in hunks[0]:
        return None
    lines = [line for line in hunks[1].split("\n") if not line.startswith("\\")]
    before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    after = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    return (path[1], before, after) if before.strip() and after.strip() else None
