"""A tool's context with a clock that stands still."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from app.catalogue import Catalogue
from configs.home import Home
from configs.settings import Settings
from tools.registry import ToolContext

# A Sunday, 18:46 in Madrid.
MOMENT = datetime(2026, 11, 29, 17, 46, tzinfo=UTC).timestamp()

MakeContext = Callable[..., ToolContext]


@pytest.fixture
def context(home: Home, settings: Settings) -> MakeContext:
    """``context("es")``: what a tool is given in Spanish, in Madrid, on that Sunday."""

    def make(language: str = "en", **search: object) -> ToolContext:
        tools = settings.tools.model_copy(update={"search": settings.tools.search.model_copy(update=search)})
        return ToolContext(home, tools, Catalogue(language), lambda: MOMENT, "Europe/Madrid")

    return make
