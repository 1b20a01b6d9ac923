"""Shards and loaders: the same batches from any place on, and what is wrong with a corpus told before a training."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trainer.corpus.errors import CorpusChanged, CorpusTooSmall, ShardsBroken, ShardsMissing
from trainer.corpus.index import Index, read_index
from trainer.corpus.loader import TokenLoader
from trainer.corpus.opening import open_loaders
from trainer.corpus.shard_writer import JOURNAL, ShardWriter
from trainer.corpus.shards import ShardTokens
from trainer.corpus.shuffled import Shuffled

END, VOCABULARY = 500, 501


def documents(count: int, seed: int = 7) -> list[np.ndarray[Any, Any]]:
    """Documents of random lengths, some longer than a shard, one of them empty."""
    draw = np.random.default_rng(seed)
    return [draw.integers(0, END, size=int(size)) for size in [0, 230, *draw.integers(1, 60, size=count - 2)]]


def write(folder: Path, texts: list[np.ndarray[Any, Any]], *, vocabulary: int = VOCABULARY, stop: int = 1 << 30) -> Any:
    """Write every fifth into the validation split; None where it was killed after ``stop`` documents."""
    writer = ShardWriter(folder, vocabulary=vocabulary, end=END, tokenizer="t", shard_tokens=100)
    for number, text in enumerate(texts):
        if number == stop:
            return None
        split = "validation" if number % 5 == 4 else "train"
        if writer.wants(split):  # type: ignore[arg-type]
            writer.add(split, text, 3 * len(text))  # type: ignore[arg-type]
    return writer.finish()


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write(tmp_path / "c", documents(60))
    return tmp_path / "c"


def test_the_shards_hold_every_document_followed_by_the_end_token(corpus: Path) -> None:
    index, texts = read_index(corpus), documents(60)
    for split, mine in (("train", [n for n in range(60) if n % 5 != 4]), ("validation", range(4, 60, 5))):
        expected = np.concatenate([np.append(texts[number], END) for number in mine])
        tokens = ShardTokens(corpus, split)  # type: ignore[arg-type]
        assert tokens.total == len(expected) == index.splits[split].tokens  # type: ignore[index]
        assert (tokens.read(0, tokens.total) == expected).all()
        assert (tokens.read(95, 120) == expected[95:215]).all()
        assert index.splits[split].documents == len(mine)  # type: ignore[index]
        assert index.splits[split].bytes == sum(3 * len(texts[number]) for number in mine)  # type: ignore[index]


def test_a_vocabulary_that_16_bits_do_not_hold_is_written_in_32(tmp_path: Path) -> None:
    index = write(tmp_path, documents(10), vocabulary=70_000)
    assert index.kind == "uint32"
    assert (tmp_path / "train-00000.bin").stat().st_size == 400


@pytest.mark.parametrize("stop", [1, 2, 3, 7, 20, 41, 59])
def test_writing_that_was_killed_goes_on_to_the_same_bytes(tmp_path: Path, corpus: Path, stop: int) -> None:
    folder = tmp_path / "killed"
    assert write(folder, documents(60), stop=stop) is None
    whole_then = {name for name in files(folder) if name != JOURNAL}
    written = {name: (folder / name).stat().st_mtime_ns for name in whole_then}
    write(folder, documents(60))
    assert files(folder) == files(corpus)
    # What was whole is not written again.
    assert {name: (folder / name).stat().st_mtime_ns for name in whole_then} == written


def test_an_order_has_every_number_once_and_takes_no_memory() -> None:
    for count in (1, 2, 3, 5, 16, 17, 1000):
        assert sorted(Shuffled(count, 3).at(np.arange(count))) == list(range(count))
    first, other = Shuffled(1000, 3).at(np.arange(1000)), Shuffled(1000, 4).at(np.arange(1000))
    assert (first != other).sum() > 900
    # Neighbours are far from each other: the middle distance of a random order is 293.
    assert 200 < np.median(np.abs(np.diff(first))) < 400
    tracemalloc.start()
    assert 0 <= int(Shuffled(10**15, 1).at([10**15 - 1])[0]) < 10**15
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def test_an_epoch_sees_each_window_once_and_the_next_one_in_another_order(corpus: Path) -> None:
    tokens = ShardTokens(corpus, "train")
    loader, length = TokenLoader(tokens, seed=1), 16
    windows = (tokens.total - 1) // length
    first = [loader.next_batch(1, length)[0] for _ in range(windows)]
    assert loader.epoch == 1
    second = [loader.next_batch(1, length)[0] for _ in range(windows)]
    row = tokens.read(0, tokens.total)
    places = {row[at : at + length + 1].tobytes(): at for at in range(tokens.total - length)}
    orders = []
    for batches in (first, second):
        starts = np.array([places[each.astype(row.dtype).tobytes()] for each in batches])
        assert np.diff(np.sort(starts)).tolist() == [length] * (windows - 1)
        orders.append((starts - starts.min()) // length)
    assert (orders[0] != orders[1]).mean() > 0.9


@pytest.mark.parametrize("after", [0, 1, 5, 30])
def test_a_loader_that_goes_on_gives_exactly_the_same_batches(corpus: Path, after: int) -> None:
    whole = TokenLoader(ShardTokens(corpus, "train"), seed=5)
    for _ in range(after):
        whole.next_batch(7, 16)
    state = json.loads(json.dumps(whole.state()))
    gone_on = TokenLoader(ShardTokens(corpus, "train"), seed=5)
    gone_on.take_up(state)
    for _ in range(30):
        assert np.array_equal(whole.next_batch(7, 16), gone_on.next_batch(7, 16))
    assert whole.state() == gone_on.state()


@pytest.mark.parametrize("size", [2, 3])
def test_several_processes_get_together_what_one_would(corpus: Path, size: int) -> None:
    one = TokenLoader(ShardTokens(corpus, "train"), seed=5)
    one.next_batch(4, 16)
    shares = [one.for_place(rank, size) for rank in range(size)]
    for _ in range(20):
        together = np.concatenate([share.next_batch(4, 16) for share in shares])
        assert np.array_equal(together, one.next_batch(4, 16))
    assert {json.dumps(share.state()) for share in shares} == {json.dumps(one.state())}


def test_another_length_goes_on_behind_what_was_seen(corpus: Path) -> None:
    loader = TokenLoader(ShardTokens(corpus, "train"), seed=5)
    loader.next_batch(3, 16)
    assert loader.next_batch(1, 32).shape == (1, 33)
    assert loader.state()["position"] == 96


def test_a_state_of_another_text_or_seed_is_refused(corpus: Path) -> None:
    loader = TokenLoader(ShardTokens(corpus, "train"), seed=5)
    for other in (TokenLoader(ShardTokens(corpus, "train"), 6), TokenLoader(ShardTokens(corpus, "validation"), 5)):
        with pytest.raises(CorpusChanged):
            loader.take_up(other.state())


def damage_index(folder: Path, **changes: Any) -> None:
    told = json.loads((folder / "index.json").read_text())
    (folder / "index.json").write_text(json.dumps(told | changes))


def cut_short(folder: Path) -> None:
    path = folder / "train-00001.bin"
    path.write_bytes(path.read_bytes()[:-1])


def lengthen(folder: Path) -> None:
    path = folder / "train-00001.bin"
    path.write_bytes(path.read_bytes() + b"\0")


def flip(folder: Path) -> None:
    path = folder / "train-00002.bin"
    content = bytearray(path.read_bytes())
    content[77] ^= 1
    path.write_bytes(content)


def lose(folder: Path) -> None:
    (folder / "train-00003.bin").unlink()


def swap(folder: Path) -> None:
    first, second = folder / "train-00000.bin", folder / "train-00001.bin"
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)


def count_wrong(folder: Path) -> None:
    told = json.loads((folder / "index.json").read_text())
    told["splits"]["train"]["tokens"] += 1
    (folder / "index.json").write_text(json.dumps(told))


def lead_out(folder: Path) -> None:
    told = json.loads((folder / "index.json").read_text())
    told["splits"]["train"]["shards"][0]["file"] = "../train-00000.bin"
    (folder / "index.json").write_text(json.dumps(told))


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (cut_short, "it is cut short"),
        (lengthen, "it is longer than its index says"),
        (flip, "its bytes are not those that were written"),
        (swap, "its bytes are not those that were written"),
        (lose, "No such file or directory"),
        (count_wrong, "it is no index of shards"),
        (lead_out, "it is no index of shards"),
        (lambda folder: damage_index(folder, form=99), "it is no index of shards"),
        (lambda folder: damage_index(folder, dtype="uint32"), "it is no index of shards"),
        (lambda folder: damage_index(folder, splits={}), "it is no index of shards"),
        (lambda folder: (folder / "index.json").write_bytes(b"\xff{"), "it is no index of shards"),
        (lambda folder: damage_index(folder, vocabulary=400, end=3), "it has tokens that its vocabulary has not"),
    ],
)
def test_a_damaged_corpus_is_told_before_the_first_batch(corpus: Path, how: Any, reason: str) -> None:
    how(corpus)
    with pytest.raises(ShardsBroken) as told:
        opened(corpus)
    assert told.value.facts["reason"] == reason


def opened(folder: Path, sequences: int = 2, length: int = 16, vocabulary: int = VOCABULARY) -> Any:
    return open_loaders(folder, 1, vocabulary=vocabulary, length=length, batches={"train": sequences, "validation": 2})


def test_a_corpus_that_is_not_there_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(ShardsMissing):
        opened(tmp_path)


def test_a_corpus_of_one_line_is_too_small_for_a_training(tmp_path: Path) -> None:
    index: Index = write(tmp_path, documents(2)[1:])
    assert index.splits["validation"].tokens == 0
    with pytest.raises(CorpusTooSmall) as told:
        opened(tmp_path)
    assert told.value.facts == {"split": "validation", "tokens": 0, "needed": 33}


def test_a_corpus_smaller_than_one_batch_is_refused_before_the_first(corpus: Path) -> None:
    tokens = ShardTokens(corpus, "train").total
    fitting = (tokens - 1) // 16
    opened(corpus, sequences=fitting)["train"].next_batch(fitting, 16)
    with pytest.raises(CorpusTooSmall):
        opened(corpus, sequences=fitting + 1)


def test_a_corpus_for_another_vocabulary_is_refused(corpus: Path) -> None:
    with pytest.raises(ShardsBroken, match="another size"):
        opened(corpus, vocabulary=8192)
