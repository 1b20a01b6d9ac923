"""How much each benchmark measures (``plan.yaml``), in full or quickly."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from configs.layers import read_layer


class EnginePlan(BaseModel):
    """How much ``benchmarks.engine`` measures."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ask_rounds: int = Field(ge=1, description="How often each side answers the one-shot question, cold and warm.")
    long_rounds: int = Field(ge=1, description="How often each side answers the question with a long answer.")
    stream_rounds: int = Field(ge=1, description="How often each server answers each prompt.")
    stream_tokens: int = Field(ge=8, description="Tokens to write in each streamed answer.")
    long_prompt_tokens: int = Field(ge=100, description="About how many tokens the long prompt has.")
    talk_rounds: int = Field(ge=1, description="How often each server has the conversation of ten turns.")
    swaps: int = Field(ge=8, description="How often another snapshot is swapped in.")
    between_swaps_s: float = Field(ge=0, description="Seconds between two swaps.")
    timeout_s: float = Field(gt=0, description="Seconds that one command or request may take.")
    bench_timeout_s: float = Field(gt=0, description="Seconds that choosing the served form may take.")


class LearningPlan(BaseModel):
    """How much ``benchmarks.learning`` measures."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rounds: int = Field(ge=1, description="How often each side trains.")
    pairs: int = Field(ge=1, le=64, description="How many of the pairs are trained.")
    epochs: int = Field(ge=1, description="Passes over the pairs.")
    gradient_pairs: int = Field(ge=1, le=64, description="Of how many of them, as one batch, gradients are compared.")
    timeout_s: float = Field(gt=0, description="Seconds that one training may take.")
    large_base: bool = Field(description="Whether a step on a base of 1.5 billion weights is taken.")
    seeds: tuple[int, ...] = Field(
        description="With which seeds the whole loop over 24 lessons is measured: it takes a quarter of an hour each."
    )
    nights: int = Field(ge=0, le=7, description="How many nights in a row are taught ten lessons each.")
    night_timeout_s: float = Field(gt=0, description="Seconds that the training of one of these nights may take.")


class InterfacePlan(BaseModel):
    """How much ``benchmarks.interface`` measures."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    characters: int = Field(ge=1000, description="Length of the streamed answer.")
    preloaded: int = Field(ge=0, description="How many of its characters are there before the measuring begins.")
    keys_per_second: float = Field(gt=0, description="How fast the person types.")
    start_rounds: int = Field(ge=1, description="How often each interface is started.")
    timeout_s: float = Field(gt=0, description="Seconds that one run may take.")


class PullPlan(BaseModel):
    """How much ``benchmarks.pull`` measures."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    megabytes: int = Field(ge=1, description="Size of the model that is downloaded.")
    rounds: int = Field(ge=1, description="How often each side downloads it.")
    connection_mb_per_s: int = Field(ge=1, description="What the limited server sends each connection a second.")


class PlanningPlan(BaseModel):
    """How much ``benchmarks.night`` plans and checks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stages: int = Field(ge=100, description="Stages of the graph that is planned.")
    objects: int = Field(ge=100, description="Objects of the store that is checked.")
    rounds: int = Field(ge=1, description="How often each is done.")


class RollbackPlan(BaseModel):
    """How often ``benchmarks.night`` goes back to the snapshot before."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rounds: int = Field(ge=1, description="How often the key is pressed.")


class BesidePlan(BaseModel):
    """How much ``benchmarks.night`` asks beside a training."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rounds: int = Field(ge=1, description="How often it is asked beside each stage, and while that is held.")
    tokens: int = Field(ge=8, description="Tokens to write in each answer.")
    replayed: int = Field(ge=1, description="Everyday prompts that the base answers in the stage before the training.")
    settle_s: float = Field(ge=0, description="Seconds from when a training goes on, or is held, to the question.")
    timeout_s: float = Field(gt=0, description="Seconds that it may take to come to a stage.")


class GraphPlan(BaseModel):
    """How large a graph ``benchmarks.memory`` looks into."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    nodes: int = Field(ge=1000, description="Nodes of the graph.")
    edges: int = Field(ge=1000, description="Edges between them.")
    looks: int = Field(ge=10, description="How often somebody's neighbourhood is looked for.")
    ways: int = Field(ge=1, description="How often the way between two is.")


class MemoryPlan(BaseModel):
    """How much ``benchmarks.memory`` keeps and looks for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    messages: tuple[int, ...] = Field(description="At how many messages of one member searches are measured.")
    facts: tuple[int, ...] = Field(description="At how many facts of one member recall is measured.")
    samples: int = Field(ge=20, description="How often each is done at each size.")
    seed: int = Field(description="Of the made words.")


class PretrainPlan(BaseModel):
    """How much ``benchmarks.pretrain`` trains."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rounds: int = Field(ge=1, description="How often each side takes its steps.")
    run: str = Field(description="The shipped run whose model is trained.")
    batch: int = Field(ge=1, description="Sequences of a step.")
    length: int = Field(ge=16, description="Tokens of a sequence.")
    steps: int = Field(ge=2, description="Steps of each side.")
    warm_steps: int = Field(ge=1, description="How many of them, the first, do not count.")
    precision: Literal["float32", "bfloat16"] = Field(description="What products are computed in on every side.")
    compiled: bool = Field(description="Whether the peers' models are compiled by torch, which takes a minute.")
    timeout_s: float = Field(gt=0, description="Seconds that the steps of one side may take.")


class Plan(BaseModel):
    """One size of every benchmark."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: EnginePlan
    learning: LearningPlan
    interface: InterfacePlan
    pull: PullPlan
    planning: PlanningPlan
    rollback: RollbackPlan
    beside_training: BesidePlan
    graph: GraphPlan
    memory: MemoryPlan
    pretrain: PretrainPlan


def load_plan(*, quick: bool) -> Plan:
    """The full plan, or the quick one."""
    size = "quick" if quick else "full"
    return Plan.model_validate(
        {name: sizes[size] for name, sizes in read_layer(Path(__file__).with_name("plan.yaml")).items()}
    )
