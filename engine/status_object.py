"""What the client makes of the engine's account of itself."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from engine.answers import EngineStatus
from engine.errors import EngineOfOtherVersion


def read_status(told: dict[str, Any]) -> EngineStatus:
    """What is known here of an engine's account; another version may say more, or less.

    Raises EngineOfOtherVersion.
    """
    known = {field.name: told[field.name] for field in fields(EngineStatus) if field.name in told}
    if len(known) < len(fields(EngineStatus)):
        raise EngineOfOtherVersion(version=str(told.get("version", "?")))
    return EngineStatus(**known)
