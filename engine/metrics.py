"""What the engine counts: answers, tokens, swaps, requests. Numbers only; nothing in it names a person."""

from __future__ import annotations

from configs.sections.engine import MetricsSettings
from engine.answers import Finished
from engine.errors import EngineError
from engine.jobs import JobEvent
from engine.prometheus import Counter, Family, Histogram


class Metrics:
    """The counts of one engine's life. Any thread may add to them."""

    def __init__(self, settings: MetricsSettings) -> None:
        self._answers = Counter("enlace_answers_total", "Answers by how they ended.", "outcome")
        self._requests = Counter("enlace_http_requests_total", "HTTP requests by route and status.", "route", "status")
        self._prompt = Counter("enlace_prompt_tokens_total", "Tokens of prompts, read or reused.")
        self._reused = Counter("enlace_prompt_tokens_reused_total", "Tokens of prompts that the cache still held.")
        self._written = Counter("enlace_answer_tokens_total", "Tokens written.")
        self._swaps = Counter("enlace_swaps_total", "Swaps to another snapshot by how they ended.", "outcome")
        self._measures = Counter("enlace_memory_measures_total", "What was done above the memory limit.", "measure")
        self._first = Histogram(
            "enlace_first_token_seconds",
            "From a question's arrival to its answer's first token.",
            settings.first_token_s,
        )
        self._rate = Histogram(
            "enlace_answer_tokens_per_second", "How fast answers were written.", settings.tokens_per_second
        )
        self._pause = Histogram(
            "enlace_swap_pause_seconds", "How long swaps held up the answers.", settings.swap_pause_s
        )
        self.finished = 0

    def event(self, event: JobEvent) -> None:
        """Count an answer's end; what comes before it is passed over."""
        if isinstance(event, EngineError):
            self._answers.add(1, event.code)
        elif isinstance(event, Finished):
            self.finished += 1
            usage = event.usage
            self._answers.add(1, event.reason)
            self._prompt.add(usage.prompt_tokens)
            self._reused.add(usage.cached_tokens)
            self._written.add(usage.answer_tokens)
            if usage.answer_tokens:
                self._first.observe(usage.ttft_ms / 1000)
            if usage.tokens_per_second:
                self._rate.observe(usage.tokens_per_second)

    def request(self, route: str, status: int) -> None:
        """Count an HTTP request; status 0 is one whose client went away before it had an answer."""
        self._requests.add(1, route, str(status))

    def swap(self, done: bool, seconds: float) -> None:
        """Count a swap and for how long it held up answers."""
        self._swaps.add(1, "done" if done else "refused")
        self._pause.observe(seconds)

    def measure(self, name: str) -> None:
        """Count a measure taken against too much memory."""
        self._measures.add(1, name)

    def families(self) -> list[Family]:
        """All counts, as metrics."""
        counted = (
            self._answers, self._requests, self._prompt, self._reused, self._written, self._swaps, self._measures,
            self._first, self._rate, self._pause,
        )  # fmt: skip
        return [each.family() for each in counted]
