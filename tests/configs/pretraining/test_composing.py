"""A run is composed of its layers: the groups, its own file, what is typed; and the resolved whole reads back."""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.home import Home
from configs.pretraining.composing import as_yaml, compose
from configs.pretraining.layering import GROUPS, RUNS
from configs.pretraining.schema import Run
from tests.configs.test_settings import fields_of

SHIPPED = sorted(path.stem for path in RUNS.glob("*.yaml"))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A builder's own run, in a folder of its own."""
    file = tmp_path / "mine" / "novels.yaml"
    file.parent.mkdir()
    file.write_text(
        "hardware: {use: cpu, threads: 2}\nmodel: bytes\ntrain: smoke\n"
        "data: {use: enlace, sources: [{path: novels, form: epub}]}\n",
        encoding="utf-8",
    )
    return file


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_run_is_whole_and_valid(name: str, home: Home, tmp_path: Path) -> None:
    assert compose(name, [], home, tmp_path).run.name == name


def test_every_shipped_file_of_a_group_belongs_to_a_shipped_run(home: Home, tmp_path: Path) -> None:
    used = {source for name in SHIPPED for source in [each.source for each in compose(name, [], home, tmp_path).layers]}
    assert {str(path) for folder in GROUPS.values() for path in folder.glob("*.yaml")} <= used


def test_every_key_of_a_run_says_what_it_is_and_has_no_default_in_code() -> None:
    fields = list(fields_of(Run))
    silent = [key for key, field in fields if not (field.description or getattr(field.annotation, "__doc__", None))]
    assert silent == []
    assert [key for key, field in fields if not field.is_required()] == []


def test_a_runs_own_file_changes_keys_of_the_groups_it_names(own: Path, home: Home, tmp_path: Path) -> None:
    run = compose(str(own), [], home, tmp_path).run
    assert (run.name, run.hardware.threads, run.hardware.device) == ("novels", 2, "cpu")


def test_what_is_typed_wins_over_the_file(own: Path, home: Home, tmp_path: Path) -> None:
    typed = ["hardware.threads=1", "train.adamw.learning_rate=1e-4", "name=others", "train.sample_prompts=[Érase]"]
    run = compose(str(own), typed, home, tmp_path).run
    assert (run.hardware.threads, run.train.adamw.learning_rate) == (1, 1e-4)
    assert (run.name, run.train.sample_prompts) == ("others", ("Érase",))


def test_a_group_that_is_typed_by_its_name_takes_the_place_of_the_files_with_its_changes(
    own: Path, home: Home, tmp_path: Path
) -> None:
    run = compose(str(own), ["hardware=turing-2060"], home, tmp_path).run
    assert (run.hardware.capability, run.hardware.threads) == ("7.5", 0)


def test_a_card_may_be_typed_as_a_number(home: Home, tmp_path: Path) -> None:
    assert compose("spanish-turing", ["hardware.capability=8.6"], home, tmp_path).run.hardware.capability == "8.6"


def test_a_groups_file_of_ones_own_is_named_by_its_path_from_the_runs_file(
    own: Path, home: Home, tmp_path: Path
) -> None:
    shape = (GROUPS["model"] / "bytes.yaml").read_text(encoding="utf-8").replace("layers: 2", "layers: 3")
    (own.parent / "deeper.yaml").write_text(shape, encoding="utf-8")
    own.write_text(own.read_text(encoding="utf-8").replace("model: bytes", "model: ./deeper.yaml"), encoding="utf-8")
    assert compose(str(own), [], home, tmp_path).run.model.layers == 3


def test_a_path_begins_at_the_file_in_which_it_stands_or_where_one_types_it(
    own: Path, home: Home, tmp_path: Path
) -> None:
    def paths(*typed: str) -> list[str]:
        return [source.path for source in compose(str(own), typed, home, tmp_path / "here").run.data.sources]

    assert paths() == [str(own.parent / "novels")]
    assert paths("data.sources=[{path: text, form: text}, {path: '{home}/text', form: text}]") == [
        str(tmp_path / "here" / "text"),
        str(home.root / "text"),
    ]
    assert paths("data.sources=[{path: someone/books, form: hub}]") == ["someone/books"]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_resolved_whole_is_a_runs_file_of_the_same_value(name: str, home: Home, tmp_path: Path) -> None:
    run = compose(name, ["train.seed=99", "name=again"], home, tmp_path).run
    (tmp_path / "run.yaml").write_text(as_yaml(run), encoding="utf-8")
    assert compose("./run.yaml", [], home, tmp_path).run == run


def test_the_parameters_of_a_shape_are_counted_with_the_embedding_once(home: Home, tmp_path: Path) -> None:
    shape = compose("smoke", [], home, tmp_path).run.model
    embedding = 259 * 32
    attention = 32 * 32 + 2 * 32 * 16 + 32 * 32
    layer = attention + 3 * 32 * 64 + 2 * 32 + 2 * 16
    assert shape.parameters == embedding + 2 * layer + 32
