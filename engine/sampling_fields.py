"""Reading the fields of a request that say how its answer is to be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from configs.sections.engine import EngineSettings
from configs.sections.grammars import GrammarSettings
from engine.answers import BANNED, Sampling
from engine.errors import RequestWrong

MOST_STOPS = 16
MOST_BIASES = 1024
MOST_TOP_LOGPROBS = 20
LARGEST_SEED = 2**32 - 1
LARGEST_BIAS = -BANNED
# Below this top_p and repeat_penalty are no numbers any more for llama.cpp.
SMALLEST_POSITIVE = 1e-4
# Field: (least, most, whole numbers only). The names and the bounds of the penalties are OpenAI's.
NUMBERS = {
    "temperature": (0, 5, False),
    "top_k": (0, 1 << 20, True),
    "top_p": (SMALLEST_POSITIVE, 1, False),
    "min_p": (0, 1, False),
    "repeat_penalty": (SMALLEST_POSITIVE, 5, False),
    "repeat_window": (0, 1 << 20, True),
    "frequency_penalty": (-2, 2, False),
    "presence_penalty": (-2, 2, False),
    "max_tokens": (1, 1 << 20, True),
    "seed": (0, LARGEST_SEED, True),
    "top_logprobs": (0, MOST_TOP_LOGPROBS, True),
}
# Of these a request may give one.
FORMS = ("grammar", "json_schema", "response_format", "tool_choice")
SAMPLING_FIELDS = (*NUMBERS, *FORMS, "max_completion_tokens", "stop", "logit_bias", "logprobs", "n")


def read_sampling(given: Mapping[str, Any], settings: EngineSettings) -> Sampling:
    """How the answer to the request ``given`` is to be written. Raises RequestWrong naming the field."""
    if (limit := given.get("max_completion_tokens")) is not None:
        if given.get("max_tokens") not in (None, limit):
            raise RequestWrong(field="max_completion_tokens", reason="another limit than max_tokens")
        given = {**given, "max_tokens": limit}
    values = {name: read_number(given[name], name) for name in NUMBERS if given.get(name) is not None}
    logprobs = given.get("logprobs")
    if logprobs is not None and not isinstance(logprobs, bool):
        raise RequestWrong(field="logprobs", reason="must be true or false")
    if values.get("top_logprobs") and not logprobs:
        raise RequestWrong(field="top_logprobs", reason="needs logprobs to be true")
    if given.get("n") not in (None, 1):
        raise RequestWrong(field="n", reason="one answer is written to a request")
    return replace(
        Sampling.defaults(settings.sampling),
        stop=_stops(given.get("stop")),
        logit_bias=_logit_bias(given.get("logit_bias")),
        grammar=_grammar(given, settings.grammar),
        logprobs=bool(logprobs),
        **values,
    )


def read_number(value: Any, name: str) -> Any:
    """``value`` as the number that the field ``name`` takes. Raises RequestWrong."""
    least, most, whole = NUMBERS[name]
    kind = int if whole else (int, float)
    if not isinstance(value, kind) or isinstance(value, bool) or not least <= value <= most:
        form = "a whole number" if whole else "a number"
        raise RequestWrong(field=name, reason=f"{form} from {least} to {most} is needed")
    return value


def _stops(stop: Any) -> tuple[str, ...]:
    stops = [stop] if isinstance(stop, str) else stop or []
    if not isinstance(stops, list) or len(stops) > MOST_STOPS or not all(isinstance(s, str) and s for s in stops):
        raise RequestWrong(field="stop", reason=f"a text, or at most {MOST_STOPS} texts that are not empty")
    return tuple(stops)


def _logit_bias(given: Any) -> dict[int, float]:
    """OpenAI's form: an object of token ids, which JSON writes as texts, and numbers from -100 to 100."""
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > MOST_BIASES:
        raise RequestWrong(field="logit_bias", reason=f"an object of at most {MOST_BIASES} token ids is needed")
    biases: dict[int, float] = {}
    for token, bias in given.items():
        name = f"logit_bias.{token}"
        if not token.isdecimal() or not token.isascii() or len(token) > len(str(1 << 31)):
            raise RequestWrong(field=name, reason="not the id of a token")
        if not isinstance(bias, int | float) or isinstance(bias, bool) or not abs(bias) <= LARGEST_BIAS:
            raise RequestWrong(field=name, reason=f"a number from {BANNED} to {LARGEST_BIAS} is needed")
        biases[int(token)] = float(bias)
    return biases


def _grammar(given: Mapping[str, Any], limits: GrammarSettings) -> str | None:
    """What the answer has to keep to, as GBNF; None where the request does not say."""
    if all(given.get(name) is None for name in FORMS):
        return None
    # Most questions ask for none, and an engine starts sooner without these.
    from engine.form_fields import read_grammar

    return read_grammar(given, limits)
