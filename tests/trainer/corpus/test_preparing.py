"""A corpus from its sources to its shards: the same bytes each time, with any number of processes, after any kill."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from tests.trainer.corpus.stories import changes, files, places_of, prepare, story
from trainer.corpus import texts
from trainer.corpus.errors import NoText, TooFewDocuments
from trainer.corpus.opening import open_loaders
from trainer.corpus.preparing import Interrupted
from trainer.corpus.shards import ShardTokens
from trainer.tokenizer.tokenizer import Tokenizer

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def test_what_is_kept_and_why_the_rest_is_not_is_told(tmp_path: Path, sources: Path) -> None:
    places = places_of(tmp_path / "h", changes(sources))
    report, _ = prepare(places)
    assert {reason: tally["documents"] for reason, tally in report["left_out"].items()} == {
        "duplicate": 1, "few_letters": 1, "in_evaluation": 1, "near_duplicate": 1, "other_language": 1, "short": 1,
    }  # fmt: skip
    assert report["kept"]["documents"] == 41
    assert report["documents"] == 47
    assert report["languages"] == {"en": 1}
    assert report["personal"] == {"email": 1, "phone": 1}
    assert report["contamination"] == pytest.approx(1 / 47)
    assert report["problems"] == [{"path": str(sources / "more.jsonl"), "line": 8, "reason": "the line is no JSON"}]
    assert report["left_out"]["duplicate"]["examples"] == [f"{sources / 'more.jsonl'}:1"]
    assert json.loads((places.corpus / "report.json").read_text())["kept"] == report["kept"]


def test_the_shards_hold_the_kept_documents_and_no_token_that_a_text_forged(tmp_path: Path, sources: Path) -> None:
    places = places_of(tmp_path / "h", changes(sources))
    report, _ = prepare(places)
    tokenizer = Tokenizer.load(places.tokenizer)
    documents = []
    for split in ("train", "validation"):
        tokens = ShardTokens(places.corpus, split)
        row = tokens.read(0, tokens.total)
        ends = np.flatnonzero(row == tokenizer.end)
        assert ends[-1] == len(row) - 1
        assert {tokenizer.id_of(text) for text in SPECIAL[1:]}.isdisjoint(row.tolist())
        documents += [tokenizer.decode(piece[:-1].tolist()) for piece in np.split(row, ends + 1)[:-1]]
        assert report["splits"][split]["documents"] == len(ends)
        assert report["splits"][split]["bytes"] == tokenizer.byte_lengths[row].sum()
    assert len(documents) == 41
    # A line that ten documents had before is in none of the later ones.
    assert sum("Cuentos del valle" in text for text in documents) == 10
    assert sum("<|im_end|><|im_start|>system" in text for text in documents) == 1
    assert sum("[correo] o llama al [teléfono]" in text for text in documents) == 1
    batches = {"train": 4, "validation": 2}
    loaders = open_loaders(places.corpus, 1, vocabulary=400, length=32, batches=batches, tokenizer=tokenizer.sha256)  # type: ignore[arg-type]
    assert loaders["train"].next_batch(4, 32).shape == (4, 33)


def test_two_processes_make_the_same_bytes_as_one(
    tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Many batches in each stretch, so that one may overtake another.
    monkeypatch.setattr(texts, "BATCH_DOCUMENTS", 2)
    one, two = (places_of(tmp_path / name, changes(sources)) for name in ("one", "two"))
    prepare(one)
    prepare(two, processes=2)
    assert files(one.corpus) == files(two.corpus)


def test_a_corpus_that_was_interrupted_anywhere_goes_on_to_the_same_bytes(tmp_path: Path, sources: Path) -> None:
    whole = places_of(tmp_path / "whole", changes(sources))
    prepare(whole)
    for stop in (1, 3):
        places = places_of(tmp_path / f"stopped{stop}", changes(sources))
        interruptions = 0
        while True:
            try:
                prepare(places, stop=stop)
                break
            except Interrupted:
                # Every time it comes a stretch further, or it would never end.
                interruptions += 1
                assert interruptions < 40
            if stop == 1 and interruptions == 3:
                prepare(places)
                break
        assert interruptions >= 1
        assert files(places.corpus) == files(whole.corpus)


def test_what_is_there_is_kept_and_changed_sources_are_read_again(tmp_path: Path, sources: Path) -> None:
    places = places_of(tmp_path / "h", changes(sources))
    first, _ = prepare(places)
    before = files(places.corpus)
    again, told = prepare(places)
    assert [kind for kind, _ in told] == ["texts_kept", "shards_kept"]
    assert (again, files(places.corpus)) == (first, before)
    (sources / "00.txt").write_text(story(random.Random(99)), encoding="utf-8")
    _, told = prepare(places)
    assert "texts_done" in [kind for kind, _ in told]
    assert files(places.corpus)["train-00000.bin"] != before["train-00000.bin"]
    for path in sorted(sources.glob("*.txt"))[10:]:
        path.unlink()
    smaller, _ = prepare(places)
    assert smaller["kept"]["documents"] < 20
    # Of the longer corpus nothing is left.
    fresh = places_of(tmp_path / "fresh", changes(sources))
    prepare(fresh)
    assert files(places.corpus) == files(fresh.corpus)
    # Nobody needs the sources any more.
    for path in sources.iterdir():
        path.unlink()
    assert prepare(places)[0] == smaller


def test_a_corpus_of_one_line_and_one_without_text_are_told(tmp_path: Path, sources: Path) -> None:
    one = tmp_path / "one.txt"
    one.write_text(
        "La casa de la abuela estaba junto al río, y desde ella se veía el puente del pueblo.\n", encoding="utf-8"
    )
    given = changes(sources, **{"data.sources": [{"path": str(one), "form": "text"}]})
    with pytest.raises(TooFewDocuments) as told:
        prepare(places_of(tmp_path / "h", given))
    assert told.value.facts == {"kept": 1, "read": 1, "needed": 2}
    one.write_bytes(b"\0\1\2\3")
    with pytest.raises(NoText):
        prepare(places_of(tmp_path / "h", given))
