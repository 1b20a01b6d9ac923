"""What a start does not load: nobody waits for torch to read a help text."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.project import ROOT

NEVER = {"torch", "llama_cpp", "ddgs", "transformers"}
NOT_FOR_A_COMMAND = NEVER | {"textual"}

WALK_EVERY_HELP = """
import io, json, sys, contextlib
from scripts.commands_page import root, walk
names = []
for name, command in walk(root()):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            command.main(["--help"], prog_name=name, standalone_mode=True)
        except SystemExit as leaving:
            assert leaving.code in (0, None), (name, leaving.code)
    assert said.getvalue().strip(), name
    names.append(name)
print(json.dumps({"names": names, "modules": sorted(sys.modules)}))
"""


def loaded_by(code: str) -> set[str]:
    """The top-level modules that are loaded once ``code`` has run in a Python of its own."""
    code += "\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(ran.stdout.splitlines()[-1])}


def test_starting_the_command_loads_neither_torch_nor_the_native_library() -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "app", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in ran.stderr.splitlines() if "|" in line}
    assert "typer" in loaded
    assert loaded & NOT_FOR_A_COMMAND == set()


def test_the_help_of_every_command_loads_nothing_heavy() -> None:
    ran = subprocess.run([sys.executable, "-c", WALK_EVERY_HELP], cwd=ROOT, capture_output=True, text=True, check=True)
    answer = json.loads(ran.stdout.splitlines()[-1])
    assert len(answer["names"]) > 10
    assert {name.partition(".")[0] for name in answer["modules"]} & NOT_FOR_A_COMMAND == set()


def test_the_headless_assistant_loads_neither_the_model_nor_the_interface() -> None:
    assert loaded_by("import app.assistant.assistant") & NOT_FOR_A_COMMAND == set()


def test_the_interface_loads_neither_torch_nor_the_native_library() -> None:
    loaded = loaded_by(
        "import pkgutil, importlib, app.interface\n"
        "for found in pkgutil.walk_packages(app.interface.__path__, 'app.interface.'):\n"
        "    importlib.import_module(found.name)"
    )
    assert "textual" in loaded
    assert loaded & NEVER == set()


def test_the_engines_client_does_not_load_the_native_library() -> None:
    assert loaded_by("import engine.client") & NOT_FOR_A_COMMAND == set()


def test_the_trainer_never_loads_the_interface() -> None:
    loaded = loaded_by(
        "import pkgutil, importlib, trainer\n"
        "for found in pkgutil.walk_packages(trainer.__path__, 'trainer.'):\n"
        "    if not found.name.endswith('__main__'):\n"
        "        importlib.import_module(found.name)"
    )
    assert loaded & {"textual", "typer", "app", "tools"} == set()


def test_every_error_can_be_told_without_torch_or_the_native_library() -> None:
    rooms = ("app", "engine", "memory", "tools", "trainer")
    code = "import importlib, importlib.util\n" + "".join(
        f"if importlib.util.find_spec('{room}.errors'): importlib.import_module('{room}.errors')\n" for room in rooms
    )
    assert loaded_by(code) & NOT_FOR_A_COMMAND == set()


def test_asking_another_server_loads_neither_the_model_nor_a_client_of_http_nor_numbers() -> None:
    loaded = loaded_by("import engine.choice, engine.elsewhere.client")
    assert loaded & (NOT_FOR_A_COMMAND | {"httpx", "numpy", "gguf", "safetensors", "jinja2"}) == set()


def test_a_wrong_run_of_pretraining_is_told_without_torch() -> None:
    wrong = ("smoke train.sed=1", "spanish-turing hardware.precision=bfloat16", "spanish-10m model.layers=4000")
    modules = {"training": "__main__", "preflight": "preflight"}
    code = "".join(f"import trainer.pretraining.{module} as {name}\n" for name, module in modules.items())
    code += "".join(f"assert {name}.main({run.split()}) == 2\n" for name in modules for run in wrong)
    assert loaded_by(code) & NOT_FOR_A_COMMAND == set()
