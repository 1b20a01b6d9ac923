"""What each kind of device can do, and whether the machine has what a run's profile says: the one file that knows.

Nothing here falls back to something else: what a device cannot do is an error before anything starts. torch is imported
only to look at a device, so that a wrong profile is told at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import psutil

from configs.errors import Fact
from configs.pretraining.composing import Composed
from configs.pretraining.hardware import Attention, Hardware, Precision
from configs.pretraining.schema import Run
from trainer.pretraining.least import sequence_bytes, state_bytes, with_layers

GIB: Final = 1 << 30
# The kernels of efficient and flash attention on cards read a head in pieces of 8 numbers of 16 bits, and flash no more
# than 256 of them (torch's sdp_utils.cpp).
_HEAD_STEP: Final = 8
_FLASH_HEAD: Final = 256


@dataclass(frozen=True)
class Abilities:
    """``precisions``: in which it has instructions to multiply matrices; ``attentions``: that it computes."""

    precisions: tuple[Precision, ...]
    attentions: tuple[Attention, ...]


# What processors compute in blocks, of which no scores are kept, is called flash.
PROCESSOR: Final = Abilities(("float32", "bfloat16"), ("math", "flash"))
# From which compute capability on, the newest first: CUDA C++ Programming Guide, "Compute Capabilities", and
# FlashAttention-2 (arXiv 2307.08691), whose kernels begin with Ampere.
CARDS: Final[tuple[tuple[tuple[int, int], Abilities], ...]] = (
    ((8, 0), Abilities(("float32", "float16", "bfloat16"), ("math", "efficient", "flash"))),
    ((7, 0), Abilities(("float32", "float16"), ("math", "efficient"))),
    ((0, 0), Abilities(("float32",), ("math", "efficient"))),
)


@dataclass(frozen=True)
class Card:
    """``capability``: such as "7.5"; ``built``: whether this torch holds code for it."""

    name: str
    capability: str
    memory_gib: float
    built: bool = True


@dataclass(frozen=True)
class Machine:
    """What there is. ``bfloat16``: whether its processor has instructions for it; ``processors``: logical ones."""

    processors: int
    memory_gib: float
    bfloat16: bool = False
    cards: tuple[Card, ...] = ()


@dataclass(frozen=True)
class _Unmet:
    key: str
    reason: str
    kind: str
    facts: Mapping[str, Fact] = field(default_factory=dict)


def abilities(hardware: Hardware) -> Abilities:
    """What the device of a profile can do."""
    if hardware.device == "cpu":
        return PROCESSOR
    major, minor = (int(part) for part in hardware.capability.split("."))
    return next(able for least, able in CARDS if (major, minor) >= least)


def check_profile(composed: Composed) -> None:
    """Raises RunWrong where the profile asks its own device for what that cannot do, wherever this is asked."""
    _refuse_first(composed, _asked_too_much(composed))
    _refuse_first(composed, _over_memory(composed.run))


def this_machine(hardware: Hardware) -> Machine:
    """What there is here of what a profile asks for; torch is imported where nobody else can tell."""
    memory = psutil.virtual_memory().total / GIB
    processors = os.cpu_count() or 1
    if hardware.device == "cpu" and hardware.precision != "bfloat16":
        return Machine(processors, memory)
    import torch

    cards = []
    for index in range(torch.cuda.device_count()):
        facts = torch.cuda.get_device_properties(index)
        built = has_code_for(torch.cuda.get_arch_list(), facts.major, facts.minor)
        cards.append(Card(facts.name, f"{facts.major}.{facts.minor}", facts.total_memory / GIB, built))
    return Machine(processors, memory, torch.cpu._is_avx512_bf16_supported(), tuple(cards))


def check_machine(composed: Composed, look: Callable[[Hardware], Machine] = this_machine) -> None:
    """Raises RunWrong where the machine is not what the profile says, or has too little of it.

    It is looked at once the profile by itself is right: that may take seconds.
    """
    check_profile(composed)
    hardware = composed.run.hardware
    unmet = _cards_unlike if hardware.device == "cuda" else _processor_unlike
    _refuse_first(composed, unmet(hardware, look(hardware)))


def has_code_for(built: Sequence[str], major: int, minor: int) -> bool:
    """Whether what was ``built`` ("sm_86", "compute_90") runs on a card of this capability.

    Machine code runs within its major version on what is no older; PTX is compiled for all that is no older.
    """
    for kind, _, number in (each.partition("_") for each in built):
        # "90a": only for that very card.
        version = int(number.rstrip("af"))
        same = version // 10 == major or kind == "compute"
        if same and version <= 10 * major + minor and (number.isdigit() or version == 10 * major + minor):
            return True
    return False


def _refuse_first(composed: Composed, unmet: Iterator[_Unmet]) -> None:
    for each in unmet:
        raise composed.wrong(each.key, each.reason, each.kind, **each.facts)


def _asked_too_much(composed: Composed) -> Iterator[_Unmet]:
    hardware, head = composed.run.hardware, composed.run.model.head_size
    able = abilities(hardware)
    what = {"capability": hardware.capability}
    suffix = "card" if hardware.device == "cuda" else "processor"
    if hardware.precision not in able.precisions:
        facts = {**what, "precision": hardware.precision, "wanted": able.precisions[-1]}
        yield _Unmet("hardware.precision", "this device has no such precision", f"no_precision_on_{suffix}", facts)
    if hardware.attention not in able.attentions:
        facts = {**what, "attention": hardware.attention, "wanted": able.attentions[-1]}
        yield _Unmet("hardware.attention", "this device has no such attention", f"no_attention_on_{suffix}", facts)
    if hardware.device == "cpu":
        return
    if hardware.attention == "flash" and hardware.precision == "float32":
        wanted = able.precisions[-1]
        yield _Unmet("hardware.precision", "flash needs 16 bits", "flash_in_float32", {"wanted": wanted})
    if hardware.attention != "math" and head % _HEAD_STEP:
        wanted_size = -(-head // _HEAD_STEP) * _HEAD_STEP
        facts_of_head: dict[str, Fact] = {"attention": hardware.attention, "wanted": wanted_size}
        yield _Unmet("model.head_size", "kernels read 8 numbers at once", "head_size_of_kernels", facts_of_head)
    if hardware.attention == "flash" and head > _FLASH_HEAD:
        yield _Unmet("model.head_size", "too wide for flash attention", "head_size_of_flash", {"most": _FLASH_HEAD})


def _over_memory(run: Run) -> Iterator[_Unmet]:
    """What cannot fit into the profile's memory by arithmetic alone; what only may not is for the preflight to try."""
    room = int(run.hardware.memory_gib * GIB) - state_bytes(run)
    facts: dict[str, Fact] = {"memory": run.hardware.memory_gib}
    least = round(state_bytes(run) / GIB, 2)
    if room < 0:
        one, none = (state_bytes(with_layers(run, layers)) for layers in (1, 0))
        layers = (state_bytes(run) + room - none) // (one - none)
        if layers > 0:
            told: dict[str, Fact] = {**facts, "least": least, "wanted": layers}
            yield _Unmet("model.layers", "too many weights", "model_over_memory", told)
        yield _Unmet("model.vocabulary", "too many weights", "vocabulary_over_memory", {**facts, "least": least})
    sequences = room // sequence_bytes(run)
    if sequences < run.train.micro_batch:
        fitting = [each for each in run.micro_batches if each <= sequences]
        if fitting:
            told = {**facts, "micro_batch": run.train.micro_batch, "wanted": fitting[-1]}
            yield _Unmet("train.micro_batch", "too many sequences", "batch_over_memory", told)
        context = room // (sequence_bytes(run) // run.model.context)
        yield _Unmet("model.context", "too long a sequence", "context_over_memory", {**facts, "wanted": context})


