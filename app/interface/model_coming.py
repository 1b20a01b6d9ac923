"""A model that is downloaded while another answers, told of in the quiet line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.errors_text import explain
from app.first_start import ModelChoice, fetch_and_use
from app.using_models import use_model
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp
    from engine.pulling.events import Event


class ModelComing:
    """Of one interface, which may be closed meanwhile: what has arrived is kept."""

    def __init__(self, app: EnlaceApp, choice: ModelChoice) -> None:
        self._app = app
        self._choice = choice
        self._told = -1

    async def come(self) -> None:
        """Have the model answer as soon as it can."""
        app, name = self._app, self._choice.name
        try:
            if self._choice.here:
                await use_model(app.session, name)
                return
            self._say("download_begins", name=self._choice.title, now=app.session.snapshot().base_name)
            await fetch_and_use(app.session, name, self._moved)
        except EnlaceError as error:
            self._say("download_failed", problem=True, name=name, why=explain(error, app.catalogue).what)
        else:
            self._say("downloaded", name=self._choice.title)

    def _moved(self, event: Event) -> None:
        """Each tenth of the way."""
        from engine.pulling.events import Moved

        if isinstance(event, Moved) and event.total:
            tenth = 10 * event.done // event.total
            if tenth > self._told >= 0:
                now = self._app.session.snapshot().base_name
                self._say("downloading", name=self._choice.title, percent=10 * tenth, now=now)
            self._told = tenth

    def _say(self, key: str, *, problem: bool = False, **facts: str | int) -> None:
        chat = self._app.chat()
        if chat is not None:
            chat.tell(self._app.catalogue.text(f"screen.first.{key}", **facts), problem=problem)
