"""Settings: shipped values are whole and described; a wrong one is named with its key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from configs.home import Home
from configs.layers import SettingsUnreadable
from configs.settings import DEFAULTS, Settings, SettingWrong, load_settings


def fields_of(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every setting with its dotted key, sections included."""
    for name, field in model.model_fields.items():
        yield prefix + name, field
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from fields_of(field.annotation, f"{prefix}{name}.")


def test_the_shipped_settings_are_whole_and_valid(home: Home) -> None:
    load_settings(home, {})


def test_each_file_of_defaults_sets_the_section_that_it_is_named_for() -> None:
    for path in DEFAULTS.glob("*.yaml"):
        # A subject within a section may have a file of its own: engine_server.yaml is a part of engine.
        assert list(yaml.safe_load(path.read_text(encoding="utf-8"))) == [path.stem.partition("_")[0]]


def test_every_setting_says_what_it_does() -> None:
    def says(field: FieldInfo) -> bool:
        kind = field.annotation
        return bool(field.description or (isinstance(kind, type) and issubclass(kind, BaseModel) and kind.__doc__))

    assert [key for key, field in fields_of(Settings) if not says(field)] == []


def test_no_setting_has_its_default_in_code() -> None:
    assert [key for key, field in fields_of(Settings) if not field.is_required()] == []


def test_the_households_file_wins_over_the_shipped_values(home: Home) -> None:
    home.config_file.write_text("engine: {slots: 7}\n", encoding="utf-8")
    assert load_settings(home, {}).engine.slots == 7


def test_the_environment_wins_over_the_file_and_options_win_over_both(home: Home) -> None:
    home.config_file.write_text("engine: {slots: 7}\n", encoding="utf-8")
    environ = {"ENLACE_ENGINE__SLOTS": "8"}
    assert load_settings(home, environ).engine.slots == 8
    assert load_settings(home, environ, {"engine": {"slots": 9}}).engine.slots == 9


def test_an_unknown_key_is_refused_with_the_key_that_was_probably_meant(home: Home) -> None:
    home.config_file.write_text("engine: {slotz: 2}\n", encoding="utf-8")
    with pytest.raises(SettingWrong) as refused:
        load_settings(home, {})
    assert refused.value.facts["key"] == "engine.slotz"
    assert refused.value.facts["nearest"] == "engine.slots"
    assert refused.value.facts["file"] == str(home.config_file)


@pytest.mark.parametrize("text", ["engine: {slots: many}", "engine: {slots: -1}", "engine: 4", "motor: {}", "engine:"])
def test_a_value_of_the_wrong_kind_is_refused_with_its_key(home: Home, text: str) -> None:
    home.config_file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingWrong) as refused:
        load_settings(home, {})
    assert str(refused.value.facts["key"]).split(".")[0] in text
    assert refused.value.facts["reason"]
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("engine: {threads: 1000000}", "engine.threads"),
        ("training: {threads: 1000000}", "training.threads"),
        ("engine: {sign_of_life_s: 400}", "engine"),
        ("engine: {slots: true}", "engine.slots"),
        ("engine: {form: {thread_shares: [0.5, true]}}", "engine.form.thread_shares.1"),
        ("engine: {form: {tried: {q8_0: {type: q8_0, tensors: {'[': f16}}}}}", "engine.form.tried.q8_0.tensors"),
        ("training: {search: {seconds: 1e999}}", "training.search.seconds"),
        ("training: {gate: {unrelated_kl: .inf}}", "training.gate.unrelated_kl"),
        ("training: {estimate: {watts: .nan}}", "training.estimate.watts"),
        ("interface: {status_seconds: -.inf}", "interface.status_seconds"),
        ("engine: {metrics: {first_token_s: [0.05, .inf]}}", "engine.metrics.first_token_s.1"),
        ("assistant: {time_zone: Mars/Olympus}", "assistant.time_zone"),
        ("assistant: {time_zone: ../../etc/passwd}", "assistant.time_zone"),
        ("assistant: {time_zone: Europe}", "assistant.time_zone"),
    ],
)
def test_a_value_that_cannot_work_is_refused_with_its_key(home: Home, text: str, key: str) -> None:
    home.config_file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingWrong) as refused:
        load_settings(home, {})
    assert refused.value.facts["key"] == key


def test_a_wrong_value_from_the_environment_is_named_by_its_variable(home: Home) -> None:
    home.config_file.write_text("engine: {slots: 7}\n", encoding="utf-8")
    with pytest.raises(SettingWrong) as refused:
        load_settings(home, {"ENLACE_ENGINE__SLOTS": "many"})
    assert refused.value.facts["file"] == "ENLACE_ENGINE__SLOTS"


def test_an_unknown_section_from_the_environment_is_named_by_the_whole_variable(home: Home) -> None:
    with pytest.raises(SettingWrong) as refused:
        load_settings(home, {"ENLACE_HOME": "x", "ENLACE_TRAINNING__SEED": "3"})
    assert refused.value.facts["file"] == "ENLACE_TRAINNING__SEED"


def test_a_wrong_value_from_an_option_is_named_by_the_option(home: Home) -> None:
    with pytest.raises(SettingWrong) as refused:
        load_settings(home, {"ENLACE_ENGINE__SLOTS": "many"}, {"engine": {"slots": -1}})
    assert refused.value.facts["file"] == "--engine.slots"


def test_an_unreadable_value_in_the_environment_is_named_by_its_variable(home: Home) -> None:
    with pytest.raises(SettingsUnreadable) as refused:
        load_settings(home, {"ENLACE_ENGINE__SLOTS": "[1"})
    assert refused.value.facts["file"] == "ENLACE_ENGINE__SLOTS"


def test_settings_cannot_be_changed_by_accident(settings: Settings) -> None:
    with pytest.raises(ValueError, match="frozen"):
        settings.engine.slots = 3


def test_every_section_is_in_a_file_of_its_own() -> None:
    sections = Path(DEFAULTS).parent / "sections"
    named = {path.stem for path in sections.glob("*.py")} - {"__init__"}
    assert set(Settings.model_fields) <= named
    assert set(Settings.model_fields) == {path.stem.partition("_")[0] for path in DEFAULTS.glob("*.yaml")}
    # The rest are parts of a section.
    texts = "".join((sections / f"{name}.py").read_text(encoding="utf-8") for name in Settings.model_fields)
    assert [part for part in named - set(Settings.model_fields) if f"configs.sections.{part} import" not in texts] == []


@pytest.mark.parametrize(
    ("written", "meant"), [("23:00", "23:00"), ("7:30", "07:30"), ("07:00", "07:00"), ("0:05", "00:05")]
)
def test_a_time_of_day_is_one_also_where_yaml_takes_it_for_a_number(home: Home, written: str, meant: str) -> None:
    home.config_file.write_text(f"training: {{night: {{quiet_from: {written}, quiet_to: '{written}'}}}}\n")
    night = load_settings(home, {}).training.night
    assert (night.quiet_from.zfill(5), night.quiet_to.zfill(5)) == (meant, meant)


@pytest.mark.parametrize("written", ["24:00", "'25:00'", "-1", "noon", "true", "7:60", "1440", "9", "0", "'9'"])
def test_what_is_no_time_of_day_is_refused(home: Home, written: str) -> None:
    home.config_file.write_text(f"training: {{night: {{quiet_from: {written}}}}}\n")
    with pytest.raises(SettingWrong) as refused:
        load_settings(home, {})
    assert refused.value.facts["key"] == "training.night.quiet_from"
    assert refused.value.facts["kind"] == "no_time_of_day"
