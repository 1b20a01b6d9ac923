"""What can go wrong with a backup, each with the facts that its sentence needs."""

from __future__ import annotations

from collections.abc import Sequence

from configs.errors import EnlaceError, Fact


class BackupError(EnlaceError):
    """The root of what this package raises."""

    code = "backup_failed"


class NothingToBackUp(BackupError):
    """There is no family in the home. facts: path."""

    code = "nothing_to_back_up"


class BackupInsideHome(BackupError):
    """The backup would lie in what it is a backup of. facts: path, home."""

    code = "backup_inside_home"
    exit_code = 2


class BackupExists(BackupError):
    """There is a file of that name. facts: path."""

    code = "backup_exists"
    exit_code = 2


class BackupNoRoom(BackupError):
    """facts: path, needed_mb, available_mb."""

    code = "backup_no_room"


class HomeUnreadable(BackupError):
    """facts: path, reason."""

    code = "home_unreadable"


class HomeFilesDamaged(BackupError):
    """Files of the home are not what their hash says, or are gone: ``paths``. facts: count, path (the first)."""

    code = "home_files_damaged"

    def __init__(self, paths: Sequence[str] = (), **facts: Fact) -> None:
        super().__init__(**facts)
        self.paths = paths


class BackupUnreadable(BackupError):
    """The file is no backup, or no whole one. facts: file, reason."""

    code = "backup_unreadable"


class BackupUnsafe(BackupError):
    """The file holds something that no backup of ours does, such as a path out of its folder. facts: file, path."""

    code = "backup_unsafe"


class BackupTooNew(BackupError):
    """A later version of Enlace made it. facts: file, version."""

    code = "backup_too_new"


class BackupDamaged(BackupError):
    """What is in it is not what was put into it: ``problems``. facts: file, count, path (the first)."""

    code = "backup_damaged"

    def __init__(self, problems: Sequence[tuple[str, str]] = (), **facts: Fact) -> None:
        super().__init__(**facts)
        self.problems = problems


class HomeNotEmpty(BackupError):
    """There is something in the home's place already. facts: path, count, first (one of its files or folders)."""

    code = "home_not_empty"
    exit_code = 2


class HomeNotReplaced(BackupError):
    """The home cannot be moved, or nothing be put into its place. facts: path, reason."""

    code = "home_not_replaced"


class EngineInTheWay(BackupError):
    """An engine of the home runs. facts: path."""

    code = "engine_in_the_way"


class TrainingInTheWay(BackupError):
    """A training of the home is under way. facts: path."""

    code = "training_in_the_way"


class HomeInUse(BackupError):
    """Another window has the home open. facts: path."""

    code = "home_in_use"
