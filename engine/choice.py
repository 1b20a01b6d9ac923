"""Whatever answers questions, as the settings choose it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.interface import Engine


def open_engine(
    home: Home, settings: EngineSettings, manifest: Callable[[], str], environ: Mapping[str, str]
) -> Engine:
    """The household's own engine, or the server that ``engine.server`` names; nothing is started or asked yet.

    ``manifest()`` gives the digest of the current snapshot. Raises ServerAddressWrong and ServerKeyMissing.
    """
    if settings.server.kind == "own":
        from engine.client import EngineClient

        return EngineClient(home, settings, manifest)
    from engine.elsewhere.client import ServerClient

    return ServerClient(home, settings, manifest, environ)
