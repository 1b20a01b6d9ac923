"""Reads a sum written by a person, in figures or in words, Spanish or English, as an expression in Python's notation.

It only rewrites text, step by step, and gives None for anything that is not wholly a sum: the routing relies on that,
so that "what is 24/7 support" stays a question.
"""

from __future__ import annotations

import re
from typing import Final

from tools.number_words import replace_number_words

# Longest first where one begins another. Each is tried between word boundaries, in lower case, accents kept.
_OPERATIONS: Final[tuple[tuple[str, str], ...]] = (
    (r"(?:the )?(?:square root|root) of|(?:la )?ra[ií]z (?:cuadrada )?de", " sqrt "),
    (r"(?:the )?cub(?:e|ic) root of|(?:la )?ra[ií]z c[uú]bica de", " cbrt "),
    (r"(?:the )?factorial of|(?:el )?factorial de", " factorial "),
    (r"(?:to the power of|raised to(?: the power of)?|elevado a(?: la)?(?: potencia de)?)", " ** "),
    (r"squared|al cuadrado", " ** 2 "),
    (r"cubed|al cubo", " ** 3 "),
    (r"multiplied by|multiplicado por|times|por(?! ciento)|x", " * "),
    (r"divided by|dividido (?:entre|por)|divided into|over|entre", " / "),
    (r"plus|added to|m[aá]s|and|y", " + "),
    (r"minus|less|menos", " - "),
    (r"mod(?:ulo)?", " % "),
    (r"(?:half of|half|la mitad de)", " 0.5 * "),
    (r"(?:double|twice|el doble de)", " 2 * "),
    (r"(?:triple|el triple de)", " 3 * "),
)
_SYMBOLS: Final = {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**", "²": "**2", "³": "**3", "√": " sqrt "}
_PERCENT_WORDS: Final = re.compile(r"\s*(?:\bper ?cent\b|\bpor ciento\b)")
_PERCENT: Final = re.compile(r"(\d+(?:\.\d+)?)\s*%(?!\s*[\d(])")
_OF: Final = re.compile(r"(percent\([\d.]+\))\s*(?:of|de|del)\s*(?:the|la|el)?\s*(?=[\d(]|sqrt|percent)")
_ARTICLES: Final = re.compile(r"\b(?:un|el|the|a)\s+(?=\d+(?:\.\d+)?\s*%|percent)")
_CALL: Final = re.compile(r"\b(sqrt|cbrt|factorial)\s+(\d+(?:\.\d+)?|\((?:[^()]*)\))")
_FACTORIAL: Final = re.compile(r"(\d+)\s*!")
_ALLOWED: Final = re.compile(r"(?:[\d.+\-*/()%\s]|sqrt|cbrt|abs|round|factorial|percent)+")
_OPERATOR: Final = re.compile(r"[\d)]\s*(?:[+\-*/%]|\*\*)\s*[\d(+\-a-z]|sqrt|cbrt|abs|round|factorial|percent")
_GROUPED: Final = {
    "es": re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+(?![\d.])"),
    "en": re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])"),
}
_COMMA: Final = re.compile(r"(?<=\d),(?=\d)")
# 9/11, 24/7 and dates are said of other things than sums.
_NOT_SUMS: Final = re.compile(r"\d{1,2}/\d{1,2}/\d{2,4}|\d{4}-\d{2}-\d{2}|9/11|24/7|\+?\d[\d\s-]{8,}")


def read_sum(text: str, language: str) -> str | None:
    """The sum in ``text`` as a Python expression, or None. Spanish reads 1.000,5 as English reads 1,000.5."""
    words = " ".join(text.lower().split()).strip(" ?¿!¡=.:").strip()
    if text.strip().endswith("!") and words and words[-1].isdigit():
        words += "!"
    if not words or _NOT_SUMS.fullmatch(words):
        return None
    for symbol, written in _SYMBOLS.items():
        words = words.replace(symbol, written)
    words = _PERCENT_WORDS.sub("%", _plain_numbers(words, language))
    words = _PERCENT.sub(r"percent(\1)", _ARTICLES.sub("", replace_number_words(words)))
    words = _OF.sub(r"\1 * ", _ARTICLES.sub("", words))
    for pattern, written in _OPERATIONS:
        words = re.sub(rf"(?<![^\W\d_])(?:{pattern})(?![^\W\d_])", written, words)
    words = _FACTORIAL.sub(r"factorial(\1)", words)
    words = _CALL.sub(lambda call: f"{call[1]}({call[2].strip('()')})", words)
    words = re.sub(r"(?<![\d.])0+(?=\d)", "", " ".join(words.split()))
    if not _ALLOWED.fullmatch(words) or not _OPERATOR.search(words):
        return None
    return words


def _plain_numbers(text: str, language: str) -> str:
    """Numbers as Python writes them: no thousands' marks, a point before the decimals."""
    grouped = _GROUPED.get(language, _GROUPED["en"])
    mark = "." if language == "es" else ","
    text = grouped.sub(lambda number: number[0].replace(mark, ""), text)
    return _COMMA.sub(".", text)
