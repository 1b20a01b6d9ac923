"""Pairs from a real git repository: messages, edits of one place, reviews; nothing of the repository is run."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from configs.sections.memory import RepositorySettings
from memory.errors import RepositoryUnreadable
from memory.household import MemberMemory
from memory.lesson_files import Imported, import_jsonl
from memory.repository import Asking, Commit, RepositoryPair, pairs_of, read_commits

SETTINGS = RepositorySettings(commits=50, change_characters=2000, least_words=4)
ASKING = Asking("Message for:\n{change}", "{message} In {path}:\n{change}", "Review {message}\n{change}")
SOUP = "leeks\npotatoes\ncream\n"


class Repository:
    """A git repository that a test fills."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, author: str = "Ana") -> str:
        environ = {**os.environ, "HOME": str(self.path), "GIT_CONFIG_NOSYSTEM": "1"}
        for role in ("AUTHOR", "COMMITTER"):
            environ |= {f"GIT_{role}_NAME": author, f"GIT_{role}_EMAIL": "ana@house"}
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments], env=environ, check=True, capture_output=True, text=True
        )
        return done.stdout

    def commit(self, message: str, files: dict[str, str | bytes], author: str = "Ana") -> None:
        for name, content in files.items():
            (self.path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "--cleanup=verbatim", "-m", message, author=author)

    def pairs(self, settings: RepositorySettings = SETTINGS) -> list[RepositoryPair]:
        return pairs_of(read_commits(self.path, settings), ASKING, settings)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo")


def kinds(pairs: list[RepositoryPair]) -> list[tuple[str, str]]:
    return [(pair.kind, pair.answer) for pair in pairs]


def test_a_message_answers_its_change_and_the_changed_place_its_message(repository: Repository) -> None:
    repository.commit("Write down the soup of leeks", {"soup.txt": SOUP})
    repository.commit(
        "Say how much cream the soup takes\n\nNobody knew.\n\nReviewed-by: Luis <l@house>\nChange-Id: I1\n",
        {"soup.txt": SOUP.replace("cream", "cream, a cup")},
    )
    first, second, edit = repository.pairs()
    assert (first.kind, first.answer) == ("message", "Write down the soup of leeks")
    assert "+leeks\n+potatoes\n+cream" in first.question
    assert (second.kind, second.answer) == ("message", "Say how much cream the soup takes\n\nNobody knew.")
    assert (edit.kind, edit.answer) == ("edit", "leeks\npotatoes\ncream, a cup")
    assert edit.question == ("Say how much cream the soup takes\n\nNobody knew. In soup.txt:\nleeks\npotatoes\ncream")


def test_a_review_is_the_note_of_a_commit_wherever_notes_are_kept(repository: Repository) -> None:
    repository.commit("Write down the soup of leeks", {"soup.txt": SOUP})
    repository.git("notes", "--ref=review", "add", "-m", "The cream is missing its amount.")
    review = repository.pairs()[-1]
    assert (review.kind, review.answer) == ("review", "The cream is missing its amount.")
    assert review.question.startswith("Review Write down the soup of leeks\ndiff --git a/soup.txt")


@pytest.mark.parametrize(
    ("message", "author"),
    [
        ("fixup! Write down the soup", "Ana"),
        ("WIP on the soup of leeks", "Ana"),
        ('Revert "Write down the soup"', "Ana"),
        ("Bump leeks from 1.0 to 1.1", "Ana"),
        ("Write down the soup of leeks", "dependabot[bot]"),
        ("soup", "Ana"),
    ],
)
def test_what_says_nothing_or_a_program_wrote_is_left_out(repository: Repository, message: str, author: str) -> None:
    repository.commit(message, {"soup.txt": SOUP}, author)
    assert repository.pairs() == []


def test_merges_pictures_and_what_is_too_long_are_left_out(repository: Repository) -> None:
    repository.commit("Begin with a picture of soup", {"a.png": b"\x89PNG\0\0\x1f\xff" * 50})
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("Write a very long soup down", {"long.txt": "leeks and more\n" * 500})
    repository.git("checkout", "-q", "main")
    repository.commit("Write a short soup down here", {"short.txt": SOUP})
    repository.git("merge", "-q", "--no-ff", "-m", "Merge the two soups into one", "side")
    assert [pair.answer for pair in repository.pairs() if pair.kind != "message"] == []
    answers = [pair.answer for pair in repository.pairs()]
    assert "Write a short soup down here" in answers
    assert not {"Write a very long soup down", "Merge the two soups into one"} & set(answers)


