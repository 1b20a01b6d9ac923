"""Identifiers that sort by the time they were made and never collide between processes.

The layout is that of UUID version 7 (RFC 9562): 48 bits of milliseconds, then random bits. Within one
process they are strictly increasing, also when the clock stands still or is set back, because answers are
ordered by them.
"""

from __future__ import annotations

import os
import threading

RANDOM_BITS = 74
_lock = threading.Lock()
_last = 0


def new_id(now: float) -> str:
    """32 lower-case hex digits for something made at ``now`` (seconds since 1970)."""
    global _last
    fresh = (int(now * 1000) & (2**48 - 1)) << RANDOM_BITS | int.from_bytes(os.urandom(10), "big") >> 6
    with _lock:
        _last = fresh if fresh > _last else _last + 1
        value = _last
    milliseconds, random = value >> RANDOM_BITS, value & (2**RANDOM_BITS - 1)
    high, low = random >> 62, random & (2**62 - 1)
    return f"{milliseconds << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low:032x}"
