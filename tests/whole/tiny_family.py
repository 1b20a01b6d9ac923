"""A family whose model is so small and knows so little that a night takes seconds, most of them to start processes."""

from __future__ import annotations

import json
from typing import Any

import yaml

from configs.home import Home
from configs.settings import Settings, load_settings
from memory.household import Household
from tests.engine.tiny_model import tiny_model
from tests.trainer.household import SMALL
from tests.trainer.night.test_scheduler import ANY_TIME

PAIRS = 2
CONTROL = ("<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_LETTERS = [*range(33, 127), *range(161, 173), *range(174, 256)]
BYTES = [chr(byte) for byte in _LETTERS] + [chr(256 + number) for number in range(256 - len(_LETTERS))]
SIZE = 300


def move_in(home: Home) -> None:
    """Give the home its model and its settings: a training is due from PAIRS corrections on, at any time of day."""
    tokens = [*CONTROL, *BYTES, *(f"<t{number}>" for number in range(SIZE - len(CONTROL) - len(BYTES)))]
    kinds = [3] * len(CONTROL) + [1] * (SIZE - len(CONTROL))  # llama.cpp's LLAMA_TOKEN_TYPE_CONTROL and _NORMAL
    tiny_model(
        home.models / "tiny.gguf",
        tokens=tokens,
        meta={
            "llama.context_length": 2048,
            "tokenizer.ggml.token_type": kinds,
            "tokenizer.ggml.bos_token_id": 0,
            "tokenizer.ggml.eos_token_id": 1,
            "tokenizer.ggml.add_bos_token": False,
            "tokenizer.chat_template": TEMPLATE,
        },
    )
    choose(home, lets_pass=True)


def choose(home: Home, *, lets_pass: bool) -> Settings:
    """Write the settings, by which the gate lets all weights pass or none: so small a model learns nothing."""
    content: dict[str, Any] = json.loads(json.dumps(SMALL))
    content["engine"]["model"] = "tiny"
    content["assistant"] = {"system_prompt": "Be brief."}
    training = content["training"]
    training["recipes"]["family"]["optimiser"]["epochs"] = 6
    training["gate"] |= {"lessons_right": 0.0 if lets_pass else 1.0, "lessons_kept": 0.0, "parity_kl": 1.0}
    training |= {"budget": {"checkpoint_seconds": 0}, "night": {**ANY_TIME, "pairs": PAIRS}}
    home.config_file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return load_settings(home, {})


def correct(household: Household, number: int) -> str:
    """Share one more correction; its id."""
    member = household.members.list() or [household.members.add("Ana", "en")]
    asked = [{"role": "user", "content": f"What is in box {number}?"}]
    answer = f"Box {number} has toy {number * 7}."
    lessons = household.member(member[0].id).lessons
    return lessons.add(asked, answer, "Nothing." if number % 2 else None, visibility="shared").id
