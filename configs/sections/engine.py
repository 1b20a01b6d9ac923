"""Settings of the section ``engine``; defaults in ``configs/defaults/engine.yaml``."""

from __future__ import annotations

from itertools import pairwise
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from configs.sections.exporting import ExportSettings
from configs.sections.forms import FormSettings
from configs.sections.grammars import GrammarSettings
from configs.sections.processors import Threads
from configs.sections.pulling import PullSettings
from configs.sections.server import ServerSettings


class SamplingSettings(BaseModel):
    """How the next token is chosen where a request does not say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float = Field(ge=0, le=5, description="0 always takes the likeliest token; higher is more varied.")
    top_k: int = Field(ge=0, description="Keep the k likeliest tokens; 0 keeps all.")
    top_p: float = Field(gt=0, le=1, description="Keep the likeliest tokens that together reach this probability.")
    min_p: float = Field(ge=0, le=1, description="Drop tokens less likely than this share of the likeliest one.")
    repeat_penalty: float = Field(gt=0, le=5, description="Divides the odds of tokens used lately; 1 does nothing.")
    repeat_window: int = Field(ge=0, description="How many of the latest tokens the repeat penalty looks at.")
    max_tokens: int = Field(ge=1, description="The longest answer, in tokens.")


class MetricsSettings(BaseModel):
    """Where the histograms of ``GET /metrics`` have their bounds, in rising order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    first_token_s: tuple[float, ...] = Field(
        min_length=1, description="Bounds for how long the first token took, in seconds."
    )
    tokens_per_second: tuple[float, ...] = Field(
        min_length=1, description="Bounds for how fast an answer was written, in tokens a second."
    )
    swap_pause_s: tuple[float, ...] = Field(
        min_length=1, description="Bounds for how long a swap held up the answers, in seconds."
    )

    @field_validator("first_token_s", "tokens_per_second", "swap_pause_s")
    @classmethod
    def _rising(cls, bounds: tuple[float, ...]) -> tuple[float, ...]:
        if any(low >= high for low, high in pairwise(bounds)):
            raise PydanticCustomError("bounds_not_rising", "the bounds must rise")
        return bounds


