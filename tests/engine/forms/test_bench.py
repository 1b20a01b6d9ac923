"""The forms of a model are made, measured and chosen by what they lose and gain; nothing is ever half done."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from configs.home import Home
from engine.errors import BenchRunning, FormNotMeasured, ModelBroken
from engine.fingerprint import file_sha256
from engine.forms.bench import Told
from engine.forms.children import TaskFailed, run_task
from engine.forms.keeping import forget_form
from engine.forms.records import AS_PULLED, Shape, folder, read_form, write_form
from engine.forms.serving import served_form
from engine.served import read_served
from tests.engine.forms.conftest import bench_of, measured_before, quick, stopwatch
from tests.engine.snapshots import write_manifest
from tests.project import ROOT


def test_the_fastest_form_that_loses_little_is_kept_and_served(home: Home, starter: Path) -> None:
    # Q4_0 of a file that is quantised already is the fastest and loses far too much.
    found = bench_of(home, quick(home, "q8_0", "q4_0"), starter, stopwatch(q8_0=150, q4_0=300)).run(dry=False)
    rows = {row["form"]: row for row in found.record.rows}
    assert found.record.form == "q8_0"
    assert 0 < rows["q8_0"]["kl"] < 0.02 < 0.1 < rows["q4_0"]["kl"]
    assert rows["q4_0"]["why"] == "loses too much"
    assert rows["q8_0"]["steady"] == {"chunks": 0.0, "beside": 0.0}
    assert found.gain == pytest.approx(1.5)
    place = folder(home, file_sha256(home, starter))
    assert [path.name for path in place.glob("*.gguf")] == [found.record.file]
    assert not list(place.glob("bench-*"))
    served = read_served(home, write_manifest(home, starter))
    assert served.model == place / str(found.record.file)
    assert served.pulled is not None
    assert served.pulled.model == starter


def test_a_form_that_is_hardly_faster_does_not_take_the_place_of_the_file_as_pulled(home: Home, starter: Path) -> None:
    settings = quick(home)
    found = bench_of(home, settings, starter, stopwatch(measured_before, q8_0=102)).run(dry=False)
    assert (found.record.form, found.record.file) == (AS_PULLED, None)
    assert not list(folder(home, found.record.original).glob("*.gguf"))
    assert read_served(home, write_manifest(home, starter)).model == starter


def test_a_batch_has_room_for_what_is_measured_whatever_the_settings_say(home: Home, starter: Path) -> None:
    def carry_out(task: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        return (run_task if task["do"] in ("speed", "steady") else measured_before)(task, timeout_s)

    settings = quick(home, chunks=[63]).model_copy(update={"batch_size": 2})
    found = bench_of(home, settings, starter, carry_out).run(dry=True)
    rows = {row["form"]: row for row in found.record.rows}
    assert all(row["read"] and row["write"] for row in rows.values())
    assert rows[found.record.form]["steady"] == {"chunks": 0.0, "beside": 0.0}


def test_a_form_that_dies_is_a_line_in_the_table(home: Home, starter: Path) -> None:
    def carry_out(task: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        if task["do"] == "loss":
            # This is no model: a real error in a real process.
            return run_task(
                {**task, "do": "speed", "model": __file__, "read_tokens": 16, "written_tokens": 4}, timeout_s
            )
        return stopwatch(measured_before, q8_0=150)(task, timeout_s)

    settings = quick(home)
    found = bench_of(home, settings, starter, carry_out).run(dry=True)
    (row,) = [row for row in found.record.rows if row["form"] == "q8_0"]
    assert row["kl"] is None
    assert row["why"]
    assert found.record.form == AS_PULLED


def test_a_form_that_was_written_wrong_is_a_line_in_the_table(home: Home, starter: Path) -> None:
    def carry_out(task: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        result = stopwatch(measured_before, q8_0=150)(task, timeout_s)
        if task["do"] == "make":
            with Path(task["target"]).open("r+b") as file:
                file.truncate(50 << 20)
        return result

    found = bench_of(home, quick(home), starter, carry_out).run(dry=True)
    assert "truncated" in found.record.rows[1]["why"]
    assert found.record.form == AS_PULLED


def test_a_form_that_is_not_the_same_every_time_is_passed_over(home: Home, starter: Path) -> None:
    def carry_out(task: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        if task["do"] == "steady" and "q8_0" in task["model"]:
            return {"chunks": 0.3, "beside": 0.0}
        return stopwatch(measured_before, q8_0=150)(task, timeout_s)

    settings = quick(home)
    found = bench_of(home, settings, starter, carry_out).run(dry=True)
    assert found.record.form == AS_PULLED
    assert found.record.rows[1]["why"] == "does not give the same answer every time"


def test_a_dry_run_changes_nothing(home: Home, starter: Path) -> None:
    settings = quick(home)
    found = bench_of(home, settings, starter, stopwatch(measured_before, q8_0=150)).run(dry=True)
    assert (found.record.form, found.kept) == ("q8_0", False)
    assert read_form(home, found.record.original) is None
    assert served_form(home, starter, ()) is None


def test_an_interrupted_measurement_leaves_nothing(home: Home, starter: Path) -> None:
    def interrupted(told: Told) -> None:
        if told.what == "loss":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench_of(home, quick(home), starter, tell=interrupted).run(dry=False)
    place = folder(home, file_sha256(home, starter))
    assert [path.name for path in place.iterdir()] == ["bench.lock"]


def test_what_a_killed_measurement_left_is_removed_by_the_next_one(home: Home, starter: Path) -> None:
    place = folder(home, file_sha256(home, starter))
    code = (
        "import sys; from pathlib import Path; from configs.home import Home;"
        "from tests.engine.forms.conftest import bench_of, quick; home = Home(Path(sys.argv[1]));"
        "bench_of(home, quick(home, 'q8_0', 'q4_0'), Path(sys.argv[2])).run(dry=False)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(home.root), str(starter)], cwd=ROOT)
    deadline = time.monotonic() + 60
    while not list(place.glob("bench-*/q8_0.gguf")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    with pytest.raises(BenchRunning):
        bench_of(home, quick(home), starter).run(dry=False)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert read_form(home, file_sha256(home, starter)) is None
    settings = quick(home)
    bench_of(home, settings, starter, stopwatch(measured_before, q8_0=150)).run(dry=False)
    assert not list(place.glob("bench-*"))


def test_forgetting_a_form_serves_the_file_as_pulled_again(home: Home, starter: Path) -> None:
    settings = quick(home)
    original = bench_of(home, settings, starter, stopwatch(measured_before, q8_0=150)).run(dry=False).record.original
    assert served_form(home, starter, ()) is not None
    assert forget_form(home, original)
    assert not list(folder(home, original).glob("*.gguf"))
    assert served_form(home, starter, ()) is None
    assert not forget_form(home, original)


def test_a_record_of_another_machine_or_a_damaged_file_counts_for_nothing(home: Home, starter: Path) -> None:
    settings = quick(home)
    record = bench_of(home, settings, starter, stopwatch(measured_before, q8_0=150)).run(dry=False).record
    assert served_form(home, starter, ()) is not None
    write_form(home, dataclasses.replace(record, machine="another"))
    assert served_form(home, starter, ()) is None
    write_form(home, record)
    file = folder(home, record.original) / str(record.file)
    with file.open("r+b") as content:
        content.truncate(1000)
    assert served_form(home, starter, ()) is None


def test_an_adapter_is_not_served_over_a_form_that_it_was_not_measured_on(home: Home, starter: Path) -> None:
    settings = quick(home)
    bench_of(home, settings, starter, stopwatch(measured_before, q8_0=150)).run(dry=False)
    assert served_form(home, starter, [("0" * 64, 1.0)]) is None


def test_a_setting_that_was_changed_after_the_measurement_wins_over_it(home: Home, starter: Path) -> None:
    settings = quick(home)
    record = bench_of(home, settings, starter, stopwatch(measured_before, q8_0=150)).run(dry=True).record
    record = dataclasses.replace(record, shape=Shape(2, 32, False, 0))
    assert record.shaped(settings).prompt_chunk == 32
    changed = settings.model_copy(update={"prompt_chunk": 20})
    assert (record.shaped(changed).prompt_chunk, record.shaped(changed).flash_attention) == (20, False)


def test_a_file_that_is_no_model_is_refused(home: Home, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model")
    with pytest.raises(ModelBroken):
        bench_of(home, quick(home), broken).run(dry=True)


def test_a_model_that_cannot_be_measured_is_told_with_the_reason(home: Home, starter: Path) -> None:
    with pytest.raises(FormNotMeasured) as caught:
        bench_of(home, quick(home, child_timeout_s=0.001), starter).run(dry=True)
    assert "0 s" in str(caught.value.facts["reason"])


def test_a_task_whose_process_dies_says_how(starter: Path) -> None:
    with pytest.raises(TaskFailed):
        run_task({"do": "speed", "spins": 300, "model": str(starter)}, 60)
