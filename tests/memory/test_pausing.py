"""A pause is there for every process of the home until somebody ends it."""

from __future__ import annotations

import pytest

from configs.home import Home
from memory.errors import FileNotWritten
from memory.pausing import Pause, pause, paused, resume


def test_it_is_there_from_its_beginning_to_its_end(home: Home) -> None:
    assert paused(home) is None
    assert pause(home, "Ana", lambda: 5.0) == paused(home) == Pause("Ana", 5.0)
    assert pause(home, "Luis", lambda: 9.0) == Pause("Ana", 5.0)
    assert resume(home)
    assert paused(home) is None
    assert not resume(home)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"who": "Ana"}', '{"who": "Ana", "since": "now"}'])
def test_a_damaged_file_is_a_pause(home: Home, content: str) -> None:
    home.training_paused.write_text(content)
    assert paused(home) == Pause("", 0.0)
    assert resume(home)


def test_one_that_cannot_be_kept_says_so(home: Home) -> None:
    home.root.rename(home.root.with_name("away"))
    with pytest.raises(FileNotWritten):
        pause(home, "Ana", lambda: 5.0)
