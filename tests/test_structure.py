"""The shape of the repository: where things are, how long they are, and what they do not speak of."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.project import ROOMS, ROOT, project_files

LONGEST_FILE = 300  # lines
# Files that may be longer, each with the reason.
LONGER: dict[str, str] = {
    "tests/app/test_assistant.py": "one fact after another about one turn of a conversation",
}

# The project speaks of itself alone: not of where, or with which tools, it was written.
FOREIGN = {
    "an issue's number": re.compile(r"\bissues? #?\d+\b", re.IGNORECASE),
    "a folder of somebody's machine": re.compile(r"/(work|opt|root)/[a-z]"),
    "a registry's host": re.compile(r"pypi\.org|pythonhosted|files\.python|npmjs"),
    "a session": re.compile(r"\b(helper|builder) session\b|\bsession's brief\b", re.IGNORECASE),
}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
SPEAKS_OF_ITSELF = ROOT / "tests" / "test_structure.py"  # it has to name what it looks for


def test_the_rooms_are_where_the_architecture_says() -> None:
    for room in ROOMS:
        assert (ROOT / room / "__init__.py").is_file(), room


def test_the_tests_mirror_the_rooms() -> None:
    tested = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert set(ROOMS) <= tested


def test_no_source_file_is_longer_than_a_subject_needs() -> None:
    too_long = {
        str(path.relative_to(ROOT)): lines
        for path in project_files(".py", ".sh", ".tcss")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE
    }
    assert {name: lines for name, lines in too_long.items() if name not in LONGER} == {}


def test_no_file_is_excused_for_a_length_that_it_no_longer_has() -> None:
    for name, reason in LONGER.items():
        assert reason
        assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) > LONGEST_FILE


@pytest.mark.parametrize("what", FOREIGN)
def test_the_project_speaks_of_itself_alone(what: str) -> None:
    found = []
    for path in project_files(".py", ".md", ".toml", ".yaml", ".lock", ".sql", ".tcss", ""):
        if path == SPEAKS_OF_ITSELF:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if FOREIGN[what].search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []


def test_nothing_is_left_unfinished() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in project_files(".py")
        if path != SPEAKS_OF_ITSELF
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if UNFINISHED.search(line)
    ]
    assert found == []


def test_every_module_says_what_it_is_about() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in project_files(".py")
        if path.name != "__init__.py"
        and path.relative_to(ROOT).parts[0] != "tests"
        and not path.read_text(encoding="utf-8").lstrip().startswith(('"""', 'r"""'))
    ]
    assert silent == []


def test_the_lock_names_exact_versions_and_nobodys_host() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins
    assert [line for line in pins if not re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line)] == []


def test_the_lock_holds_everything_that_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = {line.split("==")[0] for line in lock.splitlines() if "==" in line}
    asked = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower().replace("_", "-") for line in asked}
    assert names <= locked


def test_every_test_says_in_its_name_what_is_true() -> None:
    vague = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in project_files(".py")
        if path.name.startswith("test_")
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
        if name.count("_") < 3
    ]
    assert vague == []
