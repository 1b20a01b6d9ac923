"""Layers of settings: how they merge, and where each comes from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.layers import (
    Layer,
    SettingsOutOfReach,
    SettingsUnreadable,
    SettingTwice,
    dotted,
    environment_layer,
    merged,
    read_layer,
)

LEAF = st.one_of(st.integers(), st.text(max_size=5), st.booleans(), st.lists(st.integers(), max_size=3))
LAYER = st.recursive(
    st.dictionaries(st.sampled_from("abcd"), LEAF, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abcd"), st.one_of(LEAF, inner), max_size=3),
    max_leaves=8,
)


def test_a_later_layer_wins_key_by_key() -> None:
    assert merged([{"a": {"x": 1, "y": 2}, "b": 1}, {"a": {"y": 3}}]) == {"a": {"x": 1, "y": 3}, "b": 1}


@given(LAYER, LAYER)
def test_every_value_of_the_stronger_layer_survives(weak: Layer, strong: Layer) -> None:
    def survives(wanted: Layer, found: Layer) -> bool:
        return all(
            survives(value, found[key]) if isinstance(value, dict) else found[key] == value
            for key, value in wanted.items()
        )

    assert survives(strong, merged([weak, strong]))


@given(LAYER, LAYER)
def test_merging_leaves_the_layers_that_went_in_as_they_were(weak: Layer, strong: Layer) -> None:
    before = (repr(weak), repr(strong))
    result = merged([weak, strong])
    for value in result.values():
        if isinstance(value, dict):
            value["added"] = "later"
    assert (repr(weak), repr(strong)) == before


def test_a_dotted_path_becomes_nested_sections() -> None:
    assert dotted("engine.sampling.seed", 4) == {"engine": {"sampling": {"seed": 4}}}


def test_the_environment_sets_nested_settings_and_ignores_the_rest() -> None:
    environ = {"ENLACE_ENGINE__SLOTS": "4", "ENLACE_HOME": "/casa", "PATH": "/bin", "ENLACE_A__B__C": "[1, 2]"}
    assert environment_layer(environ) == {"engine": {"slots": 4}, "a": {"b": {"c": [1, 2]}}}


def test_a_file_that_is_not_there_is_an_empty_layer(tmp_path: Path) -> None:
    assert read_layer(tmp_path / "config.yaml") == {}


def test_an_empty_file_is_an_empty_layer(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("# nothing yet\n", encoding="utf-8")
    assert read_layer(tmp_path / "config.yaml") == {}


@pytest.mark.parametrize(
    "text", [b"engine: [1", b"just a sentence", b"- a\n- list\n", b"\xff\xfe\x00", b"a: \x07", b"a: 2026-99-99"]
)
def test_a_file_that_is_no_settings_file_is_refused_by_name(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(text)
    with pytest.raises(SettingsUnreadable) as refused:
        read_layer(path)
    assert refused.value.facts["file"] == str(path)
    assert "\n" not in str(refused.value.facts["reason"])


def test_a_folder_in_place_of_a_settings_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SettingsOutOfReach):
        read_layer(tmp_path)


def test_yaml_never_makes_python_objects(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("a: !!python/object/apply:os.getpid []\n", encoding="utf-8")
    with pytest.raises(SettingsUnreadable):
        read_layer(path)


def test_a_file_that_cannot_be_read_is_not_told_as_a_mistake_in_a_line(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / ("y" * 300)):
        with pytest.raises(SettingsOutOfReach):
            read_layer(path)


def test_a_key_that_is_set_twice_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("engine:\n  slots: 2\nengine:\n  threads: 1\n", encoding="utf-8")
    with pytest.raises(SettingTwice) as refused:
        read_layer(path)
    assert refused.value.facts == {"file": str(path), "key": "engine", "line": 3}
    path.write_text("a: &one {x: 1, y: 2}\nb: {<<: *one, x: 3}\n", encoding="utf-8")
    assert read_layer(path)["b"] == {"x": 3, "y": 2}
    # A mapping that takes over another's keys may itself be taken over, before anything was made of it.
    path.write_text("o: &o {x: 2}\ng: {a: &a {<<: *o, x: 1}}\nb: {<<: *a, z: 1}\n1: one\n'1': text\n", encoding="utf-8")
    assert read_layer(path)["g"] == {"a": {"x": 1}}
    assert read_layer(path)["b"]["z"] == 1


def test_a_settings_file_that_would_never_end_is_not_read(tmp_path: Path) -> None:
    pipe, device = tmp_path / "pipe.yaml", tmp_path / "device.yaml"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for path in (pipe, device):
        with pytest.raises(SettingsOutOfReach):
            read_layer(path)
