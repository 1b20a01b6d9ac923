"""What can keep a measurement from being taken, as a sentence for the person who asked for it."""

from __future__ import annotations


class MeasurementFailed(Exception):
    """One side could not be measured. The message is a whole sentence."""


class PeerMissing(MeasurementFailed):
    """A peer could not be installed or started here; the other side can still be measured."""
