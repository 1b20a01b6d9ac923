"""``enlace train preflight|pretrain``: what is wrong is told at once, and what goes on is shown as it goes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.catalogue import Catalogue
from app.commands.own_model_view import MakingView
from app.own_model import Told
from tests.app.conftest import Run
from tests.project import ROOT

# A run of a few thousand weights, one trial of which says all.
TINY = ("smoke", "model.layers=1", "model.context=8", "train.batch=1", "train.micro_batch=1", "hardware.threads=1")
CALM_RUN = ("hardware.threads=1",)
SHORT = {"ENLACE_TRAINING__PREFLIGHT__SECONDS": "0.01", "ENLACE_TRAINING__IDLE_PRIORITY": "false"}
# What cannot be carried out, wherever it is asked for, and what is told of it.
WRONG = {
    "preflight": ("spanish-turing", "hardware.precision=bfloat16", "hardware.precision=float16"),
    "pretrain": ("spanish-turing", "hardware.attention=flash", "hardware.attention=efficient"),
}


@pytest.mark.parametrize("command", WRONG)
def test_a_wrong_run_ends_a_command_at_once_with_what_to_do(command: str, here: Run) -> None:
    run, typed, wanted = WRONG[command]
    ran = here("train", command, run, typed)
    assert ran.code == 2
    assert wanted in ran.err
    assert ran.out == ""


def test_a_preflight_says_what_the_whole_run_would_take(here: Run) -> None:
    ran = here("train", "preflight", *TINY, **SHORT)
    assert ran.code == 0, ran.err
    assert "enlace train pretrain smoke" in ran.out
    assert "of 4.3 GB" in ran.out
    assert "Trying: layers, 1; sequences at once, 1" in ran.out


def test_a_run_that_does_not_fit_is_refused_with_what_would(here: Run) -> None:
    ran = here("train", "preflight", *TINY, "hardware.memory_gib=0.02", "--json", **SHORT)
    assert ran.code == 1
    told = json.loads(ran.out)["error"]
    assert told["code"] == "preflight_model_too_large"
    assert told["facts"]["fits"] == 0


def test_paths_on_the_command_line_begin_where_it_is_typed(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trainer.py").write_text("raise SystemExit('a file of somebody else')", encoding="utf-8")
    ran = here("train", "preflight", "./gone.yaml")
    assert ran.code == 2
    assert "./gone.yaml" in ran.err


def test_what_goes_on_is_told_a_line_each_and_what_has_no_words_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    view = MakingView(Catalogue("en"))
    facts: dict[str, object] = {"step": 3, "steps": 10, "loss": 5.0, "tokens": 96, "tokens_per_second": 32.0}
    happened: dict[str, dict[str, object]] = {
        "begun": {"parameters": 26944},
        "step": {},
        "validation": {"bits_per_byte": 2.5},
        "sample": {"prompt": "La casa", "text": " es\x1b[2J azul"},
        "checkpoint": {},
        "checkpoint_failed": {"path": "/disk", "reason": "No space left on device"},
        "went_back": {"to": 2, "loss": "nan", "usual": "—", "times": 1, "most": 3},
        "trained": {},
        "exported": {"path": "/home/out/tiny-f16.gguf"},
    }
    for kind, more in happened.items():
        view.draw(Told(kind, 0.3, {**facts, **more}))
    view.end()
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("0.02694 million parameters, from step 3 of 10")
    assert "2.500 bits a byte" in said[1]
    assert "La casa es" in said[2]
    assert "\x1b" not in said[2]
    assert "no space is left on the disk" in said[3]
    assert "loss went to nan" in said[4]
    assert said[5:] == ["Trained: 10 steps.", "Written: /home/out/tiny-f16.gguf"]


def test_whoever_stops_the_command_has_the_trainer_end_in_order(tmp_path: Path) -> None:
    ends = (
        "import signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(130))\n"
        'print(\'{"kind": "begun"}\', flush=True)\ntime.sleep(60)\n'
    )
    (tmp_path / "making.py").write_text(ends, encoding="utf-8")
    script = (
        "import sys\nfrom pathlib import Path\nfrom app.own_model import Making\nfrom configs.home import Home\n"
        "making = Making(Home(Path(sys.argv[1])), 'making', [])\n"
        "for told in making.events():\n    print(told.kind, flush=True)\nsys.exit(making.exit_code)"
    )
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "home")], env=environ, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        assert process.wait() == 130
        assert time.monotonic() - began < 30


def test_a_model_of_ones_own_goes_from_its_text_to_its_weights(here: Run) -> None:
    small = ("train.tokens=2048", "train.warmup_steps=1", "train.sample_tokens=2", *CALM_RUN)
    ran = here("train", "corpus", "smoke", *CALM_RUN, "--processes", "1")
    assert ran.code == 0, ran.err
    assert "Kept" in ran.out
    assert "To train on:" in ran.out
    ran = here("train", "pretrain", "smoke", *small, "--json", **SHORT)
    assert ran.code == 0, ran.err
    told = [json.loads(line) for line in ran.out.splitlines()]
    assert [line["facts"]["step"] for line in told if line["kind"] == "step"] == [1, 2, 3, 4]
    assert "ended" in [line["kind"] for line in told]


def test_a_run_without_its_corpus_is_told_how_to_make_it(here: Run) -> None:
    ran = here("train", "pretrain", "smoke")
    assert ran.code == 1
    assert "enlace train corpus" in ran.err


def test_a_source_that_is_not_there_is_told_by_its_key(here: Run) -> None:
    ran = here("train", "corpus", "smoke", "data.sources=[{path: ./gone, form: text}]")
    assert ran.code == 2
    assert "data.sources.0.path" in ran.err
