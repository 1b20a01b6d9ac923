"""What can go wrong with what a household remembers, each with the facts that its sentence needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from configs.errors import EnlaceError, Fact

if TYPE_CHECKING:
    from memory.imports.reading import BadEntry
    from memory.lesson_files import BadLine


class DatabaseDamaged(EnlaceError):
    """The file is not a database, or its pages contradict each other. facts: path, reason."""

    code = "database_damaged"


class DatabaseTooNew(EnlaceError):
    """A later version of Enlace wrote the file. facts: path, migration."""

    code = "database_too_new"


class DatabaseReadOnly(EnlaceError):
    """The file or its folder cannot be written. facts: path, reason."""

    code = "database_read_only"


class DatabaseBusy(EnlaceError):
    """Another process kept writing for longer than the settings wait. facts: path, seconds."""

    code = "database_busy"


class DatabaseFailed(EnlaceError):
    """SQLite refused for another reason. facts: path, reason."""

    code = "database_failed"


class DiskFull(EnlaceError):
    """No room left; nothing was half written. facts: path."""

    code = "disk_full"


class MemberUnknown(EnlaceError):
    """facts: name."""

    code = "member_unknown"
    exit_code = 2


class MemberExists(EnlaceError):
    """facts: name."""

    code = "member_exists"
    exit_code = 2


class MemberNameWrong(EnlaceError):
    """The name is empty, too long or holds control characters. facts: limit."""

    code = "member_name_wrong"
    exit_code = 2


class OnlyAdmin(EnlaceError):
    """The only one who administers would become a child or a guest. facts: name."""

    code = "only_admin"
    exit_code = 2


class MemberFilesLeft(EnlaceError):
    """A member is removed, and a file of theirs could not be deleted yet. facts: path, reason."""

    code = "member_files_left"


class ConversationUnknown(EnlaceError):
    """facts: id."""

    code = "conversation_unknown"
    exit_code = 2


class MessageUnknown(EnlaceError):
    """facts: id."""

    code = "message_unknown"
    exit_code = 2


class FactUnknown(EnlaceError):
    """facts: id."""

    code = "fact_unknown"
    exit_code = 2


class FactOfAnother(EnlaceError):
    """Somebody would remove for good what another said. facts: id."""

    code = "fact_of_another"
    exit_code = 2


class FactEmpty(EnlaceError):
    """There is nothing to remember in the text."""

    code = "fact_empty"
    exit_code = 2


class FactTooLong(EnlaceError):
    """facts: length, limit (characters)."""

    code = "fact_too_long"
    exit_code = 2


class LessonUnknown(EnlaceError):
    """facts: id."""

    code = "lesson_unknown"
    exit_code = 2


class LessonNotWaiting(LessonUnknown):
    """None of this number or id waits to be approved; the numbers of those that wait are others. facts: id."""

    code = "lesson_not_waiting"


class LessonEmpty(EnlaceError):
    """A lesson without a question or without the right answer. facts: part ("question" or "chosen")."""

    code = "lesson_empty"
    exit_code = 2


class LessonUnchanged(EnlaceError):
    """The corrected answer says the same as the rejected one."""

    code = "lesson_unchanged"
    exit_code = 2


class LessonTooLong(EnlaceError):
    """facts: part, length, limit (characters)."""

    code = "lesson_too_long"
    exit_code = 2


class LessonLinesWrong(EnlaceError):
    """Lines of an imported file are no lessons: ``bad``. facts: file, count."""

    code = "lesson_lines_wrong"

    def __init__(self, bad: Sequence[BadLine] = (), **facts: Fact) -> None:
        super().__init__(**facts)
        self.bad = bad


class ExportUnrecognised(EnlaceError):
    """A file to import holds no conversation in any form that is known. facts: path."""

    code = "export_unrecognised"
    exit_code = 2


class ExportDamaged(EnlaceError):
    """An archive to import cannot be read to its end. facts: path, reason."""

    code = "export_damaged"


class ExportTooLarge(EnlaceError):
    """A file to import is larger, unpacked, than the settings let it be. facts: megabytes, limit."""

    code = "export_too_large"


class ExportEntriesWrong(EnlaceError):
    """Entries of an export are no conversations; the first of them: ``bad``. facts: file, count."""

    code = "export_entries_wrong"

    def __init__(self, bad: Sequence[BadEntry] = (), **facts: Fact) -> None:
        super().__init__(**facts)
        self.bad = bad


class RepositoryUnreadable(EnlaceError):
    """git cannot read a folder's history. facts: path, reason."""

    code = "repository_unreadable"


class FileUnreadable(EnlaceError):
    """A file to import cannot be read. facts: path, reason."""

    code = "file_unreadable"


class FileNotWritten(EnlaceError):
    """A file to export cannot be written. facts: path, reason."""

    code = "file_not_written"


class FileInTheWay(EnlaceError):
    """A file to export would take the place of another, which may be the only one of its kind. facts: path."""

    code = "file_in_the_way"
    exit_code = 2


class SnapshotUnknown(EnlaceError):
    """facts: id."""

    code = "snapshot_unknown"
    exit_code = 2


class SnapshotPruned(EnlaceError):
    """Its weights are no longer kept. facts: id."""

    code = "snapshot_pruned"


class NoSnapshot(EnlaceError):
    """No snapshot was ever made in this home."""

    code = "no_snapshot"


class NothingToRollBack(EnlaceError):
    """The current snapshot is the first one, or the one asked for. facts: id."""

    code = "nothing_to_roll_back"


class NoPrivateAdapter(EnlaceError):
    """Nothing that was trained for this member alone is in force. No facts."""

    code = "no_private_adapter"


class RunUnknown(EnlaceError):
    """facts: id."""

    code = "run_unknown"
    exit_code = 2


class RunAlreadyRunning(EnlaceError):
    """facts: id."""

    code = "run_already_running"


class PrivateRunRunning(RunAlreadyRunning):
    """A run that is another member's own is under way: of that no more is told. No facts."""

    code = "private_run_running"


class ArtifactMissing(EnlaceError):
    """facts: digest, path."""

    code = "artifact_missing"


class MirrorUnreachable(EnlaceError):
    """Nothing can be read or written there. facts: address, reason."""

    code = "mirror_unreachable"


class MirrorDamaged(EnlaceError):
    """What came back is not what was put there. facts: address, digest."""

    code = "mirror_damaged"


class ArtifactDamaged(EnlaceError):
    """The bytes are no longer those that were stored. facts: digest, path."""

    code = "artifact_damaged"
