"""The stage that measures, as the process that it is, over weights that a family has trained."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import torch

from configs.home import Home
from engine.served import AdapterFile
from tests.trainer.adapters import disturbed
from tests.trainer.stages import run_stage
from trainer.gate import judge
from trainer.model.adapter_file import write_gguf
from trainer.model.lora import new_adapter
from trainer.model.reading import BaseWeights
from trainer.run_files import RunFiles, read_inputs, read_json, write_json


def test_what_is_right_in_the_other_language_is_told_apart_and_binds_no_gate(
    home_that_trained: Home, tmp_path: Path
) -> None:
    trained, files = RunFiles(home_that_trained.runs / "r0001"), RunFiles(tmp_path / "r0001")
    inputs, before = read_inputs(trained), read_json(trained.measures)
    # Of the starter, which speaks English alone, no translation passes: a question stands for one.
    assert before["measures"]["other_language_right"] is None
    data = read_json(trained.data)
    own = next(question for question in data["questions"] if not question["held_out"])
    write_json(files.data, {**data, "other_language": [{**own, "held_out": True}]})
    files.adapter.parent.mkdir()
    shutil.copy(trained.adapter, files.adapter)
    run_stage("evaluate", files, inputs)
    told = read_json(files.measures)
    assert told["measures"]["other_language_right"] == 1.0
    assert told["baseline"]["other_language_right"] == 0.0
    assert told["answers"] == before["answers"]
    for name in ("lessons_right", "held_out_right", "lessons_kept"):
        assert told["measures"][name] == before["measures"][name]
    checks = judge(told["measures"], inputs.training.gate).checks
    assert "other_language_right" not in [check.name for check in checks]


def test_what_answers_now_may_have_lost_much_already_and_the_base_is_still_what_is_kept_from(
    home_that_trained: Home, base: BaseWeights, tmp_path: Path
) -> None:
    trained, files = RunFiles(home_that_trained.runs / "r0001"), RunFiles(tmp_path / "r0002")
    inputs, first = read_inputs(trained), read_json(trained.measures)
    lost = tmp_path / "lost.gguf"
    adapter = disturbed(new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(3)), 0.3)
    write_gguf(adapter, base.config, lost)
    files.adapter.parent.mkdir(parents=True)
    shutil.copy(trained.adapter, files.adapter)
    shutil.copytree(trained.data.parent, files.data.parent)
    run_stage("evaluate", files, replace(inputs, current_adapters=(AdapterFile(lost, 1.0),)))
    told = read_json(files.measures)
    assert told["baseline"]["lessons_right"] == 0.0
    for name in ("known_kept", "forms_kept"):
        assert first["intervals"][name]["samples"] > 0
        assert (told["measures"][name], told["intervals"][name]) == (first["measures"][name], first["intervals"][name])
