"""The documents of a member whose file is encrypted are read while they are in: at night nobody could open it."""

from __future__ import annotations

import logging
import subprocess
from typing import TYPE_CHECKING

from app.documents import read_while_in
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.session import Session

_log = logging.getLogger(__name__)


class PapersRead:
    """Of one interface: by one process at a time, which has the key for as long as its member is in."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, session: Session) -> None:
        """Read what waits, where it is encrypted, unless that is being done."""
        if self._process is not None and self._process.poll() is None:
            return
        try:
            self._process = read_while_in(session)
        except (EnlaceError, OSError):
            _log.warning("documents are not read while their member is in", exc_info=True)

    def end(self) -> None:
        """Read no more. What the process was at is read another time, as after any death of one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
