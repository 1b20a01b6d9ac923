"""A model that can be served but not taught is refused before anything is computed, in words that say so."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from app.catalogue import Catalogue
from app.errors_text import explain
from configs.home import Home
from engine.catalogue import STARTER
from tests.trainer.household import events, finish, small_settings, start_run, teach
from tests.trainer.random_model import write_random_model
from trainer.errors import NotTrainable, ShapeNotTrainable, TemplateNotTrainable
from trainer.examples import Tokeniser, check_template

TRAINABLE = "llama, qwen2, qwen3, gemma3"


@pytest.mark.parametrize(
    ("architecture", "said", "refusal", "named"),
    [
        ("mamba", {}, "not_trainable", {"architecture": "mamba", "trainable": TRAINABLE}),
        (
            "qwen2",
            {"rope.scaling.type": "longrope"},
            "shape_not_trainable",
            {"what": "qwen2.rope.scaling.type", "trainable": TRAINABLE},
        ),
    ],
)
def test_a_run_on_such_a_model_ends_before_its_first_stage(
    architecture: str, said: dict[str, str], refusal: str, named: dict[str, str], home: Home
) -> None:
    settings = small_settings(home)
    teach(home, settings)
    write_random_model(home.models / f"{STARTER}.gguf", architecture, said=said)
    code, _, err = finish(start_run(home))
    told = json.loads(err)
    assert (code, told["code"]) == (1, refusal)
    assert named.items() <= told["facts"].items()
    assert [event.kind for event in events(home)] == ["run_started", "run_failed"]


@pytest.mark.parametrize(
    ("language", "words"),
    [("es", "puedo conversar con él, pero no enseñarle"), ("en", "I can talk with it, but not teach it")],
)
@pytest.mark.parametrize("kind", [NotTrainable, ShapeNotTrainable, TemplateNotTrainable])
def test_the_sentence_says_that_it_can_be_talked_with_and_what_can_be_taught(
    language: str, words: str, kind: type[NotTrainable | TemplateNotTrainable]
) -> None:
    facts = {"path": "m.gguf", "architecture": "mamba", "trainable": TRAINABLE, "what": "output.bias", "reason": "x"}
    explained = explain(kind(**facts), Catalogue(language))
    assert words in explained.what
    assert issubclass(kind, TemplateNotTrainable) or TRAINABLE in explained.next


def test_a_run_on_a_vocabulary_without_the_tokens_of_its_template_ends_before_anything_is_computed(
    starter: Path, home: Home
) -> None:
    teach(home, small_settings(home))
    model = home.models / f"{STARTER}.gguf"
    token, another = (struct.pack("<Q", 12) + text for text in (b"<|im_start|>", b"<|xx_start|>"))
    content = starter.read_bytes()
    assert content.count(token) == 1
    model.write_bytes(content.replace(token, another))
    code, _, err = finish(start_run(home))
    told = json.loads(err)
    assert (code, told["code"]) == (1, "template_not_trainable")
    assert told["facts"] == {"path": str(model), "reason": "<|im_start|> is no token"}
    assert not any(event.kind == "progress" for event in events(home))


def test_the_starters_template_can_be_taught(tokeniser: Tokeniser, starter: Path) -> None:
    check_template(tokeniser, starter)
