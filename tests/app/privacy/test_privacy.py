"""Nothing private of one member reaches another, whatever all of them do.

A few hundred lives of a household here, ten thousand under `make soak` (SOAK_LIVES says how many).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from configs.home import Home
from tests.app.privacy.actions import ACTIONS, Action, ask, ask_what_others_know, everybody_looks, remember, teach
from tests.app.privacy.recording_engine import RecordingEngine
from tests.app.privacy.world import NAMES, World, furnish, inhabited, make_light

LIVES, MANY_LIVES = 40, 10_000
Step = tuple[str, Action, int]
STEPS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(ACTIONS), st.integers(0, 40)), min_size=1, max_size=12
)
# In memory where there is such a place: thousands of homes come and go.
PLACE = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108


@pytest.fixture(scope="module")
def engine() -> RecordingEngine:
    return RecordingEngine()


@pytest.fixture(scope="module")
def template(engine: RecordingEngine) -> Iterator[Home]:
    """A furnished home, and every engine that is opened replaced by the one that remembers and repeats."""
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory(dir=PLACE) as folder:
        make_light(patched, engine)
        made = Home(Path(folder) / "home")
        furnish(made)
        yield made


def live(template: Home, engine: RecordingEngine, steps: Sequence[Step]) -> World:
    with tempfile.TemporaryDirectory(dir=PLACE) as folder:
        world = inhabited(template, Path(folder), engine)
        for member, action, at in steps:
            action(world, member, at)
        everybody_looks(world)
    return world


SUPPRESSED = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large)


@settings(max_examples=LIVES, deadline=None, suppress_health_check=SUPPRESSED)
@given(steps=STEPS)
def test_no_private_word_of_one_member_reaches_another(
    template: Home, engine: RecordingEngine, steps: list[Step]
) -> None:
    live(template, engine, steps)


@pytest.mark.soak
@pytest.mark.timeout(0)
@settings(max_examples=int(os.environ.get("SOAK_LIVES", MANY_LIVES)), deadline=None, suppress_health_check=SUPPRESSED)
@given(steps=STEPS)
def test_no_private_word_reaches_another_in_ten_thousand_lives(
    template: Home, engine: RecordingEngine, steps: list[Step]
) -> None:
    live(template, engine, steps)


def test_the_one_whose_words_they_are_does_see_them(template: Home, engine: RecordingEngine) -> None:
    with tempfile.TemporaryDirectory(dir=PLACE) as folder:
        world = inhabited(template, Path(folder), engine)
        for action in (remember, teach, ask):
            action(world, "Ana", 0)
        engine.prompts.clear()
        ask_what_others_know(world, "Ana", 0)
        shown = world.run("Ana", "chats", "show", "1").out
        assert any(word in shown for word in world.secrets)


def test_a_word_that_reached_another_would_be_seen(template: Home, engine: RecordingEngine) -> None:
    with tempfile.TemporaryDirectory(dir=PLACE) as folder:
        world = inhabited(template, Path(folder), engine)
        remember(world, "Ana", 0)
        (word,) = world.secrets
        with pytest.raises(AssertionError, match="Bruno saw Ana's"):
            world.run("Bruno", "memory", "add", f"I heard of {word}")
        with pytest.raises(AssertionError, match="is in"):
            world.look_at_files()
