"""Settings of the section ``assistant``; defaults in ``configs/defaults/assistant.yaml``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

Form = Literal["line", "turns", "both"]


class AssistantSettings(BaseModel):
    """One turn of a conversation: what is put before the model and what is kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: Literal["", "es", "en"] = Field(
        description="What the program speaks with everybody who has no language of their own (`enlace members list`), "
        "from the next start on: es or en. Empty follows the system's, and Spanish where that is unknown. The model "
        "answers in whatever language it was asked and can write."
    )
    time_zone: str = Field(description="The household's time zone by its IANA name; empty is the machine's.")
    system_prompt: str = Field(
        min_length=1,
        description="What every conversation begins with. Training uses the same text: the trained function is the "
        "served one.",
    )
    lessons_before_model: int = Field(
        ge=0, description="The most lessons put before the model, which may confuse them."
    )
    recalled_forms: tuple[Form, ...] = Field(
        min_length=1,
        description="How a lesson is put before the model: as a line over the question, as an earlier exchange "
        "(turns), or both. The next form is tried when an answer does not say what the lesson teaches.",
    )
    sure_score: float = Field(
        ge=0, le=1, description="From this likeness of the questions on, an answer must say what the lesson teaches."
    )
    grounded_share: float = Field(
        gt=0, le=1, description="The share of the words that a lesson teaches that an answer must have."
    )
    ungrounded_characters: int = Field(
        ge=1, description="An answer that by this length does not say what the lesson teaches is begun anew."
    )
    longest_question_bytes: int = Field(ge=1, description="A question of more bytes than this is refused unread.")
    lesson_context_messages: int = Field(
        ge=0, description="How many messages before the question are kept with a correction."
    )
    answer_reserve: int = Field(ge=1, description="Tokens of the context kept free for the answer.")
    bytes_per_token: float = Field(
        gt=0, description="First guess of how much text a token holds, until the engine has said how long a prompt is."
    )
    store_every_s: float = Field(gt=0, le=1, description="How often the answer being written is put on disk, at most.")
    thinking: Literal["model", "on", "off"] = Field(
        description="Whether a thinking model thinks before it answers: on, off, or as it does by itself (model)."
    )
    retry_temperature: float = Field(
        gt=0, le=5, description="The temperature of another answer to the same question, so that it may be another."
    )
    compare_wait_s: float = Field(
        gt=0, description="How long the comparison of two snapshots waits before it looks again whether nobody chats."
    )
    compare_patience_s: float = Field(
        ge=0, description="How long it waits for one answer, while somebody chats, before it gives up."
    )
    tell_remembered: bool = Field(
        description="Whether Enlace says with the answer what it has kept of the question, and how to take it back."
    )
    tool_answer_tokens: int = Field(ge=1, description="The longest answer written from the result of a sum or a clock.")
    tool_answer_overlap: float = Field(
        ge=0, le=1, description="The share of words that an answer written from a tool's result must have from it."
    )

    @field_validator("time_zone")
    @classmethod
    def _known(cls, name: str) -> str:
        if name:
            # Its import is spared those who leave the zone to the machine.
            from zoneinfo import ZoneInfo

            try:
                ZoneInfo(name)
            except (KeyError, ValueError, OSError) as error:
                asked = "{zone} is no time zone that this machine knows (Europe/Madrid is one)"
                raise PydanticCustomError("time_zone_unknown", asked, {"zone": name}) from error
        return name
