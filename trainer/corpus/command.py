"""What both processes do of a run's text: compose the run, prepare, and end in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from configs.errors import EnlaceError
from configs.home import Home
from configs.pretraining.composing import check_sources, compose
from configs.pretraining.places import Places
from configs.settings import load_settings
from engine.fit import usable_processors
from trainer.asked_run import INTERRUPTED
from trainer.corpus.errors import CorpusBusy
from trainer.corpus.hub import Hub
from trainer.corpus.preparing import Interrupted, Preparation
from trainer.courtesy import wish_to_stop
from trainer.room import alone_at
from trainer.telling import tell_line, tell_starter

LOCK: Final = "lock"


def carry(
    run: str, overrides: Sequence[str], processes: int | None, work: Callable[[Preparation, Places], None]
) -> int:
    """Do ``work`` for the run; the exit code: 0, 130 where it was told to stop, else the error's own."""
    home = Home.find(os.environ)
    try:
        composed = compose(run, overrides, home, Path.cwd())
        settings = load_settings(home, os.environ)
        places = Places(home, composed.run)
        stopping = wish_to_stop()
        home.prepare()
        hub = Hub(home.corpora, settings.engine, tell_line, stopping)
        with alone_at(places.corpus / LOCK, CorpusBusy(path=str(places.corpus))):
            preparation = Preparation(places, processes or len(usable_processors()), tell_line, stopping, hub.fetch)
            if not preparation.has_texts:
                check_sources(composed)
            work(preparation, places)
    except Interrupted:
        return INTERRUPTED
    except EnlaceError as error:
        return tell_starter(error)
    return 0
