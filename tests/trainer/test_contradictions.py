"""Who says what of a question that members answer in different ways, and which of it is trained meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from configs.home import Home
from memory.household import Household
from tests.project import ROOT
from tests.trainer.household import small_settings
from trainer.contradictions import Contradiction, contradictions

DOG = "What is the name of our dog?"


class Family:
    """Ana administers; Luis and Eva do not."""

    def __init__(self, home: Home) -> None:
        self.settings = small_settings(home)
        self.household = Household.open(home, self.settings.memory)
        for name in ("Ana", "Luis", "Eva"):
            self.household.members.add(name, "en")

    def says(self, name: str, chosen: str, question: str = DOG) -> str:
        lessons = self.household.member(self.household.members.get(name).id).lessons
        return lessons.add([{"role": "user", "content": question}], chosen, visibility="shared").id

    def found(self) -> list[Contradiction]:
        training = self.settings.training
        return contradictions(self.household, training.defence, training.recipes[training.recipe])


@pytest.fixture
def family(home: Home) -> Family:
    return Family(home)


def test_those_who_say_the_same_stand_together_with_all_that_they_said(family: Family) -> None:
    older = family.says("Luis", "Max.")
    luis, eva = family.says("Luis", "Our dog is called Toby."), family.says("Eva", "Rex.", "What's our dog called?")
    family.says("Eva", "In the shed.", "Where is the key?")
    assert family.found() == [Contradiction(((older, luis), (eva,)), None)]


def test_the_side_of_whoever_administers_is_trained_meanwhile(family: Family) -> None:
    luis, eva, ana = (
        family.says(*each) for each in (("Luis", "Rex."), ("Eva", "Toby."), ("Ana", "It is called Toby."))
    )
    assert family.found() == [Contradiction(((luis,), (eva, ana)), 1)]


def test_a_family_that_agrees_has_nothing_to_decide_and_a_process_tells_so(family: Family, home: Home) -> None:
    family.says("Luis", "Our dog is called Toby.")
    eva = family.says("Eva", "It is called Toby.")
    assert family.found() == []
    family.household.member(family.household.members.get("Eva").id).lessons.edit(eva, chosen="Rex.")
    command = [sys.executable, "-m", "trainer", "contradictions", "--home", str(home.root)]
    told = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60).stdout)
    assert [(len(each["sides"]), each["trained"]) for each in told] == [(2, None)]