def _cards_unlike(hardware: Hardware, machine: Machine) -> Iterator[_Unmet]:
    if not machine.cards:
        yield _Unmet("hardware.device", "torch finds no card", "no_card")
        return
    if hardware.processes > len(machine.cards):
        facts: dict[str, Fact] = {"cards": len(machine.cards), "processes": hardware.processes}
        yield _Unmet("hardware.processes", "fewer cards than processes", "fewer_cards", facts)
    for card in machine.cards[: hardware.processes]:
        told: dict[str, Fact] = {"name": card.name, "found": card.capability}
        if card.capability != hardware.capability:
            yield _Unmet("hardware.capability", "another card", "another_card", told)
        if not card.built:
            yield _Unmet("hardware.capability", "torch has no code for this card", "card_not_built", told)
        yield from _memory_short(hardware, card.memory_gib, "card_memory_short")


def _processor_unlike(hardware: Hardware, machine: Machine) -> Iterator[_Unmet]:
    if hardware.precision == "bfloat16" and not machine.bfloat16:
        reason = "no instructions for bfloat16"
        yield _Unmet("hardware.precision", reason, "processor_without_bfloat16", {"wanted": "float32"})
    asked = max(1, hardware.threads) * hardware.processes
    if asked > machine.processors:
        facts: dict[str, Fact] = {"asked": asked, "processors": machine.processors}
        key = "hardware.threads" if hardware.threads > 1 else "hardware.processes"
        yield _Unmet(key, "fewer processors than threads", "fewer_processors", facts)
    yield from _memory_short(hardware, machine.memory_gib / hardware.processes, "machine_memory_short")


def _memory_short(hardware: Hardware, each_gib: float, kind: str) -> Iterator[_Unmet]:
    """``each_gib``: what the machine has for each process."""
    if hardware.memory_gib > each_gib:
        # Rounded down, since it is to be asked for next.
        facts: dict[str, Fact] = {"asked": hardware.memory_gib, "most": int(each_gib * 10) / 10}
        yield _Unmet("hardware.memory_gib", "less memory than asked for", kind, facts)
