"""A systemd timer of this user's, which looks whether a training is due in a home (systemd.timer(5))."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.training import ROOT
from configs.errors import EnlaceError, Fact
from memory.errors import FileNotWritten
from memory.whole_files import write_whole

if TYPE_CHECKING:
    from configs.home import Home
    from configs.sections.training import TrainingSettings

_SERVICE: Final = """[Unit]
Description=Enlace: a training, where one is due and may begin

[Service]
Type=oneshot
WorkingDirectory={folder}
ExecStart={command}
# Told to stop, it ends its training in order; an engine that this training has started goes on.
KillMode=process
TimeoutStopSec={stop_s}
"""
_TIMER: Final = """[Unit]
Description=Enlace: looks whether a training is due

[Timer]
OnActiveSec={every_s}
OnUnitInactiveSec={every_s}

[Install]
WantedBy=timers.target
"""
_MINUTE: Final = 60
_HOUR_MINUTES: Final = 60


class NoUserTimers(EnlaceError):
    """There is no systemd here that keeps timers for this user. facts: reason.

    ``line``: of a crontab that does the same.
    """

    code = "no_user_timers"

    def __init__(self, line: str = "", **facts: Fact) -> None:
        super().__init__(**facts)
        self.line = line


class TimerRefused(EnlaceError):
    """systemd did not take the timer. facts: command, reason."""

    code = "timer_refused"


@dataclass(frozen=True)
class TimerState:
    """``active``: whether systemd keeps it; ``lingers``: also while this user is not logged in, None if unknown."""

    installed: bool
    active: bool
    lingers: bool | None
    path: str


class UserTimer:
    """The timer of one home. ``environ`` says where this user's units are."""

    def __init__(self, home: Home, settings: TrainingSettings, environ: Mapping[str, str]) -> None:
        self._home = home
        self._settings = settings
        self._environ = environ
        config = environ.get("XDG_CONFIG_HOME") or str(Path(environ.get("HOME") or "~").expanduser() / ".config")
        # A home's own, so that two homes of one user have one each.
        name = "enlace-" + hashlib.sha256(os.fsencode(home.root)).hexdigest()[:8]
        self.timer = Path(config) / "systemd" / "user" / f"{name}.timer"
        self.service = self.timer.with_suffix(".service")

    def install(self) -> TimerState:
        """Write the units and have systemd keep them. Raises NoUserTimers, TimerRefused, FileNotWritten."""
        self._check_manager()
        try:
            self.timer.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        except OSError as error:
            raise FileNotWritten(path=str(self.timer.parent), reason=error.strerror or str(error)) from error
        budget = self._settings.budget
        # A service's timer may ring before the worker that was told to stop has.
        stop_s = round(2 * (budget.stop_grace_seconds + budget.report_seconds))
        folder, command = _specifiers(str(ROOT)), " ".join(map(_quoted, self._command()))
        write_whole(self.service, _SERVICE.format(folder=folder, command=command, stop_s=stop_s))
        write_whole(self.timer, _TIMER.format(every_s=round(self._settings.night.timer_seconds)))
        try:
            self._ask("daemon-reload")
            self._ask("enable", "--now", self.timer.name)
        except TimerRefused:
            self._remove_files()
            raise
        return self.state()

    def remove(self) -> bool:
        """Take it away; whether there was one. A training that it began is stopped.

        Raises NoUserTimers, TimerRefused.
        """
        if not self.timer.exists():
            return False
        self._check_manager()
        self._ask("disable", "--now", self.timer.name)
        self._ask("stop", self.service.name)
        self._remove_files()
        self._ask("daemon-reload")
        return True

    def state(self) -> TimerState:
        """How it is."""
        installed = self.timer.exists()
        active = installed and _run("systemctl", "--user", "is-active", self.timer.name)[0] == 0
        code, told = _run("loginctl", "show-user", str(os.getuid()), "--property=Linger", "--value")
        return TimerState(installed, active, told == "yes" if code == 0 and told else None, str(self.timer))

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "trainer.night", "once", "--home", str(self._home.root)]

    def _check_manager(self) -> None:
        code, told = _run("systemctl", "--user", "show-environment")
        if code:
            minutes = max(1, min(_HOUR_MINUTES - 1, round(self._settings.night.timer_seconds / _MINUTE)))
            # crontab(5): a % that is not escaped ends the command.
            line = f"*/{minutes} * * * * cd {shlex.quote(str(ROOT))} && {shlex.join(self._command())}"
            raise NoUserTimers(line.replace("%", "\\%"), reason=told)

    def _ask(self, *what: str) -> None:
        code, told = _run("systemctl", "--user", *what)
        if code:
            raise TimerRefused(command=shlex.join(["systemctl", "--user", *what]), reason=told)

    def _remove_files(self) -> None:
        self.timer.unlink(missing_ok=True)
        self.service.unlink(missing_ok=True)


def _run(*command: str) -> tuple[int, str]:
    """How a command ended, and the last line that it wrote."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
    except OSError as error:
        return 127, f"{command[0]}: {error.strerror}"
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    return done.returncode, lines[-1] if lines else f"exit {done.returncode}" if done.returncode else ""


def _specifiers(text: str) -> str:
    """systemd.unit(5): % begins a specifier."""
    return text.replace("%", "%%")


def _quoted(word: str) -> str:
    """One word of a command line, as systemd.service(5) reads it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$").replace("\n", "\\n")
    return f'"{_specifiers(escaped)}"'
