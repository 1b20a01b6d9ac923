"""A corpus from its sources to its shards: the same bytes each time, with any number of processes, after any kill."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from configs.home import Home
from configs.pretraining.composing import compose
from configs.pretraining.places import Places
from configs.wordlists import words_of
from tests.project import ROOT
from trainer.corpus import texts
from trainer.corpus.command import LOCK, alone
from trainer.corpus.errors import NoText, TooFewDocuments
from trainer.corpus.opening import open_loaders
from trainer.corpus.preparing import Interrupted, Preparation
from trainer.corpus.shards import ShardTokens
from trainer.tokenizer.tokenizer import Tokenizer

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
WORDS = sorted(
    words_of(
        "casa perro gato camino sierra pueblo mercado domingo lluvia tarde abuela cocina pan vino queso mesa silla"
        " calle plaza iglesia escuela maestra libro cuento noche luna estrella río puente barca pescador mar"
    )
)
MEASURED = "El tren salió de la estación con diez minutos de retraso y nadie supo decir por qué había sido"


def story(draw: random.Random, sentences: int = 12) -> str:
    """Something that reads as Spanish."""
    said = []
    for _ in range(sentences):
        one, two, three, four = draw.sample(WORDS, 4)
        said.append(
            f"La {one} de la {two} estaba junto a la {three}, y por la mañana se veía desde el {four} del valle."
        )
    return " ".join(said)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Forty stories, one twice, one nearly twice, one in English, one with mails, one that is measured by."""
    folder, draw = tmp_path / "sources", random.Random(11)
    folder.mkdir()
    stories = [story(draw) for _ in range(40)]
    for number, text in enumerate(stories):
        (folder / f"{number:02d}.txt").write_text(f"Cuentos del valle\n\n{text}\n", encoding="utf-8")
    lines = [
        {"text": stories[30].upper()},
        {"text": stories[5].replace("mañana", "madrugada", 1)},
        {"text": "The house of the village was next to the river, and in the morning it was seen from the hill. " * 2},
        {"text": f"{story(draw, 4)} Escribe a ana@example.org o llama al 600 123 456. <|im_end|><|im_start|>system"},
        {"text": f"{story(draw, 4)} {MEASURED}."},
        {"text": "corto"},
        {"text": "1 + 1 = 2; 2 + 2 = 4; 3 + 3 = 6; 4 + 4 = 8; 5 + 5 = 10; 6 + 6 = 12; 7 + 7 = 14; 8 + 8 = 16; 9 = 9"},
    ]
    content = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    (folder / "more.jsonl").write_text(f"{content}\nroto\n", encoding="utf-8")
    (tmp_path / "measured.txt").write_text(f"{MEASURED}.", encoding="utf-8")
    return folder


def changes(sources: Path, **others: Any) -> list[str]:
    """What makes of the smallest run one of these sources, in stretches of a few documents."""
    given: dict[str, Any] = {
        "data.sources": [{"path": str(sources), "form": form} for form in ("text", "jsonl")],
        "data.evaluations": [{"path": str(sources.parent / "measured.txt"), "form": "text"}],
        "data.cleaning": {
            "least_characters": 40, "least_letter_share": 0.6, "most_repeated_share": 0.3, "most_characters": 2000,
            "line_documents": 10, "stretch_characters": 9000,
        },
        "data.identification.least": 0.5, "data.validation_share": 0.2, "data.shard_tokens": 3000,
        "data.loader": "shards", "model.vocabulary": 400,
    } | others  # fmt: skip
    return [f"{key}={json.dumps(value)}" for key, value in given.items()]


def places_of(home: Path, given: list[str]) -> Places:
    return Places(Home(home), compose("smoke", given, Home(home), home).run)


def prepare(
    places: Places, *, processes: int = 1, stop: int | None = None
) -> tuple[dict[str, Any], list[tuple[str, Mapping[str, Any]]]]:
    """The report, and what was told. ``stop``: interrupted at so many looks whether to."""
    told: list[tuple[str, Mapping[str, Any]]] = []
    looks = 0

    def stopping() -> bool:
        nonlocal looks
        looks += 1
        return stop is not None and looks >= stop

    def unknown(name: str) -> list[Any]:
        raise AssertionError(name)

    preparation = Preparation(places, processes, lambda kind, _, facts: told.append((kind, facts)), stopping, unknown)
    return preparation.corpus()["report"], told


def files(folder: Path) -> dict[str, bytes]:
    """All but the lock, which is of whoever makes them."""
    found = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {str(name): path.read_bytes() for name, path in found.items() if name != Path(LOCK)}


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
    monkeypatch.setattr(texts, "BATCH_DOCUMENTS", 1)
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


@pytest.mark.soak
def test_a_corpus_that_is_killed_again_and_again_comes_to_the_same_bytes(
    home: Home, tmp_path: Path, sources: Path
) -> None:
    given, draw = changes(sources), random.Random(int(os.environ.get("SOAK_SEED", "7")))
    whole = places_of(tmp_path / "whole", given)
    prepare(whole)
    for _ in range(int(os.environ.get("SOAK_KILLS", "20"))):
        process = subprocess.Popen(
            [sys.executable, "-m", "trainer.corpus", "smoke", *given, "--processes", "2"], cwd=ROOT
        )
        try:
            process.wait(timeout=draw.uniform(0.3, 3))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert start("trainer.corpus", "smoke", *given).returncode == 0
    assert files(places_of(home.root, given).corpus) == files(whole.corpus)


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


def test_the_process_tells_json_lines_and_bytes_need_no_training(home: Home, sources: Path) -> None:
    given = changes(sources, **{"data.loader": "bytes", "model.vocabulary": 259})
    done = start("trainer.corpus", "smoke", *given, "--processes", "1")
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [each["kind"] for each in told if not each["kind"].endswith("_progress")]
    assert kinds == [
        "texts_started", "texts_done", "tokenizer_started", "tokenizer_done", "shards_started", "shards_done",
        "corpus_done",
    ]  # fmt: skip
    splits = told[-1]["facts"]["report"]["splits"]
    assert all(split["tokens"] == split["bytes"] + split["documents"] for split in splits.values())


def test_the_tokenizer_s_process_counts_tokens_beside_another_model_s(home: Home, sources: Path, starter: Path) -> None:
    done = start("trainer.tokenizer", "smoke", *changes(sources), "--against", f"smollm2={starter}", "--processes", "1")
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    own, other = last["facts"]["rows"]
    assert (last["kind"], own["name"], other["name"], own["vocabulary"]) == ("tokenizer_counted", "own", "smollm2", 400)
    assert own["words"] == other["words"] > 100
    assert own["tokens_a_word"] == pytest.approx(own["tokens"] / own["words"])


def test_two_processes_never_make_the_same_corpus_at_a_time(home: Home, sources: Path) -> None:
    given = changes(sources)
    with alone(places_of(home.root, given).corpus):
        done = start("trainer.corpus", "smoke", *given)
    assert done.returncode == 1
    assert json.loads(done.stderr.splitlines()[-1])["code"] == "corpus_busy"


def test_what_is_wrong_is_one_line_of_json_and_its_exit_code(home: Home, sources: Path) -> None:
    done = start("trainer.corpus", "smoke", *changes(sources, **{"model.vocabulary": 4000}), "--processes", "1")
    assert done.returncode == 1
    assert json.loads(done.stderr.splitlines()[-1])["code"] == "vocabulary_not_reached"
    done = start("trainer.corpus", "smoke", "data.sources.0=x")
    assert done.returncode == 2


def start(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=dict(os.environ))
