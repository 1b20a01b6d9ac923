"""A model's template in Ollama's language says the same, or is left to Ollama."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from engine.elsewhere.go_template import DAYS, Turns, _rendered, find_turns, turns_of
from engine.messages import Message

TALK = [
    Message("system", "Sé breve."),
    Message("user", "¿Qué tal?"),
    Message("assistant", "Bien."),
    Message("user", "¿Y {{ tú }}?"),
]
BEGIN = "{% if add_generation_prompt %}"
CHATML = (
    "{% for m in messages %}{{'<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>' + '\n'}}{% endfor %}"
    + BEGIN
    + "{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LLAMA3 = (
    "{{ bos_token }}{% for m in messages %}"
    "{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n' + m['content'] | trim + '<|eot_id|>' }}{% endfor %}"
    + BEGIN
    + "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
GEMMA = (
    "{% if messages[0]['role'] == 'system' %}{% set first = messages[0]['content'] + '\n\n' %}"
    "{% set rest = messages[1:] %}"
    "{% else %}{% set first = '' %}{% set rest = messages %}{% endif %}{% for m in rest %}"
    "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ first if loop.first else '' }}"
    "{{ m.content }}"
    "<end_of_turn>\n{% endfor %}" + BEGIN + "<start_of_turn>model\n{% endif %}"
)
DATED = CHATML.replace("{% for", "{{ strftime_now('%d %B %Y') }}{% for", 1)
RAISING = "{{ raise_exception('only users') }}"
UPPER = CHATML.replace("m.content", "m.content | upper")
THINKING = CHATML.replace("assistant\n' }}{% endif", "assistant\n<think>\n\n</think>\n\n' }}{% endif")


def turns(source: str, bos: str = "<s>") -> Turns | None:
    return find_turns(partial(_rendered, source, {"bos_token": bos, "eos_token": "</s>"}, DAYS[0]))


def go(template: str, messages: list[Message]) -> str:
    """What Go's text/template makes of the few words that are used: range, if, else if, end."""
    loop = re.fullmatch(r"\{\{- range \.Messages \}\}(.*)\{\{ end \}\}\{\{ end \}\}(.*)", template, re.DOTALL)
    assert loop
    cases = re.findall(r'\{\{ (?:else )?if eq \.Role "(\w+)" \}\}(.*?)(?=\{\{ else if |\Z)', loop[1], re.DOTALL)
    forms = dict(cases)
    assert set(forms) == {"system", "user", "assistant"}
    return "".join(forms[m.role].replace("{{ .Content }}", m.content) for m in messages) + loop[2]


@pytest.mark.parametrize("source", [CHATML, LLAMA3, THINKING])
def test_a_template_of_turns_is_said_in_the_other_language_to_the_letter(source: str) -> None:
    found = turns(source)
    assert found is not None
    wanted = _rendered(source, {"bos_token": "<s>", "eos_token": "</s>"}, DAYS[0], TALK, True)
    assert go(found.go(), TALK) == found.render(TALK) == wanted


@pytest.mark.parametrize(
    "source", [GEMMA, RAISING, UPPER, "no messages at all", "{{ messages[99].content }}", "{% broken"]
)
def test_a_template_that_does_more_is_left_alone(source: str) -> None:
    assert turns(source) is None


def test_a_template_that_writes_the_date_is_not_the_same_on_two_days() -> None:
    first, second = (find_turns(partial(_rendered, DATED, {}, day)) for day in DAYS)
    assert first != second


def test_the_starters_template_is_chatml(starter: Path) -> None:
    found = turns_of(starter)
    assert found is not None
    assert found.system == ("<|im_start|>system\n", "<|im_end|>\n")
    assert (found.begin, found.stop) == ("<|im_start|>assistant\n", "<|im_end|>")
