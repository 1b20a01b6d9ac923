"""A manifest is one file that carries a run, is held against the home before, and gives the same somewhere else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from configs.home import Home
from configs.settings import Settings, SettingWrong, load_settings
from memory.household import Household
from memory.lesson_files import export_jsonl, import_jsonl
from memory.runs import LESSONS
from tests.project import ROOT
from tests.trainer.household import PAIRS, small_settings, teach
from trainer.beginning import gathered
from trainer.errors import GraphCyclic, InputMismatch, ManifestNotDone, RecipeKeyUnknown
from trainer.everyday import page, read_prompts
from trainer.manifest import as_yaml, identity
from trainer.pipeline.judged import judged
from trainer.pipeline.planning import Plan, plan_file, plan_manifest, plan_recipe, resolve_manifest
from trainer.pipeline.recipe_file import WrittenRecipe
from trainer.pipeline.reproducing import compared
from trainer.pipeline.usual import USUAL
from trainer.run_files import RunFiles

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def settings(home: Home) -> Settings:
    settings = small_settings(home)
    teach(home, settings)
    return settings


@pytest.fixture
def household(home: Home, settings: Settings) -> Iterator[Household]:
    with Household.open(home, settings.memory) as household:
        yield household


@pytest.fixture
def plan(home: Home, settings: Settings, household: Household) -> Plan:
    return plan_recipe(home, settings, household, WrittenRecipe("family", settings, USUAL))


def trainer(home: Home, *what: str) -> tuple[int, str, str]:
    """``python -m trainer …``, run to its end."""
    command = [sys.executable, "-m", "trainer", *what, "--home", str(home.root)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    return done.returncode, done.stdout, done.stderr


def written(path: Path, manifest: Any) -> Path:
    path.write_text(as_yaml(manifest), encoding="utf-8")
    return path


def test_a_plan_writes_nothing_and_names_every_lesson_by_its_hash(plan: Plan, household: Household, home: Home) -> None:
    assert [step["gives"] for step in plan.manifest["stages"].values()] == [
        "TrainingData", "Adapter", "ServedWeights", "EvaluationReport",
    ]  # fmt: skip
    assert len(plan.manifest["lessons"]) == len(PAIRS)
    assert not any(words in as_yaml(plan.manifest) for words in PAIRS[0])
    assert (plan.reasons, dict(plan.known), plan.done) == ((), {}, None)
    assert household.runs.list() == []
    assert not list(home.runs.iterdir())


def test_a_manifest_gives_the_very_inputs_that_it_was_planned_of(
    home: Home, settings: Settings, household: Household, plan: Plan, tmp_path: Path
) -> None:
    """So that a run by it is taken up where one was cut off, and finds what was made of the same."""
    path = written(tmp_path / "manifest.yaml", plan.manifest)
    found = resolve_manifest(home, settings, household, path, {}, "r0001").inputs
    assert found is not None
    assert found.as_json() == gathered(home, settings, household, household.runs.upcoming(LESSONS), "family").as_json()


def test_every_stage_has_an_estimate_and_more_lessons_take_more(
    home: Home, settings: Settings, household: Household, plan: Plan
) -> None:
    assert set(plan.estimates) == set(USUAL)
    assert all(each.flops > 0 and each.seconds > 0 and each.joules > 0 for each in plan.estimates.values())
    ana = household.members.default()
    asked = [{"role": "user", "content": "When is the harvest?"}]
    household.member(ana.id).lessons.add(asked, "It is in October.", "In May.", visibility="shared")
    more = plan_recipe(home, settings, household, WrittenRecipe("family", load_settings(home, {}), USUAL))
    assert more.estimates["evaluate"].flops > plan.estimates["evaluate"].flops
    assert identity(more.manifest) != identity(plan.manifest)


def without(*keys: str) -> Change:
    def change(manifest: dict[str, Any]) -> None:
        for key in keys[:-1]:
            manifest = manifest[key]
        del manifest[keys[-1]]

    return change


def with_value(value: Any, *keys: Any) -> Change:
    def change(manifest: Any) -> None:
        for key in keys[:-1]:
            manifest = manifest[key]
        manifest[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without("gate"), ["no_gate"]),
        (with_value({}, "gate"), ["no_gate"]),
        (without("gate", "unrelated_kl"), ["kl_unbounded"]),
        (with_value(float("inf"), "gate", "unrelated_kl"), ["kl_unbounded"]),
        (with_value(0.5, "gate", "lessons_right"), ["bound_loosened"]),
        (with_value(1000, "gate", "perplexity_rise"), ["bound_loosened"]),
        (with_value(1, "training", "evaluation", "unrelated_prompts"), ["bound_loosened"]),
        (with_value("0" * 64, "base", "sha256"), ["stale"]),
        (with_value("0" * 64, "code"), ["stale"]),
        (with_value("0" * 64, "lessons", 0, "sha256"), ["stale"]),
        (with_value("v7", "current", "id"), ["stale"]),
        (with_value([{"sha256": "0" * 64, "scale": 1.0}], "current", "adapters"), ["stale"]),
        (with_value([{"id": "gone", "sha256": "0" * 64}], "ratings"), ["stale"]),
        (without("stages", "evaluate"), ["nothing_judged"]),
        (with_value(0.5, "training", "budget", "run_seconds"), ["run_too_long"]),
        (with_value(0.0001, "training", "budget", "run_watt_hours"), ["run_too_costly"]),
    ],
)
def test_the_reviewer_says_each_reason(
    home: Home, settings: Settings, household: Household, plan: Plan, tmp_path: Path, change: Change, reason: list[str]
) -> None:
    manifest = yaml.safe_load(as_yaml(plan.manifest))
    change(manifest)
    path = written(tmp_path / "manifest.yaml", manifest)
    found = plan_manifest(home, settings, household, path, {})
    assert [each.code for each in found.reasons] == reason


def test_a_lesson_that_is_left_out_is_named_and_its_words_are_not(
    home: Home, settings: Settings, household: Household
) -> None:
    ana, (question, _, rejected) = household.members.default(), PAIRS[0]
    asked = [{"role": "user", "content": question}]
    household.member(ana.id).lessons.add(asked, "Our dog is called Rex now.", rejected, visibility="shared")
    manifest = plan_recipe(home, settings, household, WrittenRecipe("family", settings, USUAL)).manifest
    assert [each["reason"] for each in manifest["dropped"]] == ["replaced"]
    assert question not in as_yaml(manifest)


def test_a_lesson_that_changed_since_is_named_by_its_id(
    home: Home, settings: Settings, household: Household, plan: Plan, tmp_path: Path
) -> None:
    path = written(tmp_path / "manifest.yaml", plan.manifest)
    assert plan_manifest(home, settings, household, path, {}).reasons == ()
    ana, lesson = household.members.default(), household.lessons_for_training()[0]
    household.member(ana.id).lessons.withdraw(lesson.id)
    (stale,) = plan_manifest(home, settings, household, path, {}).reasons
    assert (stale.code, stale.facts["what"], stale.facts["found"]) == ("stale", f"lessons.{lesson.id}", "")


def corrected(household: Household, question: str, answer: str) -> None:
    """One more shared correction."""
    asked = [{"role": "user", "content": question}]
    household.member(household.members.default().id).lessons.add(asked, answer, "No idea.", visibility="shared")


def test_what_is_measured_must_not_be_trained(home: Home, settings: Settings, household: Household) -> None:
    corrected(household, "What is written there?", " ".join(page("page_en").split()[:20]))
    (reason,) = plan_recipe(home, settings, household, WrittenRecipe("family", settings, USUAL)).reasons
    assert (reason.code, reason.facts["first"]) == ("evaluation_in_training", "page_en")


def test_a_taught_request_is_left_out_of_what_is_measured_as_long_as_another_is_left(
    home: Home, settings: Settings, household: Household
) -> None:
    count = settings.training.evaluation.unrelated_prompts
    for number, request in enumerate(read_prompts("unrelated")[:count], 1):
        assert plan_recipe(home, settings, household, WrittenRecipe("family", settings, USUAL)).reasons == ()
        corrected(household, request.lower().rstrip("?"), f"Aunt Yuki told us so, the {number}th time.")
    (reason,) = plan_recipe(home, settings, household, WrittenRecipe("family", settings, USUAL)).reasons
    assert (reason.code, reason.facts["number"]) == ("evaluation_in_training", count)


def test_wordings_of_a_long_question_share_its_words(home: Home, settings: Settings, household: Household) -> None:
    question = "Where did grandmother put the old wooden box with all the letters from her sister in America?"
    corrected(household, question, "It stands in the attic.")
    assert plan_recipe(home, settings, household, WrittenRecipe("family", settings, USUAL)).reasons == ()


@pytest.mark.parametrize(
    ("recipe", "error", "facts"),
    [
        ("trainig: {}", RecipeKeyUnknown, {"key": "trainig", "nearest": "training"}),
        ("training: {sed: 3}", SettingWrong, {"key": "training.sed", "nearest": "training.seed"}),
        ("stages: {prepare: {pairs: pairs, base: bas}}", RecipeKeyUnknown, {"nearest": "base"}),
        ("stages: {prepare: {pairs: base, base: base}}", InputMismatch, {"wants": "PreferencePairs"}),
        ("stages: [prepare]", SettingWrong, {"key": "stages"}),
        (
            "stages: {train: {data: prepare, base: base, begun: begun}, prepare: {pairs: pairs, base: evaluate}}",
            RecipeKeyUnknown,
            {"key": "stages.prepare.base: evaluate"},
        ),
    ],
)
def test_a_wrong_recipe_is_refused_by_file_and_key(
    home: Home, settings: Settings, household: Household, tmp_path: Path, recipe: str, error: type[Exception],
    facts: dict[str, str],
) -> None:  # fmt: skip
    path = tmp_path / "mine.yaml"
    path.write_text(recipe, encoding="utf-8")
    with pytest.raises(error) as refused:
        plan_file(home, settings, household, path, {})
    told = getattr(refused.value, "facts", {})
    assert told["file"] == str(path)
    assert facts.items() <= told.items()
    assert not isinstance(refused.value, GraphCyclic)


def test_a_recipes_changes_are_in_its_manifest_and_the_rest_is_the_households(
    home: Home, settings: Settings, household: Household, tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("training: {seed: 99, gate: {lessons_right: 0.5}}", encoding="utf-8")
    found = plan_file(home, settings, household, path, {}).manifest
    assert (found["seed"], found["gate"]["lessons_right"]) == (99, 0.5)
    assert found["recipe"]["optimiser"]["epochs"] == 14


def test_what_nobody_has_measured_yet_is_not_judged(home: Home, plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(ManifestNotDone):
        judged(written(tmp_path / "manifest.yaml", plan.manifest), home, {})


def test_a_manifest_is_carried_once_and_gives_the_same_in_another_home(
    home: Home, settings: Settings, plan: Plan, tmp_path: Path
) -> None:
    """Two whole trainings: the one, and the other one that is held against it."""
    path = written(tmp_path / "manifest.yaml", plan.manifest)
    code, out, err = trainer(home, "run", str(path))
    assert (code, err) == (0, "")
    done = json.loads(out)
    assert (done["run"], done["decision"], done["snapshot"]) == ("r0001", "SHIP", "v1")
    files = RunFiles(home.runs / "r0001")

    # Again: nothing is begun, by what was asked for and by what came of it.
    for each in (path, files.manifest):
        again, out, _ = trainer(home, "run", str(each))
        assert (again, json.loads(out)) == (0, done)
    assert [folder.name for folder in home.runs.iterdir()] == ["r0001"]
    assert judged(files.manifest, home, {}).decision == "SHIP"

    # The next one finds everything there but what is measured beside the new snapshot, and knows how long it takes.
    with Household.open(home, settings.memory) as household:
        upcoming = plan_recipe(home, settings, household, WrittenRecipe("family", settings, USUAL))
    assert {name: made.run for name, made in upcoming.known.items()} == dict.fromkeys(
        USUAL.keys() - {"evaluate"}, "r0001"
    )
    assert all(each.measured for each in upcoming.estimates.values())

    manifest = yaml.safe_load(files.manifest.read_text())
    stages = manifest["stages"]
    assert stages["train"]["output"] == manifest["artifacts"]["train/adapter.safetensors"]
    assert len({told["input"] for told in stages.values()}) == len(stages)

    other = Home(tmp_path / "elsewhere" / "second")
    other.prepare()
    other_settings = small_settings(other)
    with Household.open(home, settings.memory) as first, Household.open(other, other_settings.memory) as second:
        lent = tmp_path / "lessons.jsonl"
        export_jsonl(first.lessons_for_training(), lent)
        bea = second.members.add("Bea", "en")
        import_jsonl(second.member(bea.id).lessons, lent, shared=True)
    code, out, err = trainer(other, "reproduce", str(files.manifest))
    told = json.loads(out)
    assert (code, err, told["reproduced"], told["first"]) == (0, "", True, "")
    assert told["stages"]["prepare"]

    # What differs is named: the first stage that left something else, where it matters to what was measured.
    mine = compared(manifest, files, "r0001", settings, ())
    assert (mine.reproduced, mine.first, set(mine.stages.values())) == (True, "", {True})
    stages["train"]["output"] = "0" * 64
    assert compared(manifest, files, "r0001", settings, ()).reproduced
    manifest["measures"]["lessons_right"] = 0.5
    assert compared(manifest, files, "r0001", settings, ()).first == "train"
    stages["train"]["output"] = manifest["artifacts"]["train/adapter.safetensors"]
    assert compared(manifest, files, "r0001", settings, ()).first == "lessons_right"

    with Household.open(other, other_settings.memory) as second:
        assert second.snapshots.current().id == "v0"
        assert second.runs.list()[0].summary == {"reproduced": True, "first": ""}
