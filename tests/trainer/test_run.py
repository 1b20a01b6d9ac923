"""A whole run on the real model: from lessons to a snapshot that answers them, and back."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
import yaml

from configs.home import Home
from configs.settings import load_settings
from engine.messages import Message
from engine.prompt import render
from engine.scoring import LocalModel
from engine.served import read_served
from memory.household import Household
from memory.matching import says_the_same
from tests.project import ROOT
from tests.trainer.conftest import SYSTEM
from tests.trainer.household import PAIRS, events, finish, small_settings, start_run, steps, teach, wait_for, workers
from trainer.run_files import RunFiles


def answers(home: Home, manifest: str, questions: list[str]) -> list[str]:
    """What the snapshot with this manifest says."""
    snapshot = read_served(home, manifest)
    settings = load_settings(home, {}).engine
    with LocalModel(snapshot.model, settings, context_size=256, threads=2, slots=8) as served:
        served.set_adapters(snapshot.adapters)
        prompts = [
            render(served.template, served.vocabulary, [Message("system", SYSTEM), Message("user", question)])
            for question in questions
        ]
        return [served.text(tokens) for tokens in served.greedy(prompts, 16)]


def test_lessons_become_a_snapshot_that_answers_them_and_can_be_rolled_back(home_that_trained: Home) -> None:
    home = home_that_trained
    settings = load_settings(home, {})
    questions = [question for question, _, _ in PAIRS]
    with Household.open(home, settings.memory) as household:
        current = household.snapshots.current()
        assert (current.id, current.parent, current.run) == ("v1", "v0", "r0001")
        after = answers(home, current.digest, questions)
        move = household.snapshots.history()[0]
        assert (move.kind, move.who) == ("promote", "Ana")
        back = household.snapshots.rollback("Ana", "to see the old answers")
        before = answers(home, back.digest, questions)
    for (question, chosen, rejected), new, old in zip(PAIRS, after, before, strict=True):
        assert says_the_same(new, question=question, chosen=chosen, rejected=rejected)
        assert not says_the_same(old, question=question, chosen=chosen, rejected=rejected)

    kinds = [event.kind for event in events(home)]
    assert kinds[0] == "run_started"
    assert kinds[-3:] == ["verdict", "promoted", "run_done"]
    fractions = [event.fraction for event in events(home) if event.fraction is not None]
    assert fractions == sorted(fractions)
    manifest = yaml.safe_load((home.runs / "r0001" / "manifest.yaml").read_text())
    assert manifest["snapshot"] == "v1"
    assert len(manifest["lessons"]) == len(PAIRS)
    assert manifest["measures"]["parity_kl"] < 0.02
    assert manifest["artifacts"]["export/adapter.gguf"] == current.adapters[0].sha256
    report = (home.runs / "r0001" / "report.md").read_text()
    assert "Toby" in report
    assert (home.runs / "r0001" / "report.svg").is_file()


def test_what_a_run_takes_is_reckoned_before_it_measured_after_it_and_judged(home_that_trained: Home) -> None:
    manifest = yaml.safe_load((home_that_trained.runs / "r0001" / "manifest.yaml").read_text())
    stages = manifest["stages"].values()
    assert manifest["energy"]["joules"] == pytest.approx(sum(stage["energy"]["joules"] for stage in stages))
    assert all(stage["energy"]["joules"] > 0 and stage["paused"] == 0 and "began" not in stage for stage in stages)
    checked = {check["name"]: check for check in manifest["verdict"]["checks"]}
    assert checked["watt_hours"]["value"] == pytest.approx(manifest["energy"]["joules"] / 3600)
    assert checked["watt_hours"]["reckoned"] is bool(manifest["energy"]["estimated"])
    told = {event.kind: event.facts for event in events(home_that_trained) if event.facts}
    assert told["reckoned"]["joules"] > 0
    assert told["took"]["seconds"] >= manifest["seconds"]
    with Household.open(home_that_trained, load_settings(home_that_trained, {}).memory) as household:
        assert household.runs.get("r0001").summary["cost"] == told["took"]


def test_a_run_that_would_draw_more_than_it_may_does_not_begin(home: Home) -> None:
    settings = small_settings(home, {"budget": {"run_watt_hours": 0.0001}})
    teach(home, settings)
    code, _, err = finish(start_run(home))
    told = json.loads(err)
    assert (code, told["code"], told["facts"]["budget"]) == (1, "run_too_costly", 0.0001)
    assert [event.kind for event in events(home)] == ["run_started", "planned", "reckoned", "run_failed"]


def started(home: Home, number: int) -> bool:
    return sum(event.kind == "stage_started" for event in events(home)) == number


# A checkpoint after every step.
KEPT_OFTEN = {"budget": {"checkpoint_seconds": 0}}


def test_a_worker_that_dies_is_followed_by_another(home: Home) -> None:
    settings = small_settings(home)
    teach(home, settings)
    run = start_run(home)
    wait_for(lambda: any(event.kind == "stage_started" for event in events(home)))
    workers(run.pid)[0].kill()
    wait_for(lambda: [event.stage for event in events(home) if event.kind == "stage_started"] == ["prepare"] * 2)
    run.terminate()
    code, _, err = finish(run)
    assert (code, json.loads(err)["code"]) == (1, "run_stopped")
    told = [event.facts for event in events(home) if event.kind == "stage_restarted"]
    assert [(facts["stage"], facts["status"]) for facts in told if facts] == [("prepare", -9)]


def test_a_worker_that_dies_again_fails_the_run_and_changes_nothing(home: Home) -> None:
    settings = small_settings(home)
    teach(home, settings)
    run = start_run(home)
    for process in (1, 2):
        wait_for(partial(started, home, process))
        workers(run.pid)[0].kill()
    code, _, err = finish(run)
    assert code == 1
    told = json.loads(err)
    assert (told["code"], told["facts"]["stage"]) == ("stage_died", "prepare")
    with Household.open(home, settings.memory) as household:
        latest = household.runs.latest()
        assert latest is not None
        assert latest.state == "failed"
        assert household.snapshots.current().id == "v0"
    assert not list(home.runs.glob("*/manifest.yaml"))
    assert len(list(home.runs.glob("*/report.md"))) == 1


def test_a_killed_supervisor_takes_its_worker_along_and_the_next_run_goes_on(home: Home) -> None:
    settings = small_settings(home, KEPT_OFTEN)
    teach(home, settings)
    run = start_run(home)
    wait_for(lambda: len(steps(home)) > 1)
    (worker,) = workers(run.pid)
    run.kill()
    finish(run)
    wait_for(lambda: not worker.is_running() or worker.status() == "zombie")
    taken, told = steps(home)[-1], len(steps(home))
    with Household.open(home, settings.memory) as household:
        dead = household.runs.latest()
        assert dead is not None
        assert dead.state == "stopped"
    again = start_run(home)
    wait_for(lambda: (home.runs / "r0002" / "events.jsonl").exists() and len(steps(home)) > told)
    again.terminate()
    code, _, err = finish(again)
    assert (code, json.loads(err)["code"]) == (1, "run_stopped")
    assert [event.facts for event in events(home) if event.kind == "taken_up"] == [{"run": "r0001"}]
    assert [event.stage for event in events(home) if event.kind == "stage_started"] == ["prepare", "train", "train"]
    assert steps(home)[told] in (taken, taken + 1)
    with Household.open(home, settings.memory) as household:
        assert [run.state for run in household.runs.list()] == ["stopped", "stopped"]


def test_what_another_beginning_left_is_not_taken_up(home: Home) -> None:
    settings = small_settings(home)
    teach(home, settings)
    run = start_run(home)
    wait_for(lambda: any(event.stage == "train" for event in events(home)))
    run.terminate()
    finish(run)
    left = RunFiles(home.runs / "r0001").checkpoint(3)
    left.write_bytes(b"of the first run")
    small_settings(home, {"seed": 8})
    again = start_run(home)
    wait_for(lambda: any(event.stage == "prepare" for event in events(home)[1:]) and not left.exists())
    again.terminate()
    finish(again)
    assert not [event for event in events(home) if event.kind == "taken_up"]
    assert not RunFiles(home.runs / "r0002").checkpoints()


def test_two_runs_at_once_are_one_too_many(home: Home) -> None:
    settings = small_settings(home)
    teach(home, settings)
    first = start_run(home)
    wait_for(lambda: any(event.kind == "run_started" for event in events(home)))
    code, _, err = finish(start_run(home))
    assert (code, json.loads(err)["code"]) == (1, "run_already_running")
    first.terminate()
    finish(first)


def test_a_run_without_lessons_says_so(home: Home) -> None:
    small_settings(home)
    code, _, err = finish(start_run(home))
    assert (code, json.loads(err)["code"]) == (1, "nothing_to_learn")
    assert [event.kind for event in events(home)] == ["run_started", "run_failed"]


def test_an_unknown_recipe_is_wrong_usage_and_names_the_known_ones(home: Home) -> None:
    teach(home, small_settings(home))
    code, _, err = finish(start_run(home, "--recipe", "famly"))
    assert code == 2
    assert "family" in json.loads(err)["facts"]["known"]


def test_lessons_that_are_all_too_long_are_named_and_nothing_is_trained(home: Home) -> None:
    settings = small_settings(home, {"longest_pair_tokens": 64})
    teach(home, settings, [("What is the plan?", "We go " + "up and down " * 60, "No plan.")])
    code, _, err = finish(start_run(home))
    assert (code, json.loads(err)["code"]) == (1, "nothing_to_learn")
    dropped = [event.facts for event in events(home) if event.facts and event.facts.get("name") == "lesson_dropped"]
    assert dropped[0]["reason"] == "too_long"
    assert dropped[0]["question"] == "What is the plan?"


def test_a_home_that_cannot_be_written_is_said_in_a_sentence(home: Home) -> None:
    settings = small_settings(home)
    teach(home, settings)
    # A file where the run's folder should be refuses every user, root too.
    (home.runs / "r0001").write_text("")
    code, _, err = finish(start_run(home))
    assert (code, json.loads(err)["code"]) == (1, "training_no_room")
    with Household.open(home, settings.memory) as household:
        latest = household.runs.latest()
        assert latest is not None
        assert latest.state == "failed"


@pytest.mark.soak
def test_the_recipe_that_learns_and_breaks_is_held(home: Home, starter: Path) -> None:
    settings = small_settings(home)
    home.config_file.write_text(yaml.safe_dump({"training": {"idle_priority": False, "search": {"seconds": 0}}}))
    pairs = []
    for line in (ROOT / "benchmarks/data/lessons24.jsonl").read_text().splitlines()[:12]:
        pair = json.loads(line)
        pairs.append((pair["prompt"][-1]["content"], pair["chosen"][0]["content"], pair["rejected"][0]["content"]))
    teach(home, settings, pairs)
    code, out, _ = finish(start_run(home, "--recipe", "dpo"), timeout=3600)
    assert (code, json.loads(out)["decision"]) == (3, "HOLD")
    verdict = next(event.facts for event in events(home) if event.kind == "verdict")
    assert verdict is not None
    assert "unrelated_kl" in verdict["reasons"]