class EngineSettings(BaseModel):
    """The process that holds the model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1, description="The model that a new household starts with.")
    context_size: int = Field(
        ge=256,
        description="Tokens that one conversation may hold, prompt and answer together; at most the model's own.",
    )
    first_context_size: int = Field(
        ge=64, description="Tokens a conversation has room for at first; it grows. Smaller starts sooner."
    )
    slots: int = Field(ge=1, le=64, description="How many answers are written at the same time.")
    queue_length: int = Field(ge=0, description="How many more questions may wait for a slot.")
    threads: Threads = Field(
        ge=0, description="Threads for computing, at most one a logical processor; 0 takes the physical cores."
    )
    thread_spins: int = Field(
        ge=0,
        description="How long a computing thread waits for the others before it sleeps. Too few slows a quiet machine, "
        "too many stalls a busy one.",
    )
    batch_size: int = Field(
        ge=2,
        description="Room for the tokens that are computed at once; there is always enough for a chunk of a prompt, "
        "a guess, and a token for each slot.",
    )
    prompt_chunk: int = Field(
        ge=2,
        le=63,
        description="Tokens of a prompt read per step: smaller stops sooner and lets other answers flow. From 64 on, "
        "llama.cpp computes attention in another way, and one question no longer has one answer.",
    )
    shared_prompt_chunk: int = Field(
        ge=2,
        le=63,
        description="The same while somebody else is answered too: smaller lets the others' words come more evenly.",
    )
    long_prompt_tokens: int = Field(
        ge=2,
        description="Where so many tokens of a prompt are read and so many are left, and nobody else is answered, "
        "it is a long one.",
    )
    long_prompt_chunk: int = Field(
        ge=2, description="Tokens of a long prompt read per step; 64 are read faster each than 63, and stop as soon."
    )
    prefix_cache_mb: int = Field(
        ge=0, description="Memory for what conversations that lost their slot had in the cache; 0 keeps nothing."
    )
    adapter_sets: int = Field(
        ge=0, description="How many sets of adapters that single requests named stay loaded for the next one."
    )
    lookup_tokens: int = Field(
        ge=0, le=63, description="The most tokens guessed at once from what the question says; 0 guesses none."
    )
    lookup_first: int = Field(ge=1, description="How many are guessed at first; more while the guesses are right.")
    lookup_match: int = Field(
        ge=1, description="How many tokens must stand in the question for a guess at what follows."
    )
    lookup_rest: int = Field(
        ge=0, description="For how many tokens nothing is guessed after one that was mostly wrong."
    )
    prefix_least_tokens: int = Field(
        ge=1, description="Fewer tokens than this in common with another conversation are read again, not copied."
    )
    prefix_copy_worth: int = Field(
        ge=1, description="How many tokens of the cache are copied in the time that reading one token takes."
    )
    flash_attention: bool = Field(description="Compute attention without storing the whole score matrix.")
    gpu_layers: int = Field(ge=-1, description="Layers kept on an accelerator; -1 all, 0 none.")
    memory_reserve_mb: int = Field(ge=0, description="Memory that loading a model must leave to the rest of the house.")
    swap_probe: str = Field(
        min_length=1, description="Text read before and after a swap to see that the weights changed."
    )
    start_timeout_s: float = Field(gt=0, description="How long a client waits for a starting engine.")
    most_starts: int = Field(
        ge=1,
        description="How often a client has an engine started for one question; one that is gone again each time does "
        "not end by chance.",
    )
    stop_timeout_s: float = Field(gt=0, description="How long a stopping engine waits for answers in flight.")
    request_timeout_s: float = Field(
        gt=0, description="How long a client waits for what comes whole; another server's stream may be silent as long."
    )
    status_timeout_s: float = Field(
        gt=0, description="How long a running engine may take to say how it does, or to be told to end."
    )
    silence_timeout_s: float = Field(
        gt=0, description="How long a streamed answer may be silent before its engine is taken for lost."
    )
    sign_of_life_s: float = Field(
        gt=0, description="How often a streamed answer with nothing to say yet says so; well below silence_timeout_s."
    )
    stream_interval_s: float = Field(
        ge=0, description="How often the text of a streamed answer is passed on at most; 0 passes on every token."
    )
    poll_s: float = Field(gt=0, description="How often a client looks whether a starting engine answers.")
    most_tool_calls: int = Field(
        ge=1, description="Tools that one answer may call; there it ends, since a small model may go on for ever."
    )
    background_tasks: int = Field(
        ge=1,
        description="How many texts are looked at in turns beside the answers (scores, embeddings); each takes a cache "
        "of its own, and the others wait.",
    )
    most_embedded_tokens: int = Field(
        ge=1, description="How many tokens the texts of one request for embeddings may have, all told."
    )
    longest_request_bytes: int = Field(ge=1024, description="Requests larger than this are refused unread.")
    log_bytes: int = Field(ge=1024, description="Size at which the engine's log starts a new file.")
    log_files: int = Field(ge=1, description="How many old log files are kept.")
    watch_s: float = Field(
        gt=0, description="How often the engine looks after itself: its progress, its memory, what native code printed."
    )
    state_interval_s: float = Field(
        ge=0,
        description="How old the state file, which tells how an engine died, may grow while nothing in it changes but "
        "counts of tokens; every change of what is answered is written at once.",
    )
    hang_timeout_s: float = Field(
        gt=0,
        description="How long one step may take before the engine counts as hung and ends; the next question starts "
        "a fresh one.",
    )
    memory_limit_mb: int = Field(
        ge=0,
        description="Resident memory above which the engine drops its caches, and then makes room for a fresh engine; "
        "0 sets no limit.",
    )
    # glibc takes no larger threshold than 32 MiB (HEAP_MAX_SIZE / 2), and says nothing (mallopt(3)).
    returned_block_kb: int = Field(
        ge=4,
        le=32768,
        description="A block of memory this large goes back to the system as soon as it is freed; smaller ones are "
        "kept for the next.",
    )
    retire_timeout_s: float = Field(
        gt=0, description="How long an engine above its memory limit waits for the answers in flight before it ends."
    )
    request_read_timeout_s: float = Field(gt=0, description="How long a request may take to arrive.")
    crash_reports: int = Field(ge=1, description="How many reports of crashed engines are kept.")
    crash_log_lines: int = Field(ge=0, description="How many of the log's last lines a crash report holds.")
    metrics: MetricsSettings = Field(description="How GET /metrics counts.")
    export: ExportSettings = Field(description="Snapshots written out for other machines of the house.")
    server: ServerSettings = Field(description="Another server that answers instead of the engine.")
    sampling: SamplingSettings = Field(description="Defaults for choosing the next token.")
    grammar: GrammarSettings = Field(description="Grammars that answers keep to.")
    hub: str = Field(pattern=r"^https?://[^\s/]+", description="Where the models of the catalogue are downloaded from.")
    hub_token: str = Field(
        description="Access token of the hub, for models that it gives only to whom it knows; sent to nobody else."
    )
    pull: PullSettings = Field(description="How models are downloaded.")
    form: FormSettings = Field(description="The form in which a model is served.")

    @model_validator(mode="after")
    def _signs_come_in_time(self) -> Self:
        if self.sign_of_life_s >= self.silence_timeout_s:
            asked = "sign_of_life_s must be below silence_timeout_s, or every long wait is taken for the end"
            raise PydanticCustomError("signs_come_too_late", asked)
        return self
