"""What of memory is put before the model, in which forms one after the other, and what its answer must say then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from app.assistant.events import Recalled
from app.assistant.grounding import Grounding, by_fact, by_lesson
from app.assistant.prompting import Material
from app.catalogue import Catalogue
from configs.sections.assistant import AssistantSettings, Form


@dataclass(frozen=True)
class Reminding:
    """``first``: what the model is asked with. ``used``: what the answer rests on, as people are told and ``meta`` has.

    Where something is ``grounded`` the answer must say it: ``attempts`` are made, and then ``own_words`` are the
    answer; ``whole``: they are a whole answer, which ends where the model has said them.
    """

    first: Material
    used: Recalled | None
    meta: dict[str, Any]
    attempts: tuple[tuple[Form, Material], ...] = ()
    grounded: Grounding | None = None
    own_words: str = ""
    whole: bool = False


def remind(
    material: Material, recalled: Recalled | None, fact_score: float, settings: AssistantSettings, catalogue: Catalogue
) -> Reminding:
    """What ``recalled`` comes to. ``fact_score``: likeness of the best fact and the question.

    A lesson that the weights have been seen to know leaves the prompt, and is put there where they do not say it.
    """
    best = recalled.lessons[: settings.lessons_before_model] if recalled else ()
    facts = recalled.facts if recalled else ()
    sure = bool(best) and best[0].score >= settings.sure_score
    shown = tuple(entry for entry in best if not entry.learned)
    counted = best if sure else shown
    full = replace(material, lessons=tuple(entry.lesson for entry in best), facts=facts)
    first = replace(full, lessons=tuple(entry.lesson for entry in shown))
    reminding = Reminding(
        first,
        Recalled(counted, facts) if counted or facts else None,
        {"lessons": [entry.lesson.id for entry in counted], "facts": [fact.id for fact in facts]},
    )
    attempts = tuple((form, full) for form in settings.recalled_forms)
    if sure:
        lesson = best[0].lesson
        grounding = by_lesson(lesson, material.question, settings.grounded_share)
        if best[0].learned:
            attempts = ((settings.recalled_forms[0], first), *attempts)
        return replace(reminding, attempts=attempts, grounded=grounding, own_words=lesson.chosen, whole=True)
    if not best and facts and fact_score >= settings.sure_score:
        quoted = catalogue.text("assistant.you_said", fact=facts[0].text)
        grounding = by_fact(facts[0], material.question, settings.grounded_share)
        return replace(reminding, attempts=attempts, grounded=grounding, own_words=quoted)
    return reminding
