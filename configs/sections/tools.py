"""Settings of the section ``tools``; defaults in ``configs/defaults/tools.yaml``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class CalculateSettings(BaseModel):
    """What a sum may cost."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    longest_expression: int = Field(ge=1, description="Characters of the longest sum that is read.")
    most_digits: int = Field(ge=1, description="A number with more digits than this is refused before it is computed.")
    largest_factorial: int = Field(ge=1, description="The largest number whose factorial is computed.")
    shown_digits: int = Field(ge=1, le=15, description="Significant digits shown of a number with decimals.")


class SearchSettings(BaseModel):
    """The search of the web."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: Literal["never", "asked", "news"] = Field(
        description='When a question may leave the house: never; when the member says so ("search …"); or also when it '
        "asks for news."
    )
    addresses: dict[str, str] = Field(
        description="Another address for a service, by its name: a mirror of the family's own, for instance."
    )
    longest_query: int = Field(ge=1, description="Characters of a search; what is longer is cut at a word.")
    backends: tuple[str, ...] = Field(min_length=1, description="The search services asked, by their ddgs names.")
    regions: dict[str, str] = Field(description="The region searched for each language, as ddgs names it.")
    safe_search: Literal["on", "moderate", "off"] = Field(description="How strictly adult results are left out.")
    most_results: int = Field(ge=1, le=20, description="The most results that are read and cited.")
    snippet_length: int = Field(ge=20, description="Characters kept of what a result says.")
    timeout_s: float = Field(gt=0, description="How long one search service may take to answer.")
    total_timeout_s: float = Field(gt=0, description="How long the whole search may take before it is stopped.")
    cache_hours: float = Field(ge=0, description="How long a result is used again instead of asking anew.")
    cache_entries: int = Field(ge=1, description="How many searches the cache remembers.")
    first_pause_s: float = Field(gt=0, description="How long to leave a service alone after its first refusal.")
    longest_pause_s: float = Field(gt=0, description="The longest pause; each refusal doubles the one before.")


class ToolsSettings(BaseModel):
    """What the assistant can do besides talking."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calculate: CalculateSettings
    search: SearchSettings
