"""What can be read off a running engine at any moment, as metrics: slots, queue, cache, memory, lives."""

from __future__ import annotations

import os
import time
from pathlib import Path

from configs.sections.engine import EngineSettings
from engine.crashes import Counts
from engine.prometheus import Family, gauge
from engine.resources import resident_memory
from engine.scheduler import Scheduler

OPEN_FILES = Path("/proc/self/fd")
MB = 1 << 20


def families(scheduler: Scheduler, settings: EngineSettings, counts: Counts, uptime_s: float) -> list[Family]:
    """The values of this moment."""
    held = [len(slot.tokens) for slot in scheduler.slots]
    found = [
        gauge("enlace_slots", "Answers that can be written at the same time.", settings.slots),
        gauge("enlace_slots_busy", "Answers being read for or written.", scheduler.working),
        gauge("enlace_queue_length", "Questions waiting for a slot.", scheduler.waiting),
        gauge("enlace_cache_tokens", "Tokens that the slots hold.", sum(held)),
        gauge(
            "enlace_prefix_cache_bytes", "What is kept of conversations that left their slots.", scheduler.prefix_bytes
        ),
        gauge(
            "enlace_cache_tokens_room",
            "Tokens that there is room for now, all slots.",
            scheduler.loaded.context.size * settings.slots,
        ),
        gauge(
            "enlace_cache_tokens_limit",
            "Tokens that there may be room for.",
            scheduler.loaded.context_size * settings.slots,
        ),
        gauge(
            "enlace_memory_limit_bytes",
            "Resident memory that the engine may hold; 0 is no limit.",
            settings.memory_limit_mb * MB,
        ),
        gauge("enlace_starts_total", "Engines started in this home.", counts.starts, "counter"),
        gauge("enlace_crashes_total", "Engines of this home that died.", counts.crashes, "counter"),
        gauge("process_resident_memory_bytes", "Resident memory.", resident_memory()),
        gauge("process_cpu_seconds_total", "Time of computing.", time.process_time(), "counter"),
        gauge("process_start_time_seconds", "When it started, in seconds since 1970.", time.time() - uptime_s),
    ]
    if OPEN_FILES.is_dir():
        found.append(gauge("process_open_fds", "Open files.", len(os.listdir(OPEN_FILES))))
    return found
