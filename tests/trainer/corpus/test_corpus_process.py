"""The processes that make a corpus and a tokenizer: what they tell, how they end, and that nobody is left of them."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from configs.home import Home
from tests.project import ROOT
from tests.trainer.corpus.stories import changes, files, places_of, prepare, story
from trainer.corpus.command import LOCK
from trainer.corpus.errors import CorpusBusy
from trainer.room import alone_at


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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_no_process_is_left_of_a_corpus_that_was_ended(home: Home, sources: Path, number: int, code: int) -> None:
    draw = random.Random(1)
    lines = [json.dumps({"text": story(draw, 3)}) for _ in range(4000)]
    (sources / "many.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "trainer.corpus", "smoke", *changes(sources), "--processes", "2"]
    others: list[psutil.Process] = []
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        # Some documents are through: the others are at work.
        while "texts_progress" not in process.stdout.readline():
            assert process.poll() is None
        others = psutil.Process(process.pid).children(recursive=True)
        # As a terminal does it: to all of them.
        os.killpg(process.pid, number) if number == signal.SIGINT else process.kill()
        process.stdout.read()
    assert process.returncode == code
    assert len(others) >= 2
    _, alive = psutil.wait_procs(others, timeout=60)
    assert alive == []


def test_two_processes_never_make_the_same_corpus_at_a_time(home: Home, sources: Path) -> None:
    given = changes(sources)
    with alone_at(places_of(home.root, given).corpus / LOCK, CorpusBusy(path="")):
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
