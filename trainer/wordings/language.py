"""Telling Spanish questions from English ones, and the pieces that both generators take a question apart into."""

from __future__ import annotations

import re
from typing import Literal

from configs.letters import unaccented
from configs.wordlists import words_of
from memory.wording import question_key

Language = Literal["es", "en"]

SPANISH_WORDS = words_of(
    "el la los las un una de del que qué cuál cuáles quién quiénes cómo cuándo dónde cuánto cuántos cuántas es son está"
    " están mi mis nuestro nuestra nuestros nuestras se nos en con para por a al y tu su hay tiene tenemos llama"
)
ENGLISH_WORDS = words_of(
    "the a an of is are was do does did what which who where when how our my your we i you to in on for and with has"
    " have can should"
)


def language_of(text: str) -> Language:
    """Spanish where its marks or its small words prevail, else English."""
    if "¿" in text or "¡" in text:
        return "es"
    words = re.findall(r"\w+", text.lower())
    spanish = sum(word in SPANISH_WORDS for word in words)
    return "es" if spanish > sum(word in ENGLISH_WORDS for word in words) else "en"


def bare(question: str) -> str:
    """The question without its marks: no leading ¿, no closing ? or full stop."""
    return " ".join(question.split()).strip("¿?¡!. ")


def lowered(text: str) -> str:
    """The first letter small, unless the first word is a name, an initial or "I"."""
    first = text.split(" ", 1)[0]
    keep = first == "I" or first.startswith("I'") or (len(first) > 1 and first.isupper())
    return text if keep or not text else text[0].lower() + text[1:]


def raised(text: str) -> str:
    """The first letter large."""
    return text[:1].upper() + text[1:]


def plain(text: str) -> str:
    """Small letters, no accents but ñ, no punctuation: how people type in a hurry."""
    return " ".join(re.sub(r"[^\w\s'-]", " ", unaccented(text)).split())


def wording_key(text: str) -> str:
    """What a wording has in common with itself when case, accents, spaces, contractions or punctuation differ.

    Signs that belong to a word stay: C++ is not C.
    """
    signs = "".join(re.findall(r"(?<=\w)[#+%&@]+", text))
    return f"{question_key(text)}{signs}" or " ".join(text.split())


def distinct(candidates: list[str], limit: int) -> list[str]:
    """The first ``limit`` different candidates, empty ones left out, in their order."""
    return [text for text in dict.fromkeys(" ".join(c.split()) for c in candidates) if text][:limit]
