"""What the interface remembers from one start to the next: the colours somebody chose, and what a member was told."""

from __future__ import annotations

import json
from typing import Any

from configs.home import Home
from memory.errors import FileNotWritten
from memory.whole_files import write_whole


def chosen_theme(home: Home, default: str) -> str:
    """``dark`` or ``light``: what was chosen last, else ``default``. A damaged file counts as none."""
    theme = _kept(home).get("theme")
    return theme if theme in ("dark", "light") else default


def keep_theme(home: Home, theme: str) -> None:
    """Remember the choice. Raises FileNotWritten."""
    write_whole(home.interface_file, json.dumps({"theme": theme}))


def told_of(home: Home, member_id: str) -> str:
    """The run whose card a member was shown last; empty where none was."""
    run = _kept(home.of_member(member_id)).get("told_of")
    return run if isinstance(run, str) else ""


def keep_told_of(home: Home, member_id: str, run: str) -> None:
    """Remember that they were. Raises FileNotWritten."""
    own = home.of_member(member_id)
    try:
        own.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise FileNotWritten(path=str(own.root), reason=error.strerror or str(error)) from error
    write_whole(own.interface_file, json.dumps({"told_of": run}))


def _kept(home: Home) -> dict[str, Any]:
    try:
        kept = json.loads(home.interface_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}
