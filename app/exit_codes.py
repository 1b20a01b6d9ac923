"""How a command may end, beside 0 (done), 1 (failed) and 2 (wrong usage)."""

from __future__ import annotations

from typing import Final

HELD: Final = 3  # the gate did not let the new weights pass
INTERRUPTED: Final = 130
READER_GONE: Final = 141  # what a shell reports of a program whose reader went away
