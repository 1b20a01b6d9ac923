"""Which version of Enlace is installed now, which need not be the one that a long-lived process runs."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str | None:
    """The version on this machine's disk at this moment; None while one is exchanged for another."""
    try:
        return version("enlace")
    except PackageNotFoundError:
        return None
