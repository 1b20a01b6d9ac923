"""The catalogues: the same texts in both languages, and two sentences for every error."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

from configs.errors import EnlaceError
from tests.project import LANGUAGES, ROOMS, ROOT, catalogue, placeholders, project_files


def every_error() -> list[type[EnlaceError]]:
    """Every error of every room. Errors live in ``errors`` modules, except those of ``configs``."""
    modules = [name for name in ROOMS if name != "configs"]
    for room in modules:
        for found in pkgutil.walk_packages([str(ROOT / room)], f"{room}."):
            if found.name.rpartition(".")[2].startswith("errors"):
                importlib.import_module(found.name)
    for found in pkgutil.iter_modules([str(ROOT / "configs")], "configs."):
        importlib.import_module(found.name)
    kinds: list[type[EnlaceError]] = []
    waiting = [EnlaceError]
    while waiting:
        kind = waiting.pop()
        kinds.append(kind)
        waiting.extend(kind.__subclasses__())
    return kinds


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
    first: dict[str, type[EnlaceError]] = {}
    general_first = sorted(every_error(), key=lambda kind: len(kind.__mro__))
    clashes = [kind.__qualname__ for kind in general_first if not issubclass(kind, first.setdefault(kind.code, kind))]
    assert clashes == []


def test_no_error_text_is_kept_for_an_error_that_is_gone() -> None:
    codes = {kind.code for kind in every_error()}
    texts = {match[1] for key in catalogue("es") if (match := re.match(r"errors\.(\w+)\.", key))}
    assert sorted(texts - codes) == []


def test_errors_live_in_modules_that_are_called_errors() -> None:
    """So that the walk above finds them all without importing torch or the native library."""
    misplaced = [
        str(path.relative_to(ROOT))
        for path in project_files(".py")
        if path.relative_to(ROOT).parts[0] in ROOMS
        and path.relative_to(ROOT).parts[0] != "configs"
        and not path.name.startswith("errors")
        and re.search(r"^class \w+\((EnlaceError|\w*errors\.\w+)\)", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert misplaced == []
