"""``enlace``, also as ``python -m app``. An interruption while the rest is still being imported ends quietly too."""

from __future__ import annotations

import sys

from app.exit_codes import INTERRUPTED


def main() -> None:
    """The console script."""
    try:
        from app.command import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
