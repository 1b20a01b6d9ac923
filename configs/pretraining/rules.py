"""What the parts of a run ask of each other: each rule names the key, what is wrong with it, and by which numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, LiteralString

if TYPE_CHECKING:
    from configs.pretraining.schema import Run

# Each byte is a token of its own.
BYTES: Final = 256
# Numbers that are tried to find one that divides another; a wrong run is told at once.
_MANY: Final = 100_000


@dataclass(frozen=True)
class Broken:
    """``kind``: the code by which the reason and the way out are put into words; ``facts``: what those need."""

    key: str
    kind: LiteralString
    reason: LiteralString
    facts: dict[str, Any] = field(default_factory=dict)


def broken(run: Run) -> Iterator[Broken]:
    """Every rule that ``run`` breaks, those first without which others mean nothing."""
    yield from _of_hardware(run)
    yield from _of_heads(run)
    yield from _of_vocabulary(run)
    yield from _of_batches(run)
    yield from _of_steps(run)


def _of_hardware(run: Run) -> Iterator[Broken]:
    device, capability = run.hardware.device, run.hardware.capability
    if device == "cuda" and not capability:
        yield Broken("hardware.capability", "capability_missing", "a card has a compute capability")
    if device == "cpu" and capability:
        yield Broken("hardware.capability", "capability_of_processor", "a processor has no compute capability")


def _of_heads(run: Run) -> Iterator[Broken]:
    shape = run.model
    if shape.heads % shape.kv_heads:
        facts = {"heads": shape.heads, "kv_heads": shape.kv_heads, "wanted": _fitting(shape.heads, shape.kv_heads)}
        yield Broken("model.kv_heads", "heads_not_shared", "{heads} heads cannot be shared among {kv_heads}", facts)
    if shape.head_size % 2:
        facts = {"wanted": shape.head_size + 1}
        yield Broken("model.head_size", "head_size_odd", "RoPE turns numbers in pairs", facts)


def _of_vocabulary(run: Run) -> Iterator[Broken]:
    special = run.data.tokenizer.special_tokens
    facts = {"vocabulary": run.model.vocabulary, "wanted": BYTES + len(special)}
    if len(set(special)) < len(special):
        yield Broken("data.tokenizer.special_tokens", "special_twice", "a special token is named twice")
    if run.data.loader == "bytes" and run.model.vocabulary != facts["wanted"]:
        reason: LiteralString = "bytes and special tokens make {wanted} tokens"
        yield Broken("model.vocabulary", "vocabulary_not_of_bytes", reason, facts)
    if run.model.vocabulary < facts["wanted"]:
        reason = "bytes and special tokens alone make {wanted} tokens"
        yield Broken("model.vocabulary", "vocabulary_too_small", reason, facts)


def _of_batches(run: Run) -> Iterator[Broken]:
    plan, processes = run.train, run.hardware.processes
    if plan.batch % (plan.micro_batch * processes):
        facts = {"batch": plan.batch, "micro_batch": plan.micro_batch, "processes": processes}
        if plan.batch % processes:
            reason: LiteralString = "{batch} sequences cannot be shared among {processes} processes"
            yield Broken("train.batch", "batch_not_shared", reason, {**facts, "wanted": _next(plan.batch, processes)})
        else:
            share = plan.batch // processes
            reason = "a process's {share} sequences are not made of micro-batches of {micro_batch}"
            facts |= {"share": share, "wanted": _fitting(share, plan.micro_batch)}
            yield Broken("train.micro_batch", "micro_batch_not_shared", reason, facts)
    if run.data.shard_tokens <= run.model.context:
        facts = {"context": run.model.context, "shard_tokens": run.data.shard_tokens}
        reason = "a sequence of {context} tokens does not fit into a shard of {shard_tokens}"
        yield Broken("data.shard_tokens", "shard_shorter_than_context", reason, facts)


def _of_steps(run: Run) -> Iterator[Broken]:
    plan, steps = run.train, run.steps
    if plan.tokens < run.step_tokens:
        facts = {"tokens": plan.tokens, "wanted": run.step_tokens}
        yield Broken("train.tokens", "less_than_a_step", "one step alone takes {wanted} tokens", facts)
        return
    decay = plan.decay_steps(run.model.context)
    if plan.warmup_steps + decay > steps:
        facts = {"warmup": plan.warmup_steps, "decay": decay, "steps": steps, "most": max(0, steps - decay)}
        reason: LiteralString = (
            "warmup of {warmup} and decay of {decay} steps are longer than the run, which has {steps}"
        )
        yield Broken("train.warmup_steps", "warmup_too_long", reason, facts)


def _fitting(number: int, asked: int) -> int:
    """The largest divisor of ``number`` that is no more than ``asked``, or 1 where a look at many found none."""
    return next((each for each in range(asked, max(1, asked - _MANY), -1) if number % each == 0), 1)


def _next(number: int, step: int) -> int:
    """The next multiple of ``step``."""
    return -(-number // step) * step
