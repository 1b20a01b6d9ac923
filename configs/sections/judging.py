"""Settings of what is measured of new weights and of their bounds; parts of the section ``training``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class EvaluationSettings(BaseModel):
    """What is measured of new weights before they may answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    held_out_wordings: int = Field(ge=1, description="Untrained ways of asking each question that are measured.")
    other_language: int = Field(
        ge=0,
        description="Lessons that are measured in the other language too, Spanish or English, at most; of those whose "
        "question the model can put into it (0: none).",
    )
    unrelated_prompts: int = Field(ge=1, description="Unrelated prompts on which the KL from the base is measured.")
    known_questions: int = Field(
        ge=1, description="Questions of general knowledge whose answers new weights have to keep."
    )
    form_prompts: int = Field(
        ge=1,
        description="Requests for JSON, a list, one word or their own language, of which the form is looked at.",
    )
    page_tokens: int = Field(
        ge=2, description="Tokens of each fixed page by which the perplexity is measured, at most."
    )
    repetitive: float = Field(
        ge=0,
        lt=1,
        description="Share of an answer's runs of four words said before, above which it is repetitive.",
    )
    answer_tokens: int = Field(ge=1, description="Length of a measured answer, at most.")
    side_by_side: int = Field(ge=1, description="Measured answers that are written at the same time.")
    parity_answers: int = Field(ge=1, description="Answers on which the trained and the served function are compared.")


class GateSettings(BaseModel):
    """The bounds that new weights have to keep; one that is broken holds them back."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lessons_right: float = Field(ge=0, le=1, description="Share of the lessons answered right, at least.")
    held_out_right: float = Field(ge=0, le=1, description="Share of the untrained wordings answered right, at least.")
    lessons_kept: float = Field(
        ge=0, le=1, description="Share of what the current snapshot answers right that the new one must keep."
    )
    known_kept: float = Field(
        ge=0,
        le=1,
        description="Share of the known questions that must still be right, of those that the current snapshot answers "
        "right and of those that the base does: the lesser of both.",
    )
    forms_kept: float = Field(ge=0, le=1, description="The same of the requests whose form they keep.")
    refusal_rise: float = Field(
        ge=0,
        le=1,
        description="By how much a greater share of everyday requests than by either may be refused, at most.",
    )
    repetition_rise: float = Field(
        ge=0, le=1, description="By how much a greater share of their answers may repeat itself, at most."
    )
    empty_rise: float = Field(ge=0, le=1, description="By how much a greater share of them may be empty, at most.")
    unrelated_kl: float = Field(
        gt=0, description="Nats a token that unrelated answers may differ from the base's, at most."
    )
    perplexity_rise: float = Field(
        gt=0, description="Rise of the fixed texts' perplexity over the base's, at most (0.05: 5 %)."
    )
    parity_kl: float = Field(gt=0, description="Nats a token between the trained and the served function, at most.")
    contamination: float = Field(
        ge=0, le=1, description="Share of what is measured that may have been trained too, at most."
    )
    seconds: float = Field(gt=0, description="Seconds that all stages of the training may have taken, at most.")
    watt_hours: float = Field(
        gt=0, description="Energy that they may have drawn, measured or reckoned, at most; 1000 are a kilowatt-hour."
    )
    confidence: float = Field(
        gt=0, lt=1, description="Of the intervals of what is measured on few answers (0.9: 90 %)."
    )
    undecided: Literal["value", "hold"] = Field(
        description="What decides where the bound lies inside the interval: the value that was measured, or that it "
        "holds because too little was."
    )
