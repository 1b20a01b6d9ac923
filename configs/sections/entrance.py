"""Settings of the section ``memory.entrance``; defaults in ``configs/defaults/memory.yaml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class EntranceSettings(BaseModel):
    """How a member proves who they are, and how long somebody waits who was wrong."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    least_digits: int = Field(ge=4, le=12, description="Shortest PIN, in digits.")
    most_digits: int = Field(ge=12, le=64, description="Longest PIN, in digits.")
    least_characters: int = Field(
        ge=8,
        le=64,
        description="Shortest passphrase, in characters: whoever has the file may try as many as they like.",
    )
    most_characters: int = Field(ge=64, le=4096, description="Longest passphrase, in characters.")
    free_tries: int = Field(ge=1, description="How many wrong tries in a row nobody has to wait after.")
    first_wait_seconds: float = Field(
        gt=0, description="How long to wait after the next wrong one; each one after that doubles it."
    )
    longest_wait_seconds: float = Field(gt=0, description="But no longer than this.")
    passes: int = Field(ge=1, description="How often Argon2id goes over its memory (RFC 9106, t).")
    memory_mib: int = Field(ge=8, description="How much memory Argon2id takes for one try (RFC 9106, m).")
    lanes: int = Field(ge=1, le=64, description="In how many lanes Argon2id works (RFC 9106, p).")
