"""Telling a lesson of fact from one of manner: what is so, against how it shall be said.

A manner (a format, a tone, a length) has no neighbour that must stay unknown, and nothing to say yes or no to.
"""

from __future__ import annotations

import re

from configs.wordlists import words_of
from trainer.teaching.confirming import difference
from trainer.teaching.sentences import LONGEST_STATEMENT
from trainer.wordings.language import bare, plain
from trainer.wordings.trained import SMALL_WORDS

# What asks for a text and not for a fact. "Tell me" and "dime" ask for facts as often.
TASKS = words_of(
    "write summarise summarize translate explain describe list draft compose rewrite shorten correct greet suggest"
    " invent plan help answer reply thank congratulate sing joke"
    " escribe resume traduce explica describe enumera redacta reescribe acorta corrige saluda sugiere inventa"
    " planea ayúdame responde contesta agradece felicita canta cuéntame haz hazme escribir resumir traducir explicar"
    " describir redactar corregir contar saludar felicitar"
)
GREETINGS = words_of("hello hi hey good thanks thank bye goodbye sorry hola buenas buenos gracias adiós hasta perdona")
REQUEST = re.compile(
    r"(?:(?:please|por favor),? )?(?:(?:can|could|would|will) you |(?:puedes|podrías|me puedes) )?(?P<verb>[\w'’]+)"
)
# What asks for one thing alone, a name, a time, a number: whatever the correction adds is that thing.
ONE_THING = re.compile(
    r"(?:(?:at|by|for|from|in|on|to|with) )?"
    r"(?:who(?:m|se)?|when|where|which|how (?:many|much|old|long|far|often|big|tall)|what (?:time|day|date|month|year)"
    r"|what colou?r)\b"
    r"|(?:(?:a|con|de|desde|en|hasta|para|por) )?(?:qui[eé]n(?:es)?|cu[aá]ndo|d[oó]nde|cu[aá]nt[oa]s?"
    r"|qu[eé] (?:hora|d[ií]a|fecha|mes|a[nñ]o|color))\b"
)
FORMATTED = re.compile(r"(?m)^\s*(?:[-*•]|\d+[.)]|#+) |\*\*|```|\|.+\||[\U0001f300-\U0001faff]")
MOST_NEW = 1 / 3  # of the content words of an answer, where the rest was in the rejected one or in the question


def is_manner(question: str, chosen: str, rejected: str) -> bool:
    """Whether a correction teaches how to answer, and not what is so."""
    asked = bare(question).lower()
    verb = REQUEST.match(asked)
    first = asked.split(" ", 1)[0].strip(",.!")
    if (verb and verb["verb"] in TASKS) or first in GREETINGS:
        return True
    if bool(FORMATTED.search(chosen)) != bool(FORMATTED.search(rejected)) and (rejected or "\n" in chosen):
        return True
    if len(chosen.split()) > 2 * LONGEST_STATEMENT or chosen.count("\n") > 2:
        return True
    if not rejected or difference(question, chosen, rejected):
        return False
    known = _content(rejected) | _content(question)
    said = _content(chosen)
    new = said - known
    if new and ONE_THING.match(asked):
        return False
    # A name or a number that only the correction has is a fact, however little else changed.
    named = re.findall(r"(?<![.!?¿¡] )(?<!^)\b[A-ZÁÉÍÓÚÑ][\w'’-]*|\b[\w-]*\d[\w-]*", chosen)
    return bool(said) and not (_content(" ".join(named)) & new) and len(new) < MOST_NEW * len(said)


def _content(text: str) -> set[str]:
    return {word for word in plain(text).split() if word not in SMALL_WORDS}
