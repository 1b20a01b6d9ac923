"""A member's own training at night: for whom it is due, after the family's, and over which weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import Settings, load_settings
from memory.household import Household
from memory.manifests import Adapter
from memory.pausing import pause
from tests.trainer.night.test_night import NEEDED, House
from tests.trainer.test_faults import look
from tests.whole.tiny_family import move_in

OWN = 2


class OwnHouse(House):
    """One in which somebody keeps things to themselves."""

    def __init__(self, home: Home, settings: Settings, household: Household) -> None:
        super().__init__(home, settings, household)
        self._settings = self._settings.model_copy(update={"private_pairs": OWN})
        self.ana = household.members.default().id

    def keep(self, count: int) -> None:
        """So many private corrections of hers."""
        lessons = self.household.member(self.ana).lessons
        for _ in range(count):
            self._number += 1
            asked = [{"role": "user", "content": f"What is in my drawer {self._number}?"}]
            lessons.add(asked, f"Letter {self._number}.", "Nothing.", visibility="private")

    def wants(self) -> None:
        self.household.members.set_private_training(self.ana, wanted=True)

    def trained(self, file: Path, *, ship: bool) -> None:
        """She was trained alone, up to a verdict."""
        own, runs = self.household.member(self.ana).private, self.household.runs
        run = runs.create("private", member=self.ana)
        own.give(run.id, [lesson.id for lesson in own.corrections()])
        if ship:
            file.write_bytes(run.id.encode())
            own.promote(file, self.household.snapshots.current(), run.id, {"decision": "SHIP"})
        runs.finish(run.id, "shipped" if ship else "held")

    def family_learns(self, content: bytes) -> None:
        snapshots = self.household.snapshots
        adapter = Adapter(self.household.artifacts.put_bytes(content))
        base = snapshots.get("v0")
        made = snapshots.create(
            base.base_name, base.base_sha256, adapters=[adapter], parent="v0", run=None, reason="training", gate=None
        )
        snapshots.promote(made.id, "Ana", "a test")

    def due(self) -> bool:
        return self.night().look_at_members() == self.ana


@pytest.fixture
def house(home: Home, settings: Settings) -> Iterator[OwnHouse]:
    made: list[OwnHouse] = []
    with Household.open(home, settings.memory, lambda: made[0].now if made else 0.0) as household:
        made.append(OwnHouse(home, settings, household))
        household.snapshots.ensure_base("starter", "0" * 64)
        yield made[0]


def test_it_is_due_from_enough_private_corrections_on_where_the_member_wants_it(house: OwnHouse) -> None:
    house.keep(OWN - 1)
    house.wants()
    assert not house.due()
    house.keep(1)
    assert house.due()
    house.household.members.set_private_training(house.ana, wanted=False)
    assert not house.due()


def test_it_comes_after_the_familys_and_only_when_a_training_may_begin(house: OwnHouse) -> None:
    house.wants()
    house.keep(OWN)
    house.teach(NEEDED)
    assert not house.due()
    house.judged_by_hand()
    assert house.due()
    house.mains = False
    assert not house.due()
    house.mains = True
    running = house.household.runs.create("blame")
    assert not house.due()
    house.household.runs.finish(running.id, "done")
    pause(house.home, "Ana", lambda: 1.0)
    assert not house.due()


@pytest.mark.parametrize("ship", [True, False])
def test_what_was_judged_is_not_trained_again_until_there_is_more(house: OwnHouse, tmp_path: Path, ship: bool) -> None:
    house.wants()
    house.keep(OWN)
    house.trained(tmp_path / "adapter.gguf", ship=ship)
    assert not house.due()
    house.keep(OWN - 1)
    assert not house.due()
    house.keep(1)
    assert house.due()


def test_it_is_done_once_more_over_weights_that_have_changed(house: OwnHouse, tmp_path: Path) -> None:
    house.wants()
    house.keep(OWN)
    house.trained(tmp_path / "adapter.gguf", ship=True)
    house.now += 60
    house.family_learns(b"what the family taught")
    assert house.due()
    # Held over the new ones, it is not tried every minute.
    house.trained(tmp_path / "adapter.gguf", ship=False)
    assert not house.due()


def test_one_that_failed_is_tried_again_later(house: OwnHouse) -> None:
    house.wants()
    house.keep(OWN)
    run = house.household.runs.create("private", member=house.ana)
    house.household.runs.finish(run.id, "failed")
    assert not house.due()
    house.now += 2 * 3600
    assert house.due()


def test_the_schedule_trains_it_and_tells_whoever_watches_nothing_of_it(home: Home) -> None:
    move_in(home)
    settings = load_settings(home, {})
    with Household.open(home, settings.memory) as household:
        own = OwnHouse(home, settings, household)
        own.wants()
        own.keep(settings.training.night.private_pairs)
    assert look(home) == (0, ["begins_private", "ended_private"], "")
    with Household.open(home, settings.memory) as household:
        record = household.member(own.ana).private.current()
        assert record is not None
        assert (record.id, record.run, household.snapshots.current().adapters) == ("p1", "r0001", ())
        assert household.runs.get("r0001").state == "shipped"
    assert "drawer" not in home.trainer_log.read_text(encoding="utf-8")
    assert look(home)[1] == ["waiting"]
