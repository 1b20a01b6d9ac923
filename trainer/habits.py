"""Bad habits of an answer that need no right one to be seen: refusing, and saying the same again and again."""

from __future__ import annotations

import re

from configs.letters import unaccented

GRAM = 4  # words; the n of seq-rep-4
# How an answer begins, or says outright, that there will be none; without accents.
REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|afraid|unable|not able|not allowed)"
    r"|i (?:can(?:no|')t|can not|could not|won't|will not|must) (?:\w+ ){0,2}?"
    r"(?:help|assist|answer|provide|discuss|talk|tell|say|comply|do that|refuse|decline)"
    r"|i (?:refuse|decline) to|as an ai\b|as a language model"
    r"|lo siento|lo lamento|no (?:(?:te|le|os|les|lo|la) )?(?:puedo|podre|quiero|debo) (?:\w+ ){0,2}?"
    r"(?:ayudar|responder|contestar|decir|hablar|proporcionar|dar)\w*"
    r"|me niego a|como (?:modelo de lenguaje|inteligencia artificial|ia)\b)"
)


def refuses(answer: str) -> bool:
    """Whether an answer is a refusal, in English or Spanish."""
    return REFUSAL.search(unaccented(answer).replace("’", "'")) is not None


def repetition(answer: str) -> float:
    """The share, 0 to 1, of an answer's sequences of four words that it has said before.

    seq-rep-4 (Welleck et al., Neural Text Generation with Unlikelihood Training, arXiv 1908.04319), over words, so that
    models of different vocabularies are measured alike. An answer of fewer words repeats nothing.
    """
    words = re.findall(r"\w+", unaccented(answer))
    grams = [tuple(words[start : start + GRAM]) for start in range(len(words) - GRAM + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0
