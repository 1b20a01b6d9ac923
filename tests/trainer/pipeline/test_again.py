"""Nothing is done twice: a run takes what an earlier one made of the same, and nobody what was taken back."""

from __future__ import annotations

from pathlib import Path

import yaml

from configs.home import Home
from configs.settings import load_settings
from memory.household import Household
from tests.trainer.household import events, finish, small_settings, start_run, wait_for
from trainer.run_files import RunFiles, read_json


def skipped(home: Home) -> dict[str, str]:
    """Of the newest run: the stages that it did not do, and which run had done them."""
    told = [event.facts for event in events(home) if event.kind == "stage_skipped"]
    return {facts["stage"]: facts["run"] for facts in told if facts}


def stored(home: Home) -> set[Path]:
    return {path for path in (home.store / "sha256").rglob("*") if path.is_file()}


def test_what_was_made_of_the_same_is_taken_again_and_goes_with_its_lesson(home_that_trained: Home) -> None:
    home = home_that_trained
    settings = load_settings(home, {})
    first = RunFiles(home.runs / "r0001")

    # Another bound is no other training; what it is measured by is. It goes on with what the first one trained.
    small_settings(home, {"gate": {"lessons_right": 0.9, "unrelated_kl": 20.0, "perplexity_rise": 50.0}})
    run = start_run(home)
    second = RunFiles(home.runs / "r0002")
    wait_for(lambda: second.folder.exists() and len(skipped(home)) == 2)
    run.terminate()
    finish(run)
    assert skipped(home) == {"prepare": "r0001", "train": "r0001"}
    assert second.weights.read_bytes() == first.weights.read_bytes()
    assert read_json(second.report("train"))["made_by"] == "r0001"
    assert next(event.kind for event in events(home) if event.stage == "train") == "stage_started"
    # Neither was the manifest's last word.
    assert yaml.safe_load(second.partial_manifest.read_text())["failed"] == {
        "stage": "export", "code": "run_stopped", "invalid": ["export", "evaluate"],
    }  # fmt: skip

    with Household.open(home, settings.memory) as household:
        needed = {home.artifact(digest) for each in household.snapshots.list() for digest in each.objects}
        assert stored(home) > needed
        ana = household.members.default()
        lesson = household.lessons_for_training()[0]
        household.member(ana.id).lessons.withdraw(lesson.id)
        household.forget_withdrawn()
    assert stored(home) == needed
    assert not list((home.store / "made").rglob("*.json"))
