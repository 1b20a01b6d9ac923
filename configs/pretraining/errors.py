"""What may be wrong with a run before anything of it starts; all of it is wrong usage."""

from __future__ import annotations

from configs.errors import EnlaceError


class _Usage(EnlaceError):
    exit_code = 2


class RunFileMissing(_Usage):
    """facts: asked, folder (of those that are shipped), known (their names)."""

    code = "run_file_missing"


class GroupFileMissing(_Usage):
    """facts: file (in which it is named, or what was typed), group, asked, folder, known (names of those there are)."""

    code = "group_file_missing"


class RunUnreadable(_Usage):
    """facts: file (or what was typed), reason, line and column (counted from 1; 0 where nobody knows)."""

    code = "run_unreadable"


class RunKeyTwice(_Usage):
    """facts: file (or what was typed), key, line of the last (0 on the command line)."""

    code = "run_key_twice"


class OverrideWrong(_Usage):
    """What was typed after a run's name changes nothing. facts: given."""

    code = "override_wrong"


class RunWrong(_Usage):
    """facts: file (or what was typed), key, reason, kind, nearest (an existing key, or empty), and what it asks for."""

    code = "run_wrong"
