"""Wordings that are never trained: they measure whether a lesson can be asked for in other words.

Made by another generator than the trained ones: other words of the same meaning in place of those of the question,
and frames that training does not use.
"""

from __future__ import annotations

import re

from trainer.wordings.language import bare, distinct, language_of, lowered, raised, wording_key
from trainer.wordings.trained import EVERY, trained_wordings

ENGLISH_SYNONYMS: tuple[tuple[str, str], ...] = (
    (r"\bwhat is the name of (?:the )?(our|my|your) (\w+)$", r"how did we name \1 \2"),
    (r"\bwhat time\b", "at what hour"),
    (r"\bwhat day\b", "on which weekday"),
    (r"^where\b", "in what place"),
    (r"^when is\b", "on what date is"),
    (r"^when\b", "at what point"),
    (r"^who is\b", "which person is"),
    (r"^how many\b", "what number of"),
    (r"^how long\b", "for how much time"),
    (r"^how\b", "in which way"),
    (r"^what is\b", "what would be"),
    (r"\bkeep\b", "store"),
    (r"\bdinner\b", "supper"),
    (r"\bdoctor\b", "physician"),
    (r"\brubbish\b", "trash"),
    (r"\bpassword\b", "key code"),
    (r"\bfavourite\b", "preferred"),
    (r"\bholiday\b", "vacation"),
    (r"\bsurname\b", "family name"),
    (r"\bgo to\b", "attend"),
    (r"\blive\b", "have a home"),
)
ENGLISH_FRAMES = (
    "My sister wants to know: {q}?",
    "Good evening. {Q}? Thank you!",
    "I have been wondering about something at home. {Q}?",
    "Quick check, {q}?",
)
SPANISH_SYNONYMS: tuple[tuple[str, str], ...] = (
    (r"^cómo se llama\b", "qué nombre tiene"),
    (r"^a qué hora\b", "en qué momento del día"),
    (r"^qué día\b", "en qué fecha"),
    (r"^dónde\b", "en qué sitio"),
    (r"^cuándo\b", "en qué momento"),
    (r"^quién es\b", "qué persona es"),
    (r"^cuántos\b", "qué número de"),
    (r"^cuál es\b", "cuál sería"),
    (r"\bguardamos\b", "dejamos"),
    (r"\bcenamos\b", "tomamos la cena"),
    (r"\bmédico\b", "doctor"),
    (r"\bcontraseña\b", "clave"),
    (r"\bfavorit([oa])\b", r"preferid\1"),
    (r"\bcoche\b", "automóvil"),
    (r"\bvive\b", "tiene su casa"),
)
SPANISH_FRAMES = (
    "Mi hermana quiere saberlo: ¿{q}?",
    "Buenas noches. ¿{Q}? ¡Gracias!",
    "Tengo una duda de casa. ¿{Q}?",
    "Lo último por hoy, ¿{q}?",
)


def held_out_wordings(question: str, count: int) -> list[str]:
    """Up to ``count`` ways of asking ``question``, none of which training can produce for it, in whatever case."""
    core = bare(question)
    if not core:
        return []
    spanish = language_of(question) == "es"
    synonyms = SPANISH_SYNONYMS if spanish else ENGLISH_SYNONYMS
    frames = SPANISH_FRAMES if spanish else ENGLISH_FRAMES
    other = core
    for pattern, word in synonyms:
        other = re.sub(pattern, word, other, count=1, flags=re.IGNORECASE)
    mark = "¿{}?" if spanish else "{}?"
    reworded = [mark.format(raised(other))] if other.lower() != core.lower() else []
    framed = [
        frame.format(q=lowered(text), Q=raised(text)) for frame, text in zip(frames, (other, core) * 2, strict=True)
    ]
    # As many as the rules can ever make: what training could see for another count is not held out either.
    trained = {wording_key(text) for text in trained_wordings(question, EVERY)}
    candidates = distinct([*reworded, *framed], len(reworded) + len(framed))
    return [text for text in candidates if wording_key(text) not in trained][:count]
