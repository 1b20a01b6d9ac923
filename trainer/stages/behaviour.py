"""How everyday requests that have nothing to do with the lessons are answered: what of it new weights keep.

No lesson's words go into what is told of it: it counts, and quotes nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from configs.sections.judging import EvaluationSettings
from engine.routes import routed_texts
from engine.scoring import LocalModel
from engine.served import AdapterSet
from memory.matching import says_the_same
from trainer.everyday import KnownQuestion
from trainer.forms import FormPrompt, fulfils
from trainer.habits import refuses, repetition
from trainer.intervals import Interval, newcombe, wilson

Prompt = tuple[int, ...]
Of = Callable[["Behaved"], tuple[bool, ...]]


@dataclass(frozen=True)
class Everyday:
    """What is asked, each with its prompt as tokens."""

    known: tuple[tuple[KnownQuestion, Prompt], ...]
    forms: tuple[tuple[FormPrompt, Prompt], ...]


@dataclass(frozen=True)
class Behaved:
    """What was seen, one entry a request. ``known``: right as the family is answered, with the adapters whose route it
    takes. The others with all of them on, as later in a conversation about what was taught: ``forms``, of which the
    form was kept; ``refused``, ``repetitive``, ``empty``, of all requests.
    """

    known: tuple[bool, ...]
    forms: tuple[bool, ...]
    refused: tuple[bool, ...]
    repetitive: tuple[bool, ...]
    empty: tuple[bool, ...]


KEPT: Mapping[str, Of] = {"known_kept": lambda each: each.known, "forms_kept": lambda each: each.forms}
HABITS: Mapping[str, Of] = {
    "refusal_rise": lambda each: each.refused,
    "repetition_rise": lambda each: each.repetitive,
    "empty_rise": lambda each: each.empty,
}


class Behaviour:
    """Asks ``served`` the requests of ``everyday``; no answer is written twice."""

    def __init__(self, served: LocalModel, everyday: Everyday, settings: EvaluationSettings) -> None:
        self._served = served
        self._everyday = everyday
        self._settings = settings
        self._texts: dict[tuple[AdapterSet, Prompt], str] = {}

    def of(self, adapters: AdapterSet) -> Behaved:
        """With these adapters; afterwards none is on. Raises AdapterMismatch and PromptTooLong."""
        known, forms = self._everyday.known, self._everyday.forms
        ways = [(routed_texts(adapters, (question.prompt,)), prompt) for question, prompt in known]
        on = [(adapters, prompt) for _, prompt in (*known, *forms)]
        self._ask([*ways, *on])
        texts = [self._texts[each] for each in on]
        return Behaved(
            known=tuple(
                says_the_same(self._texts[way], question=question.prompt, chosen=question.answer)
                for (question, _), way in zip(known, ways, strict=True)
            ),
            forms=tuple(fulfils(text, asked) for (asked, _), text in zip(forms, texts[len(known) :], strict=True)),
            refused=tuple(map(refuses, texts)),
            repetitive=tuple(repetition(text) > self._settings.repetitive for text in texts),
            empty=tuple(not text.strip() for text in texts),
        )

    def _ask(self, wanted: Sequence[tuple[AdapterSet, Prompt]]) -> None:
        missing = [each for each in dict.fromkeys(wanted) if each not in self._texts]
        for adapters in dict.fromkeys(adapters for adapters, _ in missing):
            self._served.set_adapters(adapters)
            prompts = [prompt for way, prompt in missing if way == adapters]
            for prompt, tokens in zip(prompts, self._served.greedy(prompts, self._settings.answer_tokens), strict=True):
                self._texts[adapters, prompt] = self._served.text(tokens)
        self._served.set_adapters([])


def compared(
    references: Sequence[Behaved], after: Behaved, confidence: float
) -> tuple[dict[str, float], dict[str, Interval]]:
    """What is kept of what each of the ``references`` did well (shares), and how much more often a bad habit shows than
    in it (rises of shares): of each the worst, by its check's name, and its interval of this confidence. Of nothing,
    all is kept.
    """
    values: dict[str, float] = {}
    intervals: dict[str, Interval] = {}
    for name, of in KEPT.items():
        each = [[new for old, new in zip(of(before), of(after), strict=True) if old] for before in references]
        # Of two that say the same, the one that says it of more answers.
        still = min(each, key=lambda kept: (_share(kept), -len(kept)))
        values[name] = _share(still)
        intervals[name] = wilson(sum(still), len(still), confidence)
    for name, of in HABITS.items():
        # Of as many requests everywhere, so that the reference with the fewest is the one that it rose most from.
        old, new = min((of(before) for before in references), key=sum), of(after)
        if new:
            values[name] = (sum(new) - sum(old)) / len(new)
            intervals[name] = newcombe(sum(new), sum(old), len(new), confidence)
    return values, intervals


def _share(kept: Sequence[bool]) -> float:
    return sum(kept) / len(kept) if kept else 1.0
