"""Settings of the section ``interface``; defaults in ``configs/defaults/interface.yaml``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class InterfaceSettings(BaseModel):
    """How the screen looks and behaves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    theme: Literal["dark", "light"] = Field(description="Colours until somebody chooses others in the interface.")
    frames_per_second: float = Field(gt=0, description="How often at most a streaming answer is drawn, per second.")
    reading_width: int = Field(ge=20, description="Most cells in a line of an answer, however wide the terminal.")
    paragraph_bound: int = Field(
        ge=200, description="Characters after which an unbroken paragraph is laid out in parts, to stay smooth."
    )
    table_measured_rows: int = Field(ge=1, description="Rows of a table that settle the widths of its columns.")
    narrow_width: int = Field(ge=20, description="Terminals of at most so many columns hide the side list.")
    side_width: int = Field(ge=16, description="Cells for the side list of conversations.")
    composer_lines: int = Field(ge=1, description="Most lines to which the composer grows.")
    conversations_listed: int = Field(ge=1, description="Conversations that the side list shows, the last used first.")
    found_listed: int = Field(ge=1, description="Most results that a search in the conversations shows.")
    found_in_history: int = Field(ge=1, description="Most messages that a search in the history finds.")
    people_listed: int = Field(
        ge=1, description="Most persons, companies and places that are listed; a search finds the others."
    )
    search_seconds: float = Field(ge=0, description="Seconds without a key after which what is typed is searched for.")
    status_seconds: float = Field(gt=0, description="Seconds between two looks at the engine and the trainer.")
    training_seconds: float = Field(gt=0, description="Seconds between two readings of a running training's progress.")
    undo_seconds: float = Field(gt=0, description="Seconds for which an undo is offered on the screen.")
    lock_minutes: float = Field(
        ge=0,
        description="Minutes without a key or the mouse after which a member who has a PIN or a passphrase is asked for"
        " it again; 0 for never. Whoever has neither is never asked.",
    )
    share_corrections: bool = Field(
        description="Whether a correction is shared with the household unless its member keeps it private."
    )
