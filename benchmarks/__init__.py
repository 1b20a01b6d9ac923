"""Enlace beside its peers: ``python -m benchmarks.engine``, ``.learning`` and ``.interface`` (docs/benchmarks.md)."""
