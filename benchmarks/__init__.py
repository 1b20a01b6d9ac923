"""Enlace beside its peers: ``python -m benchmarks.engine``, ``.learning``, ``.forms`` and more (docs/benchmarks.md)."""
