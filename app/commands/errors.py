"""What can be wrong with a command beyond its spelling."""

from __future__ import annotations

from configs.errors import EnlaceError


class ReferenceUnclear(EnlaceError):
    """facts: reference, number."""

    code = "reference_unclear"
    exit_code = 2


class ConfirmationMissing(EnlaceError):
    """Nothing was done. No facts."""

    code = "confirmation_missing"
    exit_code = 2


class OptionsApart(EnlaceError):
    """Two options that do not go together. facts: option, other."""

    code = "options_apart"
    exit_code = 2


class OptionNeeds(EnlaceError):
    """An option that says nothing without another. facts: option, other."""

    code = "option_needs"
    exit_code = 2


class SecretFileUnreadable(EnlaceError):
    """What is said to hold a PIN or a passphrase cannot be read. facts: path, reason."""

    code = "secret_file_unreadable"


class SecretFileOpen(EnlaceError):
    """Others can read the file that holds a PIN or a passphrase. facts: path."""

    code = "secret_file_open"


class LessonWithdrawn(EnlaceError):
    """A lesson that was taken back is to be shared, which would tell and train nothing. facts: question."""

    code = "lesson_withdrawn"
    exit_code = 2


class WhyMissing(EnlaceError):
    """A held training is to answer, and no reason was given for the record. No facts."""

    code = "why_missing"
    exit_code = 2


class VerdictUncounted(EnlaceError):
    """A training ended before its verdict counted. facts: run, why (in words)."""

    code = "verdict_uncounted"


class OnlyMember(EnlaceError):
    """facts: name."""

    code = "only_member"
    exit_code = 2


class LanguageUnknown(EnlaceError):
    """facts: language, known."""

    code = "language_unknown"
    exit_code = 2


class NoTerminal(EnlaceError):
    """The screen needs one to paint on. No facts."""

    code = "no_terminal"
    exit_code = 2


class MirrorNotNamed(EnlaceError):
    """There is no address to mirror to. No facts."""

    code = "mirror_not_named"
    exit_code = 2


class OutputUnwritable(EnlaceError):
    """Where the output goes takes nothing more (a full disk). facts: reason."""

    code = "output_unwritable"


class AlwaysAnswering(EnlaceError):
    """Somebody else was being answered all the while. facts: seconds."""

    code = "always_answering"
