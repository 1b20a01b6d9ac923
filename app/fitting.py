"""Starting the trainer to fit the current snapshot to the form in which its model is served; nobody waits for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from configs.detached import leave_running, start_detached
from configs.home import Home

if TYPE_CHECKING:
    from app.session import Session

_ROOT: Final = Path(__file__).resolve().parent.parent


def fit_current(session: Session) -> bool:
    """Begin to fit the current snapshot where that makes it faster; whether it was begun."""
    from engine.forms.serving import wants_fitting

    current = session.snapshot()
    adapters = [(each.sha256, each.scale) for each in current.adapters]
    if not adapters or not wants_fitting(session.home, current.base_sha256, adapters):
        return False
    start_fitting(session.home)
    return True


def start_fitting(home: Home) -> None:
    """Begin it in a process of its own at idle priority, which has a running engine take up what comes of it."""
    with home.trainer_log.open("ab") as output:
        command = [sys.executable, "-m", "trainer", "fit", "--home", str(home.root)]
        environ = home.environment(os.environ)
        leave_running(start_detached(command, folder=_ROOT, environ=environ, output=output))
