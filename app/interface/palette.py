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
        for action in self._actions():
            yield DiscoveryHit(self._text(action), self._command(action))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._actions():
            score = matcher.match(self._text(action))
            if score > 0:
                yield Hit(score, matcher.highlight(self._text(action)), self._command(action))

    def _actions(self) -> tuple[Action, ...]:
        """What the screen under the palette can do."""
        return tuple(action for action in ACTIONS if hasattr(self.screen, f"action_{action.name}"))

    def _text(self, action: Action) -> str:
        app: EnlaceApp = self.app  # type: ignore[assignment]
        text = app.catalogue.text(f"screen.action.{action.name}")
        return f"{text} · {action.label}" if action.label else text

    def _command(self, action: Action) -> Callable[[], object]:
        return partial(self.screen.run_action, action.name)
