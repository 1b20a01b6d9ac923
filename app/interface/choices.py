"""What the interface remembers of its own from one start to the next: the colours somebody chose."""

from __future__ import annotations

import json
import os
from pathlib import Path

from configs.home import Home


def chosen_theme(home: Home, default: str) -> str:
    """``dark`` or ``light``: what was chosen last, else ``default``. A damaged file counts as none."""
    try:
        kept = json.loads(home.interface_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return default
    theme = kept.get("theme") if isinstance(kept, dict) else None
    return theme if theme in ("dark", "light") else default


def keep_theme(home: Home, theme: str) -> None:
    """Remember the choice. Raises OSError."""
    target = home.interface_file
    aside = Path(f"{target}.{os.getpid()}")
    with aside.open("w", encoding="utf-8") as file:
        json.dump({"theme": theme}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, target)
