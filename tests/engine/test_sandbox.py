"""A template is anybody's program: it reaches no Python, does not hang and does not fill the memory."""

from __future__ import annotations

import resource
import time

import pytest

from engine.errors import TemplateBroken
from engine.messages import Message
from engine.template import ChatTemplate
from tests.engine.conftest import DAY

GROWN = "{% set ns = namespace(x=START, y='ab') %}{% for i in range(60) %}{% set ns.x = GROW %}{% endfor %}"
DOUBLED = GROWN.replace("START", "'ab'").replace("GROW", "DOUBLE") + "{{ ns.x }}"
NESTED = GROWN.replace("START", "[1]").replace("GROW", "[ns.x, ns.x]")
HOSTILE = {
    "python objects": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "the sandbox itself": "{{ self._TemplateReference__context.environment }}",
    "a change of what it was given": "{{ messages.append(1) }}",
    "another file": "{% include '/etc/passwd' %}",
    "loops in loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "an endless macro": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a branching macro": "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "a recursive loop": "{% for a in [1,2] recursive %}{{ loop([1,2]) }}{% endfor %}",
    "much of its own text": "{% for a in range(99999) %}" + "x" * 9999 + "{% endfor %}",
    "a wide text": "{{ 'x'.ljust(10**12) }}",
    "a wide filter": "{{ 'x' | center(10**12) }}",
    "a wide indentation": "{{ 'x\ny' | indent(10**12) }}",
    "wide JSON": "{{ [1] | tojson(indent=10**12) }}",
    "a wide format": "{{ '{:>999999999999}'.format(1) }}",
    "a wide percent": "{{ '%999999999999d' % 1 }}",
    "text times a number": "{{ 'x' * 10**12 }}",
    "a number times text": "{{ 10**12 * 'x' }}",
    "a list times a number": "{{ ([1] * 10**12) | length }}",
    "a huge number": "{{ 9 ** 999999 }}",
    "a huge product": GROWN.replace("START", "99999").replace("GROW", "ns.x * ns.x"),
    "doubling by joining": DOUBLED.replace("DOUBLE", "ns.x ~ ns.x"),
    "doubling by adding": DOUBLED.replace("DOUBLE", "ns.x + ns.x"),
    "doubling by replacing": DOUBLED.replace("DOUBLE", "ns.x.replace('ab', 'abab')"),
    "doubling by a filter": DOUBLED.replace("DOUBLE", "ns.x | replace('ab', 'abab')"),
    "doubling by a join": DOUBLED.replace("DOUBLE", "[ns.x, ns.x] | join"),
    "doubling by a method": DOUBLED.replace("DOUBLE", "''.join([ns.x, ns.x])"),
    "doubling by a format": DOUBLED.replace("DOUBLE", "'{}{}'.format(ns.x, ns.x)"),
    "doubling by a percent": DOUBLED.replace("DOUBLE", "'%s%s' % (ns.x, ns.x)"),
    "doubling by a block": DOUBLED.replace(
        "DOUBLE %}", "'' %}{% set x %}{{ ns.y }}{{ ns.y }}{% endset %}{% set ns.y = x %}"
    ),
    "doubling a list": GROWN.replace("START", "[1]").replace("GROW", "ns.x + ns.x"),
    "a nest printed": NESTED + "{{ ns.x }}",
    "a nest as JSON": NESTED + "{{ ns.x | tojson }}",
    "a nest as text": NESTED + "{{ ns.x | string | length }}",
    "a nest joined": NESTED + "{{ (ns.x ~ 'x') | length }}",
    "two nests compared": NESTED + NESTED.replace("ns", "other") + "{{ ns.x == other.x }}",
    "a nest in a nest": NESTED + NESTED.replace("ns", "other") + "{{ other.x in [ns.x] }}",
    "a nest in a format": NESTED + "{{ '{}'.format(ns.x) | length }}",
    "a nest in a percent": NESTED + "{{ ('%s' % ns.x) | length }}",
    "a nest sorted": NESTED + NESTED.replace("ns", "other") + "{{ [ns.x, other.x] | sort }}",
    "a nest as a key": NESTED + "{{ {ns.x | string: 1} }}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_template_is_refused_at_once_and_takes_no_memory(name: str) -> None:
    begun, taken = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TemplateBroken) as refused:
        ChatTemplate(HOSTILE[name], now=lambda: DAY).render([Message("user", "x")], add_generation_prompt=True)
    assert refused.value.facts["reason"]
    assert time.process_time() - begun < 20  # without a limit it is for ever
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - taken < 400_000  # kB


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in messages %}" * 30 + "{% endfor %}" * 30,
        "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
        "{{ " + "-" * 5000 + "1 }}",
        "{% if x %}" * 5000,
        "{{ 1 }}" * 100_000,
        "{% macro m() %}" * 100 + "{% endmacro %}" * 100,
        "\x00{% %}",
        "{{ '\\x' }}",
    ],
)
def test_a_template_that_is_no_program_is_refused_at_once(source: str) -> None:
    begun = time.process_time()
    with pytest.raises(TemplateBroken) as refused:
        ChatTemplate(source, now=lambda: DAY).render([Message("user", "x")], add_generation_prompt=True)
    assert refused.value.facts["reason"]
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception.__globals__ }}",
        "{{ '{0.__class__}'.format(messages) }}",
        "{{ messages | attr('__class__') }}",
    ],
)
def test_a_template_that_asks_for_python_s_own_gets_nothing(source: str) -> None:
    assert ChatTemplate(source, now=lambda: DAY).render([Message("user", "x")], add_generation_prompt=True) == ""


def test_a_long_honest_conversation_is_within_the_limits() -> None:
    source = (
        "{% for m in messages %}{% for n in messages[-9:] %}{% endfor %}"
        "<|{{ m.role }}|>{{ m.content | trim }}{{ '\n' }}{% endfor %}"
    )
    messages = [Message("user", "word " * 200)] * 4000
    text = ChatTemplate(source, now=lambda: DAY).render(messages, add_generation_prompt=True)
    assert text.count("<|user|>") == 4000


def test_a_paste_of_the_largest_request_is_within_the_limits() -> None:
    source = "{% for m in messages %}{{ '<|u|>' + m['content'] + '\n' }}{% endfor %}"
    text = ChatTemplate(source, now=lambda: DAY).render([Message("user", "x" * (8 << 20))], add_generation_prompt=True)
    assert len(text) > 8 << 20


def test_a_part_that_is_marked_as_the_assistant_s_is_read_like_any_other() -> None:
    source = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}"
    text = ChatTemplate(source, now=lambda: DAY).render([Message("user", "hola")], add_generation_prompt=True)
    assert text == "hola"


def test_what_one_rendering_spent_is_not_counted_against_the_next() -> None:
    template = ChatTemplate("{% for i in range(90000) %}x{% endfor %}", now=lambda: DAY)
    for _ in range(30):
        assert len(template.render([Message("user", "x")], add_generation_prompt=True)) == 90000
