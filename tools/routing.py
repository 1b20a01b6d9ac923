"""Which tool a question needs. Code decides: a model this small calls tools that do not exist.

Only three kinds of question are recognised, in Spanish and English, each with patterns that must match the whole
question or its beginning: what day or time it is, a sum, and a search that the member asks for in so many words (or,
where the household allows it, a question about the news). Everything else goes to the model as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from configs.letters import unaccented
from tools.sums import read_sum


@dataclass(frozen=True)
class Call:
    """A tool and its arguments. ``asked`` is whether the member named it, as in "search …"."""

    name: Literal["now", "calculate", "web_search"]
    arguments: dict[str, str]
    asked: bool


_POLITE: Final = (
    r"(?:(?:please|por favor|hey|oye|enlace|hola|hello|hi)[,: ]+)*(?:(?:can|could) you |puedes |podr[ií]as )?"
)
_TELL: Final = r"(?:(?:tell me|dime|do you know|sabes) )?"
_TAIL: Final = r"(?: (?:please|por favor|here|aqui|now|ahora|right now|ahora mismo|today|hoy|in the family))*"
_DAYS: Final = {
    "today": 0, "hoy": 0, "it": 0, "": 0,
    "tomorrow": 1, "manana": 1, "the day after tomorrow": 2, "pasado manana": 2,
    "yesterday": -1, "ayer": -1, "the day before yesterday": -2, "anteayer": -2, "antes de ayer": -2,
}  # fmt: skip
_DAY: Final = "(?P<day>" + "|".join(sorted((d for d in _DAYS if d), key=len, reverse=True)) + ")"
_NOW: Final[tuple[tuple[str, str], ...]] = (
    ("time", r"what(?: i|')?s? (?:the )?(?:current |exact )?time(?: is it| it is)?|what time is it"),
    ("time", r"(?:the |current )*time|que hora es|que hora tenemos|la hora|que horas son|me dices la hora|hora actual"),
    ("weekday", rf"(?:what|which) (?:day|weekday|day of the week) (?:is|was|will) {_DAY}(?: be)?"),
    ("weekday", rf"(?:what|which) day (?:of the week )?(?:is it|do we have){_TAIL}"),
    ("weekday", rf"(?:que|en que) dia (?:de la semana )?(?:es|sera|fue|era|estamos|tenemos)(?: {_DAY})?"),
    ("date", rf"(?:what|which)(?: i|')?s? (?:the )?(?:date|day of the month)(?: is| was| will)?(?: {_DAY})?(?: be)?"),
    ("date", r"(?:(?:what|which) is |what'?s )?today'?s date|the date|what (?:year|month) is it"),
    ("date", rf"(?:que|cual es la) fecha(?: es| sera| fue| tenemos)?(?: de)?(?: {_DAY})?|la fecha(?: de hoy)?"),
    ("date", r"a (?:que dia|cuantos|que) estamos|que (?:ano|mes) es|en que (?:ano|mes|fecha) estamos"),
    ("date", rf"que dia del mes es(?: {_DAY})?"),
)  # fmt: skip
_SUM: Final = re.compile(
    r"(?:what(?: is|'s| are|’s)|how much (?:is|are|does)|work out|calculate|compute|evaluate|"
    r"cu[aá]nto (?:es|son|da|dan|hace|hacen|vale)|cu[aá]l es|calcula(?:r|me)?|resuelve|qu[eé] (?:es|son)|"
    r"haz la cuenta(?: de)?)"
    r"[:,]?\s+",
    re.IGNORECASE,
)
_SEARCH: Final = re.compile(
    r"(?:(?:web )?search(?: (?:the )?(?:web|internet|online|net))?(?: for| about|:)?|look up(?: online)?|google|"
    r"look (?:on|in) the (?:web|internet) for|find online|"
    r"b[uú]sca(?:me|r|lo)?(?: en (?:la )?(?:web|internet|red|l[ií]nea))?(?::| sobre| acerca de)?|"
    r"mira en (?:la )?(?:web|internet)|googlea)\s+(?P<query>.*\S)",
    re.IGNORECASE | re.DOTALL,
)
_NEWS: Final = re.compile(
    r"\b(?:latest|today'?s|current|recent|breaking) (?:news|headlines)\b|\bnews (?:today|about|on|from)\b|"
    r"\bin the news\b|\b(?:[uú]ltimas|recientes) noticias\b|"
    r"\bnoticias (?:de hoy|de [uú]ltima hora|recientes|sobre|de)\b",
    re.IGNORECASE,
)


def route(question: str, language: str, search: Literal["never", "asked", "news"]) -> Call | None:
    """The tool that ``question`` needs, or None. ``search`` is when a question may leave the house."""
    text = " ".join(question.split())
    asked = re.sub(rf"^[¿¡\s]*{_POLITE}", "", text, flags=re.IGNORECASE)
    found = _SEARCH.match(asked)
    if found:
        return Call("web_search", {"query": found["query"].strip(" ?¿")}, asked=True)
    clock = _clock(text)
    if clock:
        return clock
    expression = _SUM.sub("", asked.lstrip("¿¡ "), count=1)
    if read_sum(expression, language) is not None:
        return Call("calculate", {"expression": expression}, asked=False)
    if search == "news" and _NEWS.search(text):
        return Call("web_search", {"query": text.strip(" ?¿")}, asked=False)
    return None


def _clock(text: str) -> Call | None:
    # Whoever asks for the time may have a keyboard without ñ.
    plain = unaccented(text).replace("ñ", "n").replace("’", "'")
    plain = re.sub(r"[¿?¡!.,:]+", " ", plain)
    plain = re.sub(rf"^{_POLITE}{_TELL}", "", " ".join(plain.split()))
    for what, pattern in _NOW:
        found = re.fullmatch(rf"(?:{pattern}){_TAIL}", plain)
        if found:
            day = found.groupdict().get("day") or ""
            return Call("now", {"what": what, "days": str(_DAYS[day])}, asked=False)
    return None
