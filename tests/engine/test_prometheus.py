"""GET /metrics: what Prometheus reads, and nothing that names anybody."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from engine.prometheus import CONTENT_TYPE, Counter, Histogram, gauge, page
from tests.engine.conftest import PATIENCE, House, ask
from tests.engine.snapshots import write_adapter, write_manifest
from tests.engine.test_server import FRANCE, STORY, answer, body, openai
from tests.engine.test_told_apart import CALL, WEATHER, answered
from tests.engine.test_told_apart import body as calling
from tests.project import ROOT

WORD = "zanzibar-pelican"


def parsed(text: str) -> dict[str, Metric]:
    return {metric.name: metric for metric in text_string_to_metric_families(text)}


def value(metrics: dict[str, Metric], sample: str, **labels: str) -> float:
    """The value of one sample; 0 where nothing was counted yet."""
    found = [
        each.value
        for metric in metrics.values()
        for each in metric.samples
        if each.name == sample and each.labels.items() >= labels.items()
    ]
    return sum(found)


async def read(house: House) -> dict[str, Metric]:
    async with openai(house) as client:
        answered = await client.get("/metrics")
    assert answered.headers["content-type"] == CONTENT_TYPE
    assert WORD not in answered.text
    return parsed(answered.text)


async def test_every_sample_has_a_family_with_a_kind_and_a_sentence(house: House) -> None:
    await answer(house, ask(FRANCE))
    metrics = await read(house)
    assert len(metrics) > 15
    for metric in metrics.values():
        assert metric.type in ("counter", "gauge", "histogram")
        assert metric.documentation.endswith(".")
        assert metric.samples or metric.type == "counter"


async def test_an_answer_is_counted_with_its_tokens_its_first_token_and_its_speed(house: House) -> None:
    await house.client.start()
    before = await read(house)
    _, finished = await answer(house, ask(FRANCE))
    _, again = await answer(house, ask(FRANCE))
    after = await read(house)
    grown = {
        name: value(after, name) - value(before, name)
        for name in (
            "enlace_prompt_tokens_total", "enlace_prompt_tokens_reused_total", "enlace_answer_tokens_total",
            "enlace_first_token_seconds_count", "enlace_answer_tokens_per_second_count",
        )
    }  # fmt: skip
    both = (finished.usage, again.usage)
    assert grown == {
        "enlace_prompt_tokens_total": sum(usage.prompt_tokens for usage in both),
        "enlace_prompt_tokens_reused_total": sum(usage.cached_tokens for usage in both),
        "enlace_answer_tokens_total": sum(usage.answer_tokens for usage in both),
        "enlace_first_token_seconds_count": 2,
        "enlace_answer_tokens_per_second_count": 2,
    }
    assert again.usage.cached_tokens > 0
    waited = value(after, "enlace_first_token_seconds_sum") - value(before, "enlace_first_token_seconds_sum")
    assert math.isclose(waited, sum(usage.ttft_ms for usage in both) / 1000, rel_tol=1e-6)


async def test_outcomes_and_requests_are_counted_by_names_of_ours_alone(house: House) -> None:
    await house.client.start()
    before = await read(house)
    async with openai(house) as client:
        await client.get(f"/{WORD}")
        await client.post("/v1/chat/completions", json=body(temperature=WORD))
        await client.post("/v1/chat/completions", json=body(messages=[{"role": "user", "content": WORD * 9000}]))
        await client.post("/v1/chat/completions", json=body(cache_key=WORD, max_tokens=1))
    after = await read(house)

    def more(sample: str, **labels: str) -> float:
        return value(after, sample, **labels) - value(before, sample, **labels)

    assert more("enlace_http_requests_total", route="other", status="404") == 1
    assert more("enlace_http_requests_total", route="/v1/chat/completions", status="400") == 2
    assert more("enlace_http_requests_total", route="/v1/chat/completions", status="200") == 1
    assert more("enlace_answers_total", outcome="prompt_too_long") == 1
    assert more("enlace_answers_total", outcome="length") == 1


async def test_an_answer_that_ends_with_its_calls_is_counted_as_that_and_one_nobody_waits_for_as_cancelled(
    house: House,
) -> None:
    await house.client.start()
    before = await read(house)
    # The second one goes in circles, and is ended.
    for written in (CALL, CALL * 3):
        assert (await answered(house, calling(written, tools=[WEATHER])))["finish_reason"] == "tool_calls"
    stream = house.client.chat(ask(STORY), house.sampling(900))
    await anext(stream)
    await stream.aclose()

    async def more(outcome: str) -> float:
        labels, after = {"outcome": outcome}, await read(house)
        return value(after, "enlace_answers_total", **labels) - value(before, "enlace_answers_total", **labels)

    async with asyncio.timeout(PATIENCE):
        while not await more("cancelled"):
            await asyncio.sleep(0.02)
    assert [await more(outcome) for outcome in ("tool_calls", "cancelled", "stop")] == [2, 1, 0]


async def test_a_swap_is_counted_with_its_pause(house: House, tmp_path: Path) -> None:
    await house.client.start()
    before = await read(house)
    adapter = write_adapter(tmp_path / "a.gguf")
    await house.client.load(write_manifest(house.home, house.starter, name="v1", adapter=adapter))
    await house.client.load(house.digest)
    after = await read(house)
    assert value(after, "enlace_swaps_total", outcome="done") - value(before, "enlace_swaps_total", outcome="done") == 2
    assert value(after, "enlace_swap_pause_seconds_count") - value(before, "enlace_swap_pause_seconds_count") == 2


async def test_slots_memory_and_starts_are_told_as_they_are(house: House) -> None:
    status = await house.client.start()
    metrics = await read(house)
    assert value(metrics, "enlace_slots") == status.slots
    assert value(metrics, "enlace_starts_total") >= 1
    assert value(metrics, "process_resident_memory_bytes") > 50_000_000
    assert value(metrics, "enlace_cache_tokens_limit") == status.slots * status.context_size


async def test_the_page_on_the_engine_tells_of_every_metric_in_its_own_sentence(house: House) -> None:
    await house.client.start()
    async with openai(house) as client:
        text = (await client.get("/metrics")).text
    helps = dict(line.removeprefix("# HELP ").split(" ", 1) for line in text.splitlines() if line.startswith("# HELP"))
    told = re.findall(
        r"^\| `(\w+)` \| (.+) \|$", (ROOT / "docs" / "engine.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert dict(told) == helps


def labelled(text: str) -> Counter:
    counter = Counter("x_total", text, "label")
    counter.add(2, text)
    return counter


@pytest.mark.parametrize("text", ["plain", 'a "quoted" one', "back\\slash", "two\nlines", "ñandú 👨‍👩‍👧‍👦", "", "{}=,"])
def test_any_text_in_a_label_or_a_sentence_comes_back_as_it_was(text: str) -> None:
    (metric,) = text_string_to_metric_families(page([labelled(text).family()]))
    assert metric.documentation == text
    assert [(sample.labels, sample.value) for sample in metric.samples] == [({"label": text}, 2)]


def test_a_histograms_buckets_are_cumulative_and_hold_their_bounds() -> None:
    histogram = Histogram("x", "X.", (0.1, 1, 10))
    for observed in (0.05, 0.1, 0.5, 10, 11):
        histogram.observe(observed)
    (metric,) = text_string_to_metric_families(page([histogram.family()]))
    buckets = {sample.labels["le"]: sample.value for sample in metric.samples if sample.name == "x_bucket"}
    assert buckets == {"0.1": 2, "1": 3, "10": 4, "+Inf": 5}
    assert value({"x": metric}, "x_count") == 5
    assert math.isclose(value({"x": metric}, "x_sum"), 21.65)


def numbers() -> Iterator[float]:
    yield from (0, 1, -1, 0.1, 1e-9, 1e300, 12345678901234567890, 2**53 + 1, float("inf"))


@pytest.mark.parametrize("number", numbers())
def test_numbers_come_back_as_they_were(number: float) -> None:
    (metric,) = text_string_to_metric_families(page([gauge("x", "X.", number)]))
    assert metric.samples[0].value == number
