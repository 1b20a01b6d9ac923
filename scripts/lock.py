"""Writes requirements.lock: the exact versions of everything that Enlace needs, as installed in this environment.

What was tested is what is locked. Local version labels (``+cpu``) are left out, so that each machine takes the
build that its own package index offers.
"""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from importlib.metadata import requires as requirements_of
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
# Every virtual environment brings its own pip, which had better not replace itself while it works.
LEFT_OUT = {"pip"}
HEADER = "# Written by `make lock` from the environment that the tests passed in. Do not edit.\n"


def closure(wanted: list[str]) -> dict[str, str]:
    """Name to version of all that ``wanted`` needs, direct or not. Raises PackageNotFoundError."""
    waiting = [Requirement(line) for line in wanted]
    seen: set[tuple[str, frozenset[str]]] = set()
    found: dict[str, str] = {}
    while waiting:
        requirement = waiting.pop()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        found[name] = version(name).partition("+")[0]
        for line in requirements_of(name) or []:
            needed = Requirement(line)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras or {""}):
                waiting.append(needed)
    return found


def main() -> int:
    """Write the lock; the exit code."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    try:
        locked = closure([*project["dependencies"], *project["optional-dependencies"]["dev"]])
    except PackageNotFoundError as error:
        print(f"{error.name} is not installed here: install it, test, then lock.", file=sys.stderr)
        return 1
    lines = [f"{name}=={number}\n" for name, number in sorted(locked.items()) if name not in LEFT_OUT]
    (ROOT / "requirements.lock").write_text(HEADER + "".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
