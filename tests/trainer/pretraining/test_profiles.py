"""A profile is held against what its device can do and against the machine; nothing falls back to something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.catalogue import Catalogue
from app.errors_text import explain
from configs.home import Home
from configs.pretraining.composing import Composed, compose
from configs.pretraining.errors import RunWrong
from configs.pretraining.hardware import Hardware
from tests.project import LANGUAGES
from trainer.pretraining.profiles import Card, Machine, check_machine, check_profile, has_code_for, this_machine

TURING = Card("RTX 2060", "7.5", 11.6)
BLACKWELL = Card("RTX 5090", "12.0", 31.4)
HOUSE = Machine(processors=4, memory_gib=16.0)
# What is typed after which run, the key that it is refused for, and the value that is proposed.
TOO_MUCH = {
    "bfloat16 on Turing": ("spanish-turing", "hardware.precision=bfloat16", "hardware.precision", "float16"),
    "flash on Turing": ("spanish-turing", "hardware.attention=flash", "hardware.attention", "efficient"),
    "float16 before Volta": ("spanish-turing", "hardware.capability=6.1", "hardware.precision", "float32"),
    "float16 on a processor": ("smoke", "hardware.precision=float16", "hardware.precision", "float32"),
    "efficient on a processor": ("smoke", "hardware.attention=efficient", "hardware.attention", "flash"),
    "flash in float32": ("spanish-blackwell", "hardware.precision=float32", "hardware.precision", "bfloat16"),
    "a head that kernels do not read": ("spanish-turing", "model.head_size=36", "model.head_size", "40"),
    "weights beyond the memory": ("spanish-10m", "model.layers=400", "model.layers", "=247"),
    "an embedding beyond the memory": ("spanish-10m", "model.vocabulary=2000000", "model.vocabulary", "model.width"),
    "a batch beyond the memory": ("spanish-10m", "hardware.memory_gib=0.2", "train.micro_batch", "=4"),
    "a sequence beyond the memory": ("spanish-10m", "hardware.memory_gib=0.135", "model.context", "=160"),
    "a head too wide for flash": ("spanish-blackwell", "model.head_size=264", "model.head_size", "256"),
}
UNLIKE = {
    "no card": ("spanish-turing", "", HOUSE, "hardware.device", "hardware=cpu"),
    "another card": ("spanish-turing", "", Machine(4, 16, cards=(BLACKWELL,)), "hardware.capability", "12.0"),
    "a card that torch was not built for": (
        "spanish-blackwell",
        "",
        Machine(4, 16, cards=(Card("RTX 5090", "12.0", 31.4, built=False),)),
        "hardware.capability",
        "PyTorch",
    ),
    "a card with less memory": (
        "spanish-turing",
        "",
        Machine(4, 16, cards=(Card("RTX 2060", "7.5", 5.79),)),
        "hardware.memory_gib",
        "=5.7",
    ),
    "fewer cards": (
        "spanish-turing",
        "hardware.processes=2",
        Machine(4, 16, cards=(TURING,)),
        "hardware.processes",
        "=1",
    ),
    "a processor without bfloat16": ("smoke", "hardware.precision=bfloat16", HOUSE, "hardware.precision", "float32"),
    "fewer processors": ("smoke", "hardware.threads=5", HOUSE, "hardware.threads", "hardware.threads=0"),
    "less memory": ("smoke", "hardware.processes=2", Machine(8, 4), "hardware.memory_gib", "=2.0"),
}


def composed(name: str, typed: str, home: Home) -> Composed:
    return compose(name, [typed] if typed else [], home, Path.cwd())


@pytest.mark.parametrize("what", TOO_MUCH)
def test_what_a_device_cannot_do_is_refused_without_a_look_at_the_machine(what: str, home: Home) -> None:
    name, typed, key, wanted = TOO_MUCH[what]
    with pytest.raises(RunWrong) as refused:
        check_profile(composed(name, typed, home))
    assert refused.value.facts["key"] == key
    _told_with(refused.value, wanted)


@pytest.mark.parametrize("what", UNLIKE)
def test_a_machine_that_is_not_what_the_profile_says_is_refused(what: str, home: Home) -> None:
    name, typed, machine, key, wanted = UNLIKE[what]
    with pytest.raises(RunWrong) as refused:
        check_machine(composed(name, typed, home), lambda _: machine)
    assert refused.value.facts["key"] == key
    _told_with(refused.value, wanted)


def _told_with(error: RunWrong, wanted: str) -> None:
    spanish, english = (str(explain(error, Catalogue(language))) for language in LANGUAGES)
    assert wanted in spanish
    assert wanted in english
    assert str(error.facts["reason"]) not in spanish
    assert "?" not in spanish + english


def test_each_shipped_profile_is_taken_by_the_machine_that_it_is_for(home: Home) -> None:
    for name, machine in {
        "spanish-turing": Machine(4, 16, cards=(TURING,)),
        "spanish-blackwell": Machine(4, 16, cards=(BLACKWELL,)),
        "spanish-10m": HOUSE,
    }.items():
        looked_at: list[Hardware] = []

        def look(hardware: Hardware, machine: Machine = machine, seen: list[Hardware] = looked_at) -> Machine:
            seen.append(hardware)
            return machine

        run = composed(name, "", home)
        check_machine(run, look)
        assert looked_at == [run.run.hardware]


def test_this_machine_has_its_processors_and_its_memory(home: Home) -> None:
    for precision in ("float32", "bfloat16"):
        run = composed("smoke", f"hardware.precision={precision}", home)
        machine = this_machine(run.run.hardware)
        assert machine.processors >= 1
        assert machine.memory_gib > 0.5


def test_code_runs_on_no_older_cards_of_its_major_version_and_ptx_on_all_that_are_no_older() -> None:
    assert has_code_for(["sm_80"], 8, 9)
    assert not has_code_for(["sm_86"], 8, 0)
    assert not has_code_for(["sm_75", "sm_90"], 12, 0)
    assert has_code_for(["sm_75", "compute_90"], 12, 0)
    assert not has_code_for(["compute_120"], 9, 0)
    assert has_code_for(["sm_90a"], 9, 0)
    assert not has_code_for(["sm_100a"], 10, 3)
