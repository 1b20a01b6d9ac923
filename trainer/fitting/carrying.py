"""A whole fitting in this process: after a promotion, after the form was chosen anew, after a rollback."""

from __future__ import annotations

import threading
import time

from configs.home import Home
from configs.settings import Settings
from engine.forms.records import AdaptedRecord
from memory.household import Household
from trainer.courtesy import stop_on_signals
from trainer.errors import NoRoom
from trainer.fitting.fit import Fitter


def carry_fitting(home: Home, settings: Settings) -> AdaptedRecord | None:
    """What is on record of the current snapshot then; stopped by SIGTERM or SIGINT.

    Raises NoRoom and what ``Fitter.run`` does.
    """
    stopping = threading.Event()
    stop_on_signals(stopping.set)
    try:
        with Household.open(home, settings.memory, unattended=True) as household:
            return Fitter(home, settings, household, time.time, stopping.is_set).run()
    except OSError as error:
        raise NoRoom(path=str(error.filename or home.models), reason=error.strerror or str(error)) from error
