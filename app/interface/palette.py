"""The command palette: every action of the table, found by its words, with its key beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider

from app.interface.actions import ACTIONS, Action

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp


class EnlaceCommands(Provider):
    """What can be done on the chat screen."""

    async def discover(self) -> Hits:
        for action in ACTIONS:
            yield DiscoveryHit(self._text(action), self._command(action), help=action.label or None)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in ACTIONS:
            score = matcher.match(self._text(action))
            if score > 0:
                shown = matcher.highlight(self._text(action))
                yield Hit(score, shown, self._command(action), help=action.label or None)

    def _text(self, action: Action) -> str:
        app: EnlaceApp = self.app  # type: ignore[assignment]
        return app.catalogue.text(f"screen.action.{action.name}")

    def _command(self, action: Action) -> Callable[[], object]:
        return partial(self.screen.run_action, action.name)
