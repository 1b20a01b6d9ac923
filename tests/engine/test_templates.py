"""Other models' templates, as llama.cpp ships them, take a conversation with tools; nobody's text steers a model."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from engine.errors import TemplateBroken
from engine.messages import Message, PromptOptions, ToolCall
from engine.prompt import render_pair, render_prompt
from engine.template import ChatTemplate
from scripts import templates_page
from scripts.templates_page import CONVERSATION, OPTIONS, SAID, WEATHER, Row
from tests.engine.byte_vocabulary import ByteVocabulary

# Whatever looks as if it could be a token that steers a model.
STEERS = re.compile(r"<[|｜][^\s<>'\"{}]+[|｜]>|</?[a-z_:]+>|\[/?[A-Z_]+\]")
QUESTION = [Message("system", "Speak-kindly."), Message("user", "Weather-in-Soria?")]


@pytest.fixture(scope="session")
def sources(llama_models: Path) -> dict[str, str]:
    return dict(templates_page.sources())


@pytest.fixture(scope="session")
def rows(sources: dict[str, str]) -> list[Row]:
    return [templates_page.row(name, source) for name, source in sources.items()]


def test_the_page_of_templates_says_what_they_do_now(rows: list[Row]) -> None:
    assert templates_page.PAGE.read_text(encoding="utf-8") == templates_page.page(rows), "run: make pages"


def test_every_template_takes_the_whole_conversation_in_its_order_or_says_why_not(rows: list[Row]) -> None:
    assert len(rows) > 60
    turns = ("Weather-in-Soria?", "Snow-tonight", "It-will-snow.", "Thanks-a-lot")
    for row in rows:
        assert row.text or row.cells[0].startswith("refused: "), row.name
        assert row.text is None or all(said in row.text for said in SAID), row.name
        places = [row.text.index(turn) for turn in turns] if row.text else []
        assert places == sorted(places), row.name


def test_control_tokens_in_messages_calls_results_and_tools_are_plain_text_to_every_template(
    sources: dict[str, str],
) -> None:
    for name, source in sources.items():
        template = templates_page.opened(source)
        texts = sorted(set(STEERS.findall(source)))
        # Every other one is an added token, which llama.cpp reads in any text.
        vocabulary: Any = ByteVocabulary(texts[::2], texts[1::2])
        hostile = " ".join(["hostile-begins", *texts, "hostile-ends"])
        plain = render_prompt(template, vocabulary, CONVERSATION, OPTIONS).ids
        messages, options = steered(hostile)
        steering = render_prompt(template, vocabulary, messages, options).ids
        assert vocabulary.controls(steering) == vocabulary.controls(plain), name
        assert vocabulary.plain(steering).count(hostile) >= len(CONVERSATION) - 1, name


def steered(text: str) -> tuple[list[Message], PromptOptions]:
    """The conversation with ``text`` in all that somebody other than the template writes."""
    messages = [
        dataclasses.replace(
            message,
            content=f"{message.content} {text}" if message.content else "",
            tool_calls=tuple(ToolCall(call.id, call.name, {"place": text}) for call in message.tool_calls),
        )
        for message in CONVERSATION
    ]
    function = {**WEATHER["function"], "description": text}  # type: ignore[dict-item]
    return messages, PromptOptions(({"type": "function", "function": function},))


def test_a_system_text_goes_before_the_first_question_only_where_the_template_refuses_it(
    sources: dict[str, str],
) -> None:
    gemma = templates_page.opened(sources["google-gemma-2-2b-it"]).render(QUESTION, add_generation_prompt=True)
    assert gemma == "<s><start_of_turn>user\nSpeak-kindly.\n\nWeather-in-Soria?<end_of_turn>\n<start_of_turn>model\n"
    qwen = templates_page.opened(sources["Qwen-Qwen3-0.6B"]).render(QUESTION, add_generation_prompt=True)
    assert qwen == (
        "<|im_start|>system\nSpeak-kindly.<|im_end|>\n"
        "<|im_start|>user\nWeather-in-Soria?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_result_that_answers_no_call_reaches_every_model(sources: dict[str, str]) -> None:
    messages = [*QUESTION, Message("assistant", "Let me look."), Message("tool", "Snow-tonight")]
    for name, source in sources.items():
        assert "Snow-tonight" in templates_page.opened(source).render(messages, add_generation_prompt=True), name


def test_tools_are_told_in_words_where_the_template_says_nothing_of_them() -> None:
    template = ChatTemplate(
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}", now=lambda: templates_page.DAY
    )
    text = template.render(CONVERSATION, add_generation_prompt=True, options=OPTIONS)
    assert '"name": "weather"' in text
    assert '<assistant><tool_call>\n{"name": "weather", "arguments": {"place": "Soria-town"}}\n</tool_call>' in text
    assert template.render(QUESTION, add_generation_prompt=True) == "<system>Speak-kindly.<user>Weather-in-Soria?"


def test_thinking_is_switched_by_request(sources: dict[str, str]) -> None:
    qwen = templates_page.opened(sources["Qwen-Qwen3-0.6B"])
    vocabulary: Any = ByteVocabulary(["<|im_start|>", "<|im_end|>"], ["<think>", "</think>"])
    off = PromptOptions(variables={"enable_thinking": False})
    assert qwen.render(QUESTION, add_generation_prompt=True, options=off).endswith("<think>\n\n</think>\n\n")
    assert render_prompt(qwen, vocabulary, QUESTION, off).form.opened is None
    # This one opens the tag in the prompt, so that the model never writes it.
    opening = templates_page.opened(sources["Qwen3.5-4B"])
    form = render_prompt(opening, vocabulary, QUESTION).form
    assert form.opened is not None
    assert form.opened.closing == "</think>"
    assert render_prompt(opening, vocabulary, QUESTION, off).form.opened is None


def test_a_question_that_ends_with_a_tag_opens_no_thoughts() -> None:
    bare = ChatTemplate("{{ messages[-1].content }}{# </think> #}", now=lambda: templates_page.DAY)
    vocabulary: Any = ByteVocabulary([])
    prompt = render_prompt(bare, vocabulary, [Message("user", "What is <think>")])
    assert prompt.form.opened is None
    assert vocabulary.plain(prompt.ids) == "What is <think>"


def test_the_date_is_the_one_that_the_template_is_given(sources: dict[str, str]) -> None:
    for name in ("meta-llama-Llama-3.1-8B-Instruct", "meta-llama-Llama-3.2-3B-Instruct"):
        assert "Today Date: 29 Nov 2026" in templates_page.opened(sources[name]).render(
            QUESTION, add_generation_prompt=True
        )


def test_identifiers_fit_where_the_template_wants_them_short(sources: dict[str, str]) -> None:
    call = ToolCall("call_0123456789abcdef", "weather", {"place": "Soria"})
    messages = [*QUESTION, Message("assistant", "", (call,)), Message("tool", "Snow", tool_call_id=call.id)]
    text = templates_page.opened(sources["mistralai-Mistral-Nemo-Instruct-2407"]).render(
        messages, add_generation_prompt=True, options=OPTIONS
    )
    identifiers = re.findall(r'"(?:call_)?id": "([^"]*)"', text)
    assert len(identifiers) == 2
    assert len(set(identifiers)) == 1
    assert re.fullmatch(r"[a-zA-Z0-9]{9}", identifiers[0])


# After the prompts of the first three comes a thought, whether one wants it or not; the last one ends everything alike.
NOT_TO_BE_TRAINED = {"Cohere2MoE", "deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "llama-cpp-deepseek-r1", "Kimi-K3"}


def test_a_pair_to_train_on_is_a_prompt_that_the_answer_itself_follows(sources: dict[str, str]) -> None:
    for name, source in sources.items():
        template = templates_page.opened(source)
        whole = template.render([*QUESTION, Message("assistant", "It-will-snow.")], add_generation_prompt=False)
        end = STEERS.search(whole.rpartition("It-will-snow.")[2])
        if end is None or name in NOT_TO_BE_TRAINED:
            continue
        vocabulary: Any = ByteVocabulary([end[0]], [], [end[0]])
        prompt, answer = render_pair(template, vocabulary, QUESTION, "It-will-snow.")
        said = STEERS.sub(" ", vocabulary.plain(answer)).split()
        assert said[-1:] == ["It-will-snow."], name
        # Some of them write first to whom, or in which part, this is said.
        assert len(said) <= 2, name
        assert "Weather-in-Soria?" in vocabulary.plain(prompt), name


def test_an_answer_that_would_be_a_thought_is_not_trained(sources: dict[str, str]) -> None:
    template = templates_page.opened(sources["deepseek-ai-DeepSeek-R1-Distill-Llama-8B"])
    with pytest.raises(TemplateBroken):
        render_pair(template, ByteVocabulary([], [], []), QUESTION, "It-will-snow.")  # type: ignore[arg-type]


def test_the_control_tokens_that_tags_are_made_of_are_spelled_out_and_no_others(sources: dict[str, str]) -> None:
    ministral = templates_page.opened(sources["mistralai-Ministral-3-14B-Reasoning-2512"])
    vocabulary: Any = ByteVocabulary(["[INST]", "[/INST]", "[THINK]", "[/THINK]", "[TOOL_CALLS]", "[ARGS]"])
    alone = render_prompt(ministral, vocabulary, QUESTION).form.spelled
    assert set(alone.values()) == {b"[THINK]", b"[/THINK]"}
    offered = render_prompt(ministral, vocabulary, QUESTION, OPTIONS).form.spelled
    assert set(offered.values()) == {b"[THINK]", b"[/THINK]", b"[TOOL_CALLS]", b"[ARGS]"}
    assert all(vocabulary.tokenize(text.decode(), special=True) == [token] for token, text in offered.items())
