"""What can be wrong with facts that come out of a file."""

from __future__ import annotations

from configs.errors import EnlaceError


class FactLinesWrong(EnlaceError):
    """A line is no fact that Enlace exported; nothing was taken in. facts: file, line."""

    code = "fact_lines_wrong"
    exit_code = 2
