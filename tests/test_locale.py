"""The catalogues: the same texts in both languages, and two sentences for every error."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

import pytest

from app.reasons import letters_of
from tests.project import LANGUAGES, ROOMS, ROOT, catalogue, placeholders, project_files

# A text asked for by its whole key, as in ``catalogue.text("screen.send")``.
ASKED_FOR = re.compile(r"""\.(text|count)\(\s*["']([a-z_]+(?:\.[a-z_0-9]+)+)["']""")


@dataclass(frozen=True)
class Kind:
    """A kind of error as its class states it."""

    name: str
    bases: tuple[str, ...]
    code: str


def every_error() -> list[Kind]:
    """Every kind of error in the rooms, read from the source: nothing has to be imported, torch least of all."""
    kinds = []
    for path in project_files(".py"):
        if path.relative_to(ROOT).parts[0] not in ROOMS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and (code := _code_of(node)):
                bases = tuple(base.id for base in node.bases if isinstance(base, ast.Name))
                kinds.append(Kind(node.name, bases, code))
    return kinds


def _code_of(node: ast.ClassDef) -> str | None:
    """The text that a class's body gives to ``code``."""
    for line in node.body:
        targets = (
            line.targets if isinstance(line, ast.Assign) else [line.target] if isinstance(line, ast.AnnAssign) else []
        )
        value = line.value if isinstance(line, ast.Assign | ast.AnnAssign) else None
        if any(isinstance(target, ast.Name) and target.id == "code" for target in targets):
            return str(value.value) if isinstance(value, ast.Constant) else None
    return None


def test_both_languages_have_the_same_texts() -> None:
    spanish, english = catalogue("es"), catalogue("en")
    assert spanish.keys() == english.keys()


def test_a_text_has_the_same_placeholders_in_both_languages() -> None:
    spanish, english = catalogue("es"), catalogue("en")
    unlike = [
        key for key in spanish.keys() & english.keys() if placeholders(spanish[key]) != placeholders(english[key])
    ]
    assert unlike == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_empty(language: str) -> None:
    assert [key for key, text in catalogue(language).items() if not text.strip()] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_error_says_what_happened_and_what_to_do_next(language: str) -> None:
    wanted = {f"errors.{kind.code}.{part}" for kind in every_error() for part in ("what", "next")}
    assert sorted(wanted - catalogue(language).keys()) == []


def test_no_two_kinds_of_error_share_a_code_unless_one_is_of_the_others_kind() -> None:
    first: dict[str, str] = {}
    roots_first = sorted(every_error(), key=lambda kind: kind.bases != ("Exception",))
    clashes = [kind for kind in roots_first if first.setdefault(kind.code, kind.name) not in (kind.name, *kind.bases)]
    assert clashes == []


def test_no_error_text_is_kept_for_an_error_that_is_gone() -> None:
    codes = {kind.code for kind in every_error()}
    texts = {match[1] for key in catalogue("es") if (match := re.match(r"errors\.(\w+)\.(?:what|next)$", key))}
    assert sorted(texts - codes) == []


def test_every_text_that_the_code_asks_for_is_in_the_catalogues() -> None:
    texts = catalogue("es")
    missing = []
    for path in project_files(".py"):
        if path.relative_to(ROOT).parts[0] not in ROOMS:
            continue
        for how, key in ASKED_FOR.findall(path.read_text(encoding="utf-8")):
            wanted = [f"{key}.one", f"{key}.other"] if how == "count" else [key]
            missing += [f"{path.relative_to(ROOT)}: {name}" for name in wanted if name not in texts]
    assert missing == []


def test_an_errors_sentences_use_only_facts_that_are_given_where_it_is_raised() -> None:
    given: dict[str, set[str | None]] = {}
    for path in project_files(".py"):
        if path.relative_to(ROOT).parts[0] in ROOMS:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                    name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                    given.setdefault(name, set()).update(keyword.arg for keyword in node.keywords)
    texts, unknown = catalogue("es"), []
    for kind in (kind for kind in every_error() if kind.name in given and kind.bases != ("Exception",)):
        facts = given[kind.name]
        wanted = set().union(*(placeholders(texts.get(f"errors.{kind.code}.{part}", "")) for part in ("what", "next")))
        if None not in facts and not wanted <= facts:  # None stands for **facts, which may be any
            unknown.append(f"{kind.name}: {sorted(wanted - facts)}")
    assert unknown == []


def test_a_reason_that_enlace_itself_gives_has_words() -> None:
    """But where it is for those who write programs: those who ask the engine over HTTP read English."""
    kinds = {kind.name for kind in every_error()} - {"RequestWrong"}
    texts, wordless = catalogue("es"), []
    for path in project_files(".py"):
        if path.relative_to(ROOT).parts[0] not in ROOMS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            given = [keyword.value for keyword in node.keywords if keyword.arg == "reason" and node.func.id in kinds]
            given += node.args[:1] if node.func.id == "Malformed" else []
            reasons = [each.value for each in given if isinstance(each, ast.Constant)]
            wordless += [each for each in reasons if f"reasons.{letters_of(str(each))}" not in texts]
    assert wordless == []
