"""Imports for Ana, as her command does them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings
from memory.chats import Chats
from memory.household import MemberMemory
from memory.imports.storing import ImportedChats, import_chats

Take = Callable[..., ImportedChats]


@pytest.fixture
def take(memory: MemberMemory, settings: Settings, tmp_path: Path) -> Take:
    """``take(content)`` imports a file with that JSON for Ana, or the file itself."""

    def taken(content: Any, *, into: Chats | None = None, bad_to: Path | None = None, **bounds: int) -> ImportedChats:
        path = content
        if not isinstance(content, Path):
            path = tmp_path / "export.json"
            path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        limits = settings.memory.imports.model_copy(update=bounds)
        silent = lambda done, total: None  # noqa: E731
        return import_chats(into or memory.chats, path, limits, bad_to=bad_to, check=silent, store=silent)

    return taken
