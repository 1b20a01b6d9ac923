"""What the base said is asked for once, and never answers another question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from tests.trainer.random_model import write_random_model
from trainer.model.decoder import Decoder
from trainer.model.reading import read_base
from trainer.objectives.interface import Example
from trainer.packing import Item
from trainer.reference_cache import PATTERN, ReferenceCache, row_name
from trainer.references import kept_examples, references_digest, with_pair_references

LOTS = 1 << 20
ITEMS = [Item((1, 2, 3), (4, 5)), Item((1, 2, 3), (4, 6, 7)), Item((9, 8), (7, 6, 5))]
PAIRS = [Example(tuple(ITEMS[:2])), Example(tuple(ITEMS[2:]))]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    path = tmp_path_factory.mktemp("model") / "random.gguf"
    write_random_model(path, "llama", layers=2)
    return Decoder(read_base(path))


class Asked:
    """Counts the forwards."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


def both(
    base: Decoder, cache: ReferenceCache, asked: Callable[[], None], items: Sequence[Item] = ITEMS
) -> list[Example]:
    """The references of the pairs, and what replay keeps of the items; written."""
    found = with_pair_references(base, PAIRS, 512, asked, cache)
    found += kept_examples(base, [(item, item) for item in items], 4, 512, asked, cache)
    cache.write()
    return found


def test_what_was_asked_in_one_night_is_known_in_the_next_to_the_bit(base: Decoder, tmp_path: Path) -> None:
    first, second = Asked(), Asked()
    computed = both(base, ReferenceCache(tmp_path, "base", LOTS), first)
    known = both(base, ReferenceCache(tmp_path, "base", LOTS), second)
    assert (first.times, second.times) == (2, 0)
    assert known == computed
    assert references_digest(known) == references_digest(computed)
    alone = with_pair_references(base, PAIRS, 512, lambda: None)
    assert references_digest(alone) == references_digest(computed[:2])


def test_only_what_is_new_is_asked(base: Decoder, tmp_path: Path) -> None:
    both(base, ReferenceCache(tmp_path, "base", LOTS), Asked())
    asked = Asked()
    more = [*ITEMS, Item((1, 2, 3), (4, 5, 6))]
    found = both(base, ReferenceCache(tmp_path, "base", LOTS), asked, more)
    assert asked.times == 1
    assert [len(example.items[0].answer) for example in found[2:]] == [2, 3, 3, 3]


@pytest.mark.parametrize("changed", ["base", "kept", "prompt", "border"])
def test_another_question_is_never_answered(base: Decoder, tmp_path: Path, changed: str) -> None:
    cache = ReferenceCache(tmp_path, "base", LOTS)
    kept_examples(base, [(ITEMS[0], ITEMS[0])], 4, 512, lambda: None, cache)
    cache.write()
    asked = Asked()
    item = {"prompt": Item((1, 9, 3), (4, 5)), "border": Item((1, 2, 3, 4), (5,))}.get(changed, ITEMS[0])
    other = ReferenceCache(tmp_path, "another base" if changed == "base" else "base", LOTS)
    kept_examples(base, [(item, item)], 5 if changed == "kept" else 4, 512, asked, other)
    assert asked.times == 1


def test_a_damaged_file_is_as_good_as_none(base: Decoder, tmp_path: Path) -> None:
    computed = both(base, ReferenceCache(tmp_path, "base", LOTS), Asked())
    (path,) = tmp_path.glob(PATTERN)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    asked = Asked()
    assert both(base, ReferenceCache(tmp_path, "base", LOTS), asked) == computed
    assert asked.times == 2
    assert ReferenceCache(tmp_path, "base", LOTS).get(row_name("pair", ITEMS[0]))


def test_what_nobody_asks_for_any_more_is_forgotten(base: Decoder, tmp_path: Path) -> None:
    both(base, ReferenceCache(tmp_path, "base", LOTS), Asked())
    later = ReferenceCache(tmp_path, "base", LOTS)
    with_pair_references(base, PAIRS, 512, lambda: None, later)
    later.write()
    left = ReferenceCache(tmp_path, "base", LOTS)
    assert left.get(row_name("pair", ITEMS[0]))
    assert left.get(row_name("kept4", ITEMS[0])) is None


def test_all_files_together_keep_to_the_room_there_is(tmp_path: Path) -> None:
    room = 6000
    for number in range(4):
        cache = ReferenceCache(tmp_path, f"base {number}", room)
        for row in range(10):
            cache.put(str(row), {"log_probs": torch.zeros(64)})
        cache.write()
        assert sum(path.stat().st_size for path in tmp_path.glob(PATTERN)) <= room
    newest = ReferenceCache(tmp_path, "base 3", room)
    assert newest.get("0")
    assert newest.get("9") is None


def test_without_room_nothing_is_written(tmp_path: Path) -> None:
    cache = ReferenceCache(tmp_path / "cache", "base", 0)
    cache.put("0", {"log_probs": torch.zeros(64)})
    cache.write()
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ReferenceCache(tmp_path / "file", "base", LOTS)
    cache.put("0", {"log_probs": torch.zeros(4)})
    cache.write()
    assert cache.get("0")
