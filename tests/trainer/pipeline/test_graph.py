"""A graph is checked whole before anything is begun: names, types, circles, and in what order its stages come."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.project import ROOT
from trainer.errors import GraphCyclic, InputMismatch, InputMissing, RecipeKeyUnknown
from trainer.pipeline.artifacts import Adapter, Artifact, ServedWeights, TrainingData
from trainer.pipeline.graph import Graph, graph_of
from trainer.pipeline.sources import SOURCES
from trainer.pipeline.stages import STAGES, Stage, stage
from trainer.pipeline.usual import USUAL, Wiring

FILE = "recipe.yaml"


def usual(**changes: Mapping[str, str]) -> Graph:
    return graph_of({**USUAL, **changes}, STAGES, SOURCES, FILE)


def chained(names: str) -> dict[str, Stage]:
    """Stages of these one-letter names, each from an adapter to an adapter."""

    def more(context: object, begun: Adapter) -> Adapter:
        return begun

    made = stage(more, "cheap", "adapter")
    return {name: Stage(name, made.function, made.takes, made.gives, made.cost, made.file) for name in names}


def chain(wiring: Wiring) -> Graph:
    return graph_of(wiring, chained("abcdef"), {"begun": Adapter}, FILE)


def test_what_a_stage_takes_and_gives_is_what_its_function_is_annotated_with() -> None:
    assert dict(STAGES["export"].takes)["adapter"] is Adapter
    assert STAGES["export"].gives is ServedWeights
    assert STAGES["train"].takes["data"] is TrainingData


def test_planning_loads_neither_torch_nor_llama_cpp() -> None:
    code = "import sys, trainer.pipeline.sources; print({'torch', 'llama_cpp', 'safetensors'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_each_stage_comes_after_what_it_takes_however_a_recipe_orders_them() -> None:
    reversed_order = {name: USUAL[name] for name in reversed(list(USUAL))}
    assert graph_of(reversed_order, STAGES, SOURCES, FILE).names == ("prepare", "train", "export", "evaluate")


def test_a_stage_that_is_fed_what_it_cannot_take_is_refused_by_both_names() -> None:
    with pytest.raises(InputMismatch) as refused:
        usual(export={**USUAL["export"], "adapter": "prepare"})
    assert refused.value.facts == {
        "file": FILE, "stage": "export", "input": "adapter", "wants": "Adapter", "source": "prepare",
        "gives": "TrainingData",
    }  # fmt: skip


def test_weights_that_are_trained_over_are_not_taken_for_served_ones() -> None:
    with pytest.raises(InputMismatch):
        usual(evaluate={**USUAL["evaluate"], "candidate": "base"})


def test_a_stage_without_one_of_its_inputs_is_refused() -> None:
    with pytest.raises(InputMissing) as refused:
        usual(train={"data": "prepare"})
    assert (refused.value.facts["input"], refused.value.facts["wants"]) == ("base", "BaseWeights")


@pytest.mark.parametrize(
    ("changes", "key", "nearest"),
    [
        ({"trian": USUAL["train"]}, "stages.trian", "train"),
        ({"train": {"data": "prepare", "bse": "base"}}, "stages.train.bse", "base"),
        ({"train": {"data": "prepar", "base": "base"}}, "stages.train.data: prepar", "prepare"),
        ({"xyz": {}}, "stages.xyz", ""),
    ],
)
def test_an_unknown_name_is_told_with_the_file_and_the_nearest_right_one(
    changes: Wiring, key: str, nearest: str
) -> None:
    with pytest.raises(RecipeKeyUnknown) as refused:
        usual(**changes)
    assert refused.value.facts == {"file": FILE, "key": key, "nearest": nearest}


def test_a_circle_is_named_and_what_only_waits_for_it_is_not() -> None:
    with pytest.raises(GraphCyclic) as refused:
        chain(
            {
                "a": {"begun": "c"},
                "b": {"begun": "a"},
                "c": {"begun": "b"},
                "d": {"begun": "c"},
                "e": {"begun": "begun"},
            }
        )
    assert refused.value.facts["stages"] in ("a → b → c → a", "b → c → a → b", "c → a → b → c")


def test_a_stage_that_takes_what_it_gives_is_a_circle() -> None:
    with pytest.raises(GraphCyclic) as refused:
        chain({"a": {"begun": "a"}})
    assert refused.value.facts["stages"] == "a → a"


def test_what_follows_from_a_failed_stage_is_invalid_and_nothing_beside_it() -> None:
    graph = chain(
        {name: {"begun": source} for name, source in zip("abcde", ["begun", "a", "b", "a", "d"], strict=True)}
    )
    assert graph.made_invalid_by("b") == ("b", "c")
    assert graph.made_invalid_by("a") == ("a", "b", "d", "c", "e")


def test_an_artifact_is_no_more_than_its_kind_says() -> None:
    with pytest.raises(ValueError, match="extra"):
        Artifact.model_validate({"sha256": "0" * 64, "name": "a"})
