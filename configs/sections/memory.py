"""Settings of the section ``memory``; defaults in ``configs/defaults/memory.yaml``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from configs.sections.documents import DocumentsSettings
from configs.sections.entrance import EntranceSettings
from configs.sections.recall import RecallSettings


class SearchSettings(BaseModel):
    """Searching one's own conversations."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query_characters: int = Field(gt=0, description="Characters of a search that are looked at; the rest is ignored.")
    query_words: int = Field(gt=0, description="Words of a search that are looked for; the rest is ignored.")
    prefix_characters: int = Field(
        gt=0, description="From how many characters on the last word of a search also finds words that begin with it."
    )
    snippet_characters: int = Field(gt=10, description="How much of a message is shown around what was found.")
    postings: int = Field(
        gt=0, description="Entries of the index that are read at most for all words of a question: of each the latest."
    )
    postings_each: int = Field(
        gt=0, description="How many of them each word has, before the common ones share the rest."
    )
    pool: int = Field(gt=0, description="Messages that hold most of a question's words that are ranked, at most.")
    pool_characters: int = Field(gt=0, description="How much of each of them is looked at for very common words.")
    term_share: float = Field(
        ge=0, le=1, description="What a word of a question counts for in another form or language; the rest as it is."
    )
    weak_share: float = Field(ge=0, le=1, description="What a word counts for that is said of any thing (take, name).")
    length_share: float = Field(ge=0, le=1, description="How much a message counts for less because it is long.")
    usual_characters: int = Field(gt=0, description="Longer messages than this are long.")


class ReserveSettings(BaseModel):
    """Room for what has to be written when the disk is full, so that some can be made."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kilobytes: int = Field(ge=256, description="How much room the home keeps for that, in kB.")
    least_free_kilobytes: int = Field(ge=64, description="With less free than this, in kB, that room is given up.")
    plenty_megabytes: int = Field(gt=0, description="With more free than this, in MB, it is taken again.")


class ImportSettings(BaseModel):
    """Conversations from other assistants."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file_megabytes: int = Field(gt=0, description="Largest export that is read, unpacked, in MB.")
    entry_megabytes: int = Field(gt=0, description="Largest conversation in an export, in MB: it is held in memory.")
    batch_messages: int = Field(
        gt=0, description="After how many messages what was read is stored, and others may write in between."
    )


class FactSettings(BaseModel):
    """Which of what members say become facts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    in_passing: tuple[Literal["trusted", "child", "guest"], ...] = Field(
        description="Whose words become facts without being asked to: those of trusted members, of children, of guests."
        " Empty: only what somebody asks to be remembered."
    )
    longest_message: int = Field(
        gt=0, description="Longest message that facts are found in; a longer one is mostly copied from elsewhere."
    )
    model_reads: bool = Field(
        description="Whether the model reads, after an answer and while nobody asks, what patterns may have missed; a"
        " server of the family's is never asked to."
    )
    model_tokens: int = Field(gt=0, description="How much the model may write of one message that it reads.")
    model_after_seconds: float = Field(ge=0, description="How long nobody must have asked anything before it reads.")
    model_messages: int = Field(gt=0, description="How many of the latest messages it reads after an answer at most.")


class RepositorySettings(BaseModel):
    """Which pairs are made of a git repository's commits and reviews."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    commits: int = Field(gt=0, description="How many of the latest commits are read.")
    change_characters: int = Field(gt=0, description="Longest change that is asked about; longer ones are left out.")
    least_words: int = Field(gt=0, description="Shortest message, and shortest review, that teaches something.")


class PruneSettings(BaseModel):
    """What `enlace snapshots prune` keeps."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    snapshots: int = Field(
        ge=1,
        description="How many of the newest snapshots stay, and how many of those that one rollback after the other"
        " goes back to; the one that answers stays in any case.",
    )
    grace_hours: float = Field(
        ge=0, description="How long an object of the store stays that nobody needs yet: it may just have been made."
    )


class ProbationSettings(BaseModel):
    """When a snapshot that has just been promoted is gone back from by itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: int = Field(ge=1, description="How many of a snapshot's first answers are looked at, in the whole house.")
    compared: int = Field(ge=1, description="How many of a member's answers before them they are held against at most.")
    chance: float = Field(
        gt=0,
        lt=1,
        description="It goes when as many corrections and bad ratings would come by chance less often than this.",
    )
    fewest_bad: int = Field(ge=1, description="But not for fewer corrections and bad ratings than these.")


class MemorySettings(BaseModel):
    """What the household remembers, and within which limits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    busy_seconds: float = Field(gt=0, description="How long to wait while another process writes to the same file.")
    name_characters: int = Field(gt=0, description="Longest name of a member.")
    voice_characters: int = Field(gt=0, description="Longest description of how the assistant speaks to a member.")
    title_characters: int = Field(gt=0, description="Longest title of a conversation; a longer one is cut.")
    fact_characters: int = Field(gt=0, description="Longest fact.")
    lesson_characters: int = Field(gt=0, description="Longest question, and longest answer, of a lesson.")
    copy_tries: int = Field(
        gt=0,
        description="How often a backup begins a file that becomes shorter while it is copied; then it is damaged.",
    )
    unfinished_hours: float = Field(gt=0, description="After how long a half-written artifact is cleaned away.")
    deleted_days: float = Field(
        gt=0, description="For how many days what was deleted or forgotten can be restored; then it goes for good."
    )
    mirror: str = Field(
        description="Where `enlace snapshots mirror` keeps the weights too: a folder, or an address that fsspec "
        "reaches, such as s3://bucket/enlace (empty: it has to be named)."
    )
    entrance: EntranceSettings = Field(description="How a member proves who they are.")
    prune: PruneSettings = Field(description="What `enlace snapshots prune` keeps.")
    probation: ProbationSettings = Field(description="When a new snapshot is gone back from by itself.")
    search: SearchSettings = Field(description="Searching one's own conversations.")
    recall: RecallSettings = Field(description="Which lessons and facts come to mind at a question.")
    reserve: ReserveSettings = Field(description="Room for what has to be written when the disk is full.")
    imports: ImportSettings = Field(description="Conversations from other assistants.")
    facts: FactSettings = Field(description="Which of what members say become facts.")
    repository: RepositorySettings = Field(description="Pairs from a git repository.")
    documents: DocumentsSettings = Field(description="Documents of the family, and the graph of what they say.")