def test_odd_texts_and_names_come_through(repository: Repository) -> None:
    repository.commit("Añade la sopa de ñame 👩‍🍳", {"sopa ñ.txt": "ñame\n"})
    repository.commit("Cambia el ñame por puerro", {"sopa ñ.txt": "puerro {x} @@ \x1f \u2028 fin\n"})
    edit = repository.pairs()[-1]
    assert (edit.kind, edit.answer) == ("edit", "puerro {x} @@ \x1f \u2028 fin")
    assert edit.question == "Cambia el ñame por puerro In sopa ñ.txt:\nñame"
    repository.commit("Write it in another alphabet now", {"latin.txt": "caf\xe9\n".encode("latin-1")})
    assert "caf\ufffd" in repository.pairs()[-1].question


def test_changes_of_two_places_are_told_and_not_made_again(repository: Repository) -> None:
    lines = [f"line {number}" for number in range(40)]
    repository.commit("Write forty lines of a soup", {"a.txt": "\n".join(lines)})
    repository.commit("Change the first and last line", {"a.txt": "\n".join(["x", *lines[1:-1], "y"])})
    assert kinds(repository.pairs())[1:] == [("message", "Change the first and last line")]


def test_nothing_that_the_repository_configures_is_run(repository: Repository, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {trace}\n")
    script.chmod(0o755)
    repository.commit("Write down the soup of leeks", {"soup.txt": SOUP, ".gitattributes": "*.txt diff=odd\n"})
    for key in (
        "diff.external",
        "diff.odd.textconv",
        "diff.odd.command",
        "core.pager",
        "gpg.program",
        "core.fsmonitor",
    ):
        repository.git("config", key, str(script))
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "diff.noprefix", "true")
    trace.unlink(missing_ok=True)
    assert "diff --git a/soup.txt b/soup.txt" in repository.pairs()[0].question
    assert not trace.exists()


def test_only_so_many_commits_are_read_and_the_latest_answer_counts(repository: Repository) -> None:
    for number in range(4):
        repository.commit(f"Write down soup number {number}", {f"soup{number}.txt": SOUP})
    few = SETTINGS.model_copy(update={"commits": 2})
    assert [answer for _, answer in kinds(repository.pairs(few))] == [f"Write down soup number {n}" for n in (2, 3)]
    again = [Commit(str(n), "Ana", f"The message of number {n}", "", "the same change") for n in (2, 1)]
    assert [pair.commit for pair in pairs_of(again, ASKING, SETTINGS)] == ["2"]


@pytest.mark.parametrize("make", ["missing", "plain", "empty"])
def test_a_folder_without_history_is_said_with_gits_reason(tmp_path: Path, make: str) -> None:
    path = tmp_path / make
    if make == "plain":
        path.mkdir()
    elif make == "empty":
        Repository(path)
    with pytest.raises(RepositoryUnreadable) as caught:
        list(read_commits(path, SETTINGS))
    assert caught.value.facts["path"] == str(path)
    assert str(caught.value.facts["reason"]).startswith("fatal: ")


def test_git_that_is_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RepositoryUnreadable):
        list(read_commits(tmp_path, SETTINGS))


def test_whoever_stops_reading_leaves_no_process_behind(repository: Repository) -> None:
    for number in range(30):
        repository.commit(f"Write down soup number {number}", {f"soup{number}.txt": SOUP * 20})
    commits = read_commits(repository.path, SETTINGS)
    assert next(commits).message == "Write down soup number 29"
    commits.close()  # type: ignore[attr-defined]


def test_the_lines_are_lessons_that_can_be_imported(
    repository: Repository, memory: MemberMemory, tmp_path: Path
) -> None:
    repository.commit("Write down the soup of leeks", {"soup.txt": SOUP})
    lines = [pair.as_line() for pair in repository.pairs()]
    assert set(json.loads(lines[0])) == {"prompt", "completion", "commit", "kind"}
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert import_jsonl(memory.lessons, tmp_path / "pairs.jsonl") == Imported(1, 0)
