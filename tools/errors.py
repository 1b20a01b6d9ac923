"""What can go wrong with a tool, each with the facts that its sentence needs."""

from __future__ import annotations

from configs.errors import EnlaceError


class ToolError(EnlaceError):
    """The root of this room's errors."""

    code = "tool_error"


class ToolUnknown(ToolError):
    """facts: name, known."""

    code = "tool_unknown"
    exit_code = 2


class ToolArgumentWrong(ToolError):
    """facts: name, argument, expected."""

    code = "tool_argument_wrong"
    exit_code = 2


class SumUnreadable(ToolError):
    """facts: expression."""

    code = "sum_unreadable"


class SumTooLong(ToolError):
    """facts: length, longest."""

    code = "sum_too_long"


class SumTooBig(ToolError):
    """The result would have more digits than are computed. facts: most_digits."""

    code = "sum_too_big"


class SumUndefined(ToolError):
    """Division by zero, the root of a negative number and the like. facts: expression."""

    code = "sum_undefined"


class SearchOff(ToolError):
    """The household does not let questions out. No facts."""

    code = "search_off"


class SearchOffline(ToolError):
    """No search service can be reached. No facts."""

    code = "search_offline"


class SearchRefused(ToolError):
    """Every service asked us to wait. facts: minutes."""

    code = "search_refused"


class SearchTimedOut(ToolError):
    """facts: seconds."""

    code = "search_timed_out"


class SearchFoundNothing(ToolError):
    """facts: query."""

    code = "search_found_nothing"


class SearchFailed(ToolError):
    """facts: reason."""

    code = "search_failed"
