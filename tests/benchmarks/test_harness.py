from __future__ import annotations

import json

import pytest

from benchmarks.errors import MeasurementFailed, PeerMissing
from benchmarks.harness import main, without_peer
from benchmarks.plan import Plan, load_plan
from benchmarks.rows import Row, row

Printed = pytest.CaptureFixture[str]


def held(plan: Plan) -> list[Row]:
    return [row("held", 1.0, "s", peer="p", peer_value=2.0, bound=1.0)]


def missed(plan: Plan) -> list[Row]:
    return [row("missed", 3.0, "s", peer="p", peer_value=2.0, bound=1.0)]


def broken(plan: Plan) -> list[Row]:
    raise MeasurementFailed("The server did not start.")


def interrupted(plan: Plan) -> list[Row]:
    raise KeyboardInterrupt


def test_json_alone_is_on_standard_output(capsys: Printed) -> None:
    assert main("some", "", {"a": held}, ["--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in printed["rows"]] == ["held"]
    assert printed["machine"]["plan"] == "full"
    assert printed["machine"]["cores"] >= 1


def test_a_bound_that_is_not_held_is_a_failed_run(capsys: Printed) -> None:
    assert main("some", "", {"a": held, "b": missed}, ["--quick"]) == 1
    assert "NOT HELD" in capsys.readouterr().out


def test_a_part_that_fails_is_told_and_the_others_are_measured(capsys: Printed) -> None:
    assert main("some", "", {"a": broken, "b": held}, ["--json"]) == 1
    output = capsys.readouterr()
    assert "a was not measured. The server did not start." in output.err
    assert [each["name"] for each in json.loads(output.out)["rows"]] == ["held"]


def test_an_interruption_prints_what_was_measured_until_then(capsys: Printed) -> None:
    assert main("some", "", {"a": held, "b": interrupted, "c": missed}, ["--json"]) == 130
    assert [each["name"] for each in json.loads(capsys.readouterr().out)["rows"]] == ["held"]


def test_only_the_named_parts_are_measured(capsys: Printed) -> None:
    assert main("some", "", {"a": missed, "b": held}, ["--only", "b", "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)["rows"]] == ["held"]


def test_the_quick_plan_measures_less_than_the_full_one() -> None:
    full, quick = load_plan(quick=False), load_plan(quick=True)
    assert quick.engine.ask_rounds < full.engine.ask_rounds
    assert quick.learning.pairs < full.learning.pairs == 64
    streamed = [plan.interface.characters - plan.interface.preloaded for plan in (quick, full)]
    assert streamed[0] < streamed[1] == 80_000


def test_the_reason_for_a_missing_peer_is_kept_for_the_note(capsys: Printed) -> None:
    notes: list[str] = []
    with without_peer(notes):
        raise PeerMissing("The peer llm could not be installed.")
    assert notes == ["The peer llm could not be installed."]
    assert "could not be installed" in capsys.readouterr().err
