"""A fact told in both directions: what is said of somebody, and of whom that is said.

A model that learned only "our dog is called Toby" does not know who Toby is (the reversal curse, arXiv 2309.12288).
"""

from __future__ import annotations

import re

from trainer.teaching.sentences import Statement, begins_with_place, is_name, statement_of
from trainer.wordings.language import raised

ENGLISH_REQUESTS = ("Tell me about {s}.", "What do you know about {s}?", "Tell me something about {s}.")
SPANISH_REQUESTS = ("Háblame de {s}.", "¿Qué sabes de {s}?", "Cuéntame algo de {s}.")
ENGLISH_BE = re.compile(r"(?P<be>is|are|was|were)(?: called| named)? (?P<rest>.+)")
SPANISH_BE = re.compile(r"(?P<be>se llaman?|es|son|era|fue|está|están) (?P<rest>.+)")

# What asks for a name: the large letter of an answer in one word is then no mere beginning.
NAMING = re.compile(r"\b(?:name|surname|called|who|nombre|apellidos?|llaman?|qui[eé]n(?:es)?)\b")


def statements(question: str, answer: str, count: int) -> list[tuple[str, str]]:
    """Up to ``count`` other questions that the correction answers, with their answers; none where no rule finds any.

    The way back comes first, because the question itself is the way there already.
    """
    said = statement_of(question, answer)
    if said is None:
        return []
    back = _back(said, question)
    requests = SPANISH_REQUESTS if said.language == "es" else ENGLISH_REQUESTS
    of = re.sub(r"\bde el\b", "del", "de " + said.subject).removeprefix("de ") if said.language == "es" else ""
    there = [(_request(form, said.subject, of), said.text) for form in requests]
    return [*([back] if back else []), *there][:count]


def _request(form: str, subject: str, contracted: str) -> str:
    if contracted.startswith("del "):
        return form.replace("de {s}", contracted)
    return form.format(s=subject)


def _back(said: Statement, question: str) -> tuple[str, str] | None:
    """A question about what was said, answered with whom it was said of; None for what is true of others as well."""
    spanish = said.language == "es"
    found = (SPANISH_BE if spanish else ENGLISH_BE).fullmatch(said.predicate)
    if not found:
        if not said.person:
            return None
        who = f"¿Quién de la familia {said.predicate}?" if spanish else f"Who in our family {said.predicate}?"
        return who, said.text
    be, rest = found["be"], found["rest"]
    if begins_with_place(rest):
        asked = ("¿Quién" if spanish else "Who") if said.person else ("¿Qué" if spanish else "What")
        return f"{asked} {be} {rest}?", said.text
    alone = said.completed and len(rest.split()) == 1 and not any(c.isdigit() for c in rest)
    if not is_name(rest) or (alone and not NAMING.search(question.lower())):
        return None
    told = rest if any(c.isdigit() for c in rest) else raised(rest)
    if spanish:
        singular = be in ("se llama", "es", "era", "fue")
        named = said.living or bool(re.match(r"¿?qui[eé]n", question.lower()))
        is_ = be if not be.startswith("se llam") else ("es" if singular else "son")
        return f"¿{'Quién' if named and singular else 'Quiénes' if named else 'Qué'} {is_} {rest}?", (
            f"{told} {is_} {said.subject}."
        )
    named = said.living or question.lower().startswith("who")
    return f"{'Who' if named else 'What'} {be} {rest}?", f"{told} {be} {said.subject}."
