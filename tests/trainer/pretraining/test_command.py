"""``python -m trainer.pretraining``: a run on a corpus, stopped by a signal, gone on with, told of in JSON lines."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from configs.home import Home
from configs.locks import take_lock
from configs.pretraining.places import Places
from memory import runlog
from tests.trainer.pretraining.corpora import written_corpus
from tests.trainer.pretraining.tiny import SMALL
from trainer.place import Place
from trainer.pretraining import exporting, loop, preflight
from trainer.pretraining.__main__ import main
from trainer.pretraining.files import PretrainingFiles

RUN = ["smoke", *SMALL]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def places(home: Home, monkeypatch: pytest.MonkeyPatch) -> Places:
    """A run whose corpus is there, carried by a process that steps back for nobody: this one."""
    monkeypatch.setattr("trainer.pretraining.carrying.step_back", lambda: None)
    return written_corpus(home)


def told(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_run_is_stopped_by_a_signal_goes_on_and_ends(
    places: Places, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    look = loop.Pretraining._look

    def stop_at_the_third(carried: loop.Pretraining, step: int) -> None:
        look(carried, step)
        if step == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(loop.Pretraining, "_look", stop_at_the_third)
    assert main(RUN) == 130
    first = told(capsys.readouterr().out)
    assert [line["kind"] for line in first][-2:] == ["stopped", "ended"]
    assert main(RUN) == 0
    second = told(capsys.readouterr().out)
    assert second[0] == {"kind": "begun", "fraction": 0.3, "facts": {**first[0]["facts"], "step": 3}}
    steps = [event.facts["step"] for event in runlog.read(places.folder)[0] if event.kind == "step" and event.facts]
    assert steps == list(range(1, 11))
    (ended,) = (line["facts"] for line in second if line["kind"] == "ended")
    assert ended["end"] == "done"
    assert ended["peak_bytes"] > 0
    assert [line["kind"] for line in second][-3:] == ["ended", "exported", "exported"]


def test_a_run_that_goes_on_with_another_configuration_is_refused_with_what_differs(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(RUN) == 0
    before = PretrainingFiles(places.folder).checkpoints()
    assert main([*RUN, "train.seed=5"]) == 2
    assert json.loads(capsys.readouterr().err)["facts"]["differences"] == "train.seed: 1 → 5"
    assert PretrainingFiles(places.folder).checkpoints() == before


def test_one_run_is_trained_by_one_at_a_time(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    places.folder.mkdir(parents=True)
    with PretrainingFiles(places.folder).lock.open("ab") as file:
        assert take_lock(file)
        assert main(RUN) == 1
    assert json.loads(capsys.readouterr().err)["code"] == "pretraining_under_way"


def test_a_run_for_more_processes_than_were_started_says_how_to_start_them(
    places: Places, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in Place(0, 1, 1).environment().items():
        monkeypatch.setenv(name, value)
    assert main([*RUN, "hardware.processes=2"]) == 2
    assert json.loads(capsys.readouterr().err)["facts"] == {"run": "tiny", "asked": 2, "found": 1}


@pytest.mark.parametrize("asked", [main, preflight.main, exporting.main], ids=["train", "preflight", "export"])
def test_whoever_names_no_run_is_told_how_to(
    asked: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        asked([])
    assert ended.value.code == 2
    assert "RUN" in capsys.readouterr().err
