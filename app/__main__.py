"""``enlace``, also as ``python -m app``. An interruption while the rest is still being imported ends quietly too."""

from __future__ import annotations

import os
import sys

from app.exit_codes import INTERRUPTED


def main() -> None:
    """The console script."""
    _open_what_is_closed()
    try:
        from app.command import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


def _open_what_is_closed() -> None:
    """Give a closed standard stream (``>&-``) an empty one: the next file opened, a database, would take its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open until the end


if __name__ == "__main__":
    main()
