"""Settings of ``engine.grammar``: grammars that answers keep to; defaults in ``configs/defaults/engine.yaml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class GrammarSettings(BaseModel):
    """What a grammar, or the schema that one is made of, may cost."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    most_beginnings: int = Field(
        ge=1, description="In how many ways a rule may begin; each of them is held against every token of the model."
    )
    most_comparisons: int = Field(
        ge=1, description="How many parts of a schema are held against each other to tell the choices of a oneOf apart."
    )
    longest_token_s: float = Field(
        gt=0, description="Seconds of the processor that one token may take under a grammar; then its answer ends."
    )
    first_tokens: int = Field(
        ge=1,
        description="How many of the likeliest tokens are held against a grammar first; enough that one of them nearly "
        "always fits.",
    )
    tokens_at_once: int = Field(
        ge=1, description="How many tokens are held against a grammar between two looks at longest_token_s."
    )
