"""``enlace trainer run`` and what ``enlace train status`` says of trainings that begin by themselves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from app.catalogue import Catalogue
from app.night import reason_text, run_nights
from app.session import Session
from configs.home import Home
from tests.app.conftest import Run
from tests.project import LANGUAGES, ROOT
from tests.trainer.household import wait_for
from trainer.night.conditions import Reason

ALWAYS = {"quiet_from": "00:00", "quiet_to": "00:00", "mains_only": False, "look_seconds": 0.2}
REASONS = (
    Reason("few_pairs", {"pairs": 26, "needed": 50}),
    Reason("not_quiet", {"begin": "23:00", "end": "07:00"}),
    Reason("on_battery"),
    Reason("too_warm", {"celsius": 81, "bound": 70}),
    Reason("answering", {"quiet_s": 75, "needed_s": 600}),
    Reason("trainer_busy"),
    Reason("claimed", {"number": 3}),
    Reason("tried_lately", {"run": "r0009", "wait_s": 6600}),
)


def set_night(home: Home, **changes: object) -> None:
    home.config_file.write_text(yaml.safe_dump({"training": {"night": {**ALWAYS, **changes}}}))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_is_a_sentence_with_its_numbers(language: str) -> None:
    words = Catalogue(language)
    said = [reason_text(words, {"code": reason.code, "facts": reason.facts}) for reason in REASONS]
    assert all(sentence.endswith(".") or "enlace train now" in sentence for sentence in said)
    for number in ("26", "50", "23:00", "07:00", "81", "70", "1 min 15 s", "10 min", "3", "r0009", "1 h 50 min"):
        assert number in " ".join(said)


@pytest.mark.parametrize(("language", "said"), [("es", "Hay 1 corrección compartida nueva,"), ("en", "There is 1 new")])
def test_a_single_correction_is_told_in_the_singular(language: str, said: str) -> None:
    reason = {"code": "few_pairs", "facts": {"pairs": 1, "needed": 50}}
    assert reason_text(Catalogue(language), reason).startswith(said)


def test_status_says_how_near_the_next_night_is_and_each_reason_for_none_now(here: Run, home: Home) -> None:
    set_night(home, quiet_from="00:00", quiet_to="00:01", pairs=2)
    said = here("train", "status")
    assert said.code == 0
    assert "Nothing has been trained yet." in said.out
    assert "0 of 2 corrections" in said.out
    assert "There are 0 new shared corrections, and a training is due from 2 on." in said.out
    assert "enlace trainer schedule install" in said.out
    told = json.loads(here("train", "status", "--json").out)
    assert (told["id"], told["night"]["pairs"], told["night"]["scheduler"], told["night"]["timer"]) == (
        None,
        0,
        False,
        False,
    )
    codes = [reason["code"] for reason in told["night"]["reasons"]]
    assert codes[0] == "few_pairs"


def test_status_of_a_home_where_one_may_begin_says_so_also_beside_the_last_training(
    here: Run, home: Home, session: Session
) -> None:
    set_night(home, pairs=1, begin_below_celsius=200, stop_above_celsius=200)
    run = session.household.runs.create("lessons")
    session.household.runs.finish(run.id, "held")
    here("lessons", "add", "--question", "What is our dog called?", "--chosen", "Toby.", "--rejected", "Max.")
    said = here("train", "status")
    assert f"{run.id} · held" in said.out
    assert "1 of 1 corrections (1 with the wrong answer too)" in said.out
    assert "A training is due and may begin." in said.out
    told = json.loads(here("train", "status", "--json").out)
    assert (told["id"], told["night"]["reasons"]) == (run.id, [])


def test_run_says_what_it_waits_for_and_ends_when_it_is_told_to(home: Home) -> None:
    set_night(home)
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "trainer", "run"],
        cwd=ROOT,
        env={**os.environ, "LANG": "es_ES.UTF-8", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        first = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert "Ctrl-C" in first[0]
    assert first[1] == "Espero:\n"
    assert "Hay 0 correcciones compartidas nuevas, y toca entrenar desde 50." in first[2]
    assert out.strip() == "Desde aquí ya no empieza solo ningún entrenamiento."
    assert (process.returncode, err) == (0, "")


def test_killed_it_leaves_nobody_who_begins_trainings(home: Home, here: Run) -> None:
    set_night(home)
    process = subprocess.Popen([sys.executable, "-m", "app", "trainer", "run"], cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: json.loads(here("train", "status", "--json").out)["night"]["scheduler"])
        refused = here("trainer", "run")
        assert refused.code == 1
        assert "already" in refused.err
    finally:
        process.kill()
        process.wait()
    wait_for(lambda: not json.loads(here("train", "status", "--json").out)["night"]["scheduler"])


def test_weeks_of_warnings_hold_no_scheduler_up(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    warning = tmp_path / "python"
    warning.write_text("#!/bin/sh\nhead -c 1000000 /dev/zero | tr '\\0' w >&2\necho '{\"kind\": \"begins\"}'\n")
    warning.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(warning))
    heard: list[object] = []
    run_nights(session, heard.append)
    assert heard == [{"kind": "begins"}]
    assert session.home.trainer_log.stat().st_size == 1_000_000
