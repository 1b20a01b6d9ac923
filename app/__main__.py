"""``python -m app`` is ``enlace``."""

from __future__ import annotations

from app.command import main

if __name__ == "__main__":
    main()
