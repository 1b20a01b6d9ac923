"""What both processes do of a run's text: compose the run, prepare, tell as JSON lines, and end in order."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from configs.errors import EnlaceError
from configs.home import Home
from configs.locks import take_lock
from configs.pretraining.composing import check_sources, compose
from configs.pretraining.places import Places
from configs.settings import load_settings
from trainer.corpus.errors import CorpusBusy
from trainer.corpus.hub import Hub
from trainer.corpus.preparing import Interrupted, Preparation, processes_here
from trainer.courtesy import stop_on_signals
from trainer.room import room_at
from trainer.telling import tell_starter

INTERRUPTED: Final = 130
LOCK: Final = "lock"


def tell(kind: str, fraction: float | None, facts: Mapping[str, Any]) -> None:
    """One line of JSON on stdout; ``fraction``: how much of this part is done, 0 to 1, if known."""
    line = json.dumps({"kind": kind, "fraction": fraction, "facts": dict(facts)}, ensure_ascii=False)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@contextmanager
def alone(corpus: Path) -> Iterator[None]:
    """Nobody else makes this corpus meanwhile. Raises CorpusBusy, NoRoom."""
    with room_at(corpus):
        corpus.mkdir(parents=True, exist_ok=True)
        file = (corpus / LOCK).open("wb")
    with file:
        if not take_lock(file):
            raise CorpusBusy(path=str(corpus))
        yield


def carry(
    run: str, overrides: Sequence[str], processes: int | None, work: Callable[[Preparation, Places], None]
) -> int:
    """Do ``work`` for the run; the exit code: 0, 130 where it was told to stop, else the error's own."""
    home, stopping = Home.find(os.environ), False

    def stop() -> None:
        nonlocal stopping
        stopping = True

    try:
        composed = compose(run, overrides, home, Path.cwd())
        settings = load_settings(home, os.environ)
        places = Places(home, composed.run)
        stop_on_signals(stop)
        home.prepare()
        hub = Hub(home.corpora, settings.engine, tell, lambda: stopping)
        with alone(places.corpus):
            preparation = Preparation(places, processes or processes_here(), tell, lambda: stopping, hub.fetch)
            if not preparation.has_texts:
                check_sources(composed)
            work(preparation, places)
    except Interrupted:
        return INTERRUPTED
    except EnlaceError as error:
        return tell_starter(error)
    return 0
