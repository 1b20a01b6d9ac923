"""Everything that the chat screen can do, in one table: key, method and text come from here and nowhere else.

The bindings, the help, the menu and the command palette are all made of it. The text of ``name`` is
``screen.action.<name>`` in the catalogues, the method ``action_<name>`` of the chat screen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Action:
    """``key`` as Textual names it, ``label`` as people do. ``writing``: also while an answer is being edited."""

    name: str
    key: str
    label: str
    writing: bool = False


ACTIONS: Final = (
    Action("help", "f1", "F1", writing=True),
    Action("new", "f2", "F2"),
    Action("search", "f3", "F3"),
    Action("correct", "f4", "F4"),
    Action("retry", "f5", "F5"),
    Action("good", "f6", "F6"),
    Action("bad", "f7", "F7"),
    Action("copy", "f8", "F8"),
    Action("learning", "f9", "F9"),
    Action("menu", "f10", "F10"),
    Action("memory", "f12", "F12"),
    Action("recalled", "ctrl+n", "Ctrl+N"),
    Action("rephrase", "ctrl+r", "Ctrl+R"),
    Action("previous_version", "ctrl+g", "Ctrl+G"),
    Action("next_version", "ctrl+t", "Ctrl+T"),
    Action("previous_entry", "ctrl+up", "Ctrl+↑"),
    Action("next_entry", "ctrl+down", "Ctrl+↓"),
    Action("side", "ctrl+l", "Ctrl+L"),
    Action("members", "ctrl+o", "Ctrl+O"),
    Action("lock", "ctrl+k", "Ctrl+K", writing=True),
    Action("theme", "", ""),
    Action("delete", "", ""),
    Action("undo", "", "Ctrl+Z"),
    Action("stop", "escape", "Esc"),
    Action("quit", "ctrl+q", "Ctrl+Q", writing=True),
)
