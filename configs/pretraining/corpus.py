"""The group ``data`` of a run: the text that it is trained on; files in ``configs/corpora``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Form = Literal["text", "markdown", "jsonl", "epub", "wikipedia", "hub"]
PersonalKind = Literal["email", "phone", "identity", "iban", "card", "address"]
# The largest vocabulary whose ids are kept in 16 bits.
MOST_IN_16_BITS = 65_535


class _Part(BaseModel):
    """What every part of the corpus is."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Part):
    """One place that text comes from."""

    path: str = Field(
        min_length=1,
        description="A file or a folder; of the form hub, the name of a data set. A path that is not absolute begins "
        "at the file in which it stands, or on the command line where one is; {home} is the home.",
    )
    form: Form = Field(description="What is read there.")


class CleaningPlan(_Part):
    """Which documents are text."""

    least_characters: int = Field(ge=0, description="Shorter documents are left out.")
    least_letter_share: float = Field(
        ge=0, le=1, description="Share of letters and spaces below which one is left out."
    )
    most_repeated_share: float = Field(
        ge=0, le=1, description="Share of its lines that occur in it before, above which one is left out."
    )
    most_characters: int = Field(
        ge=1000, description="Longer documents are cut into several, between paragraphs where there are any."
    )
    line_documents: int = Field(
        ge=0,
        le=254,
        description="Documents in which a line may stand before later ones go without it (0: in any number).",
    )
    stretch_characters: int = Field(
        ge=1,
        description="Characters that are cleaned between two places from which an interrupted corpus goes on.",
    )


class DuplicatesPlan(_Part):
    """What counts as the same document twice (MinHash, Broder 1997)."""

    shingle_words: int = Field(ge=1, description="Words of the pieces that documents are compared by.")
    permutations: int = Field(ge=1, description="Hashes kept of each document; more tells likeness more exactly.")
    likeness: float = Field(
        gt=0, le=1, description="Share of pieces in common from which on the later one is left out."
    )


class IdentificationPlan(_Part):
    """How surely a document is in the corpus' language."""

    least: float = Field(ge=0, le=1, description="Probability below which a document is left out (0: all stay).")
    characters: int = Field(ge=1, description="Characters of a document that are looked at.")


class PersonalPlan(_Part):
    """What is somebody's own and is written over."""

    kinds: tuple[PersonalKind, ...] = Field(description="What is looked for; each is replaced by its name.")


class TokenizerPlan(_Part):
    """The trained tokenizer; how many tokens it has is ``model.vocabulary``."""

    sample_characters: int = Field(ge=1, description="Characters of the corpus that it is trained on, at most.")
    lowest_count: int = Field(ge=1, description="Pairs seen less often than this are never joined.")
    special_tokens: tuple[str, ...] = Field(
        min_length=1, description="Tokens that no text is read as; the first one ends each document."
    )


class Corpus(_Part):
    """Where the text comes from, and what becomes of it."""

    language: str = Field(pattern="^[a-z]{2,3}$", description="The language that it is in, by its ISO 639 code.")
    sources: tuple[Source, ...] = Field(min_length=1, description="Where the text comes from.")
    evaluations: tuple[Source, ...] = Field(
        description="What a model is measured by: a document that has thirteen words in a row of it is left out."
    )
    validation_share: float = Field(gt=0, lt=1, description="Share of the documents that is never trained on.")
    shard_tokens: int = Field(ge=1, description="Tokens of one file of the corpus.")
    loader: Literal["shards", "bytes"] = Field(
        description="What is trained on: tokens from shards, or the bytes of the text itself."
    )
    cleaning: CleaningPlan
    duplicates: DuplicatesPlan
    identification: IdentificationPlan
    personal: PersonalPlan
    tokenizer: TokenizerPlan
