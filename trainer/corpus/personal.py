"""What is somebody's own, written over: it may stand in a text, and shall not stand in weights.

Numbers are told by their check digits, so that other numbers stay: DNI and NIE by their letter (the table of Spain's
Ministerio del Interior), IBAN by ISO 13616's mod 97, cards by ISO/IEC 7812's Luhn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from typing import Final

from configs.pretraining.corpus import PersonalKind

_DNI_LETTERS: Final = "TRWAGMYFPDXBNJZSQVHLCKE"
_NIE: Final = {"X": "0", "Y": "1", "Z": "2"}
# Lengths by country (ISO 13616) of those that a household of ours is likely to meet; others by the rule alone.
_IBAN_LENGTHS: Final = {
    "ES": 24, "PT": 25, "FR": 27, "IT": 27, "DE": 22, "GB": 22, "NL": 18, "BE": 16, "AD": 24, "IE": 22, "CH": 21,
    "AT": 20,
}  # fmt: skip
_PATTERNS: Final[tuple[tuple[PersonalKind, str, re.Pattern[str]], ...]] = (
    ("email", "[correo]", re.compile(r"(?<![\w.+-])[\w.+%-]{1,64}@(?:[\w-]+\.)+[^\W\d_]{2,24}(?![\w-])")),
    ("iban", "[IBAN]", re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}(?![A-Za-z0-9])")),
    ("card", "[tarjeta]", re.compile(r"(?<![\w.,-])(?<!\d[ -])\d(?:[ -]?\d){12,18}(?![ -]?\d|\w|[.,]\d)")),
    (
        "identity",
        "[DNI]",
        re.compile(r"(?<![A-Za-z0-9])(?:[XYZxyz][ -]?\d{7}|\d{8}|\d{1,2}\.\d{3}\.\d{3})[ -]?[A-Za-z](?![A-Za-z0-9])"),
    ),
    (
        "phone",
        "[teléfono]",
        re.compile(
            r"(?<![\w.,/-])(?:(?:\+|00)[1-9]\d{0,2}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .-]?\d){6,11}"
            r"|[6789]\d{2}(?:[ .-]?\d{3}[ .-]?\d{3}|[ .-]?\d{2}[ .-]?\d{2}[ .-]?\d{2})"
            r"|9\d[ .-]\d{3}[ .-]\d{2}[ .-]\d{2})(?![\w/]|[.,-]\d)"
        ),
    ),
    (
        "address",
        "[dirección]",
        re.compile(
            r"\b(?:[Cc]/|[Cc]alle|[Aa]v(?:enida|da?\.)|[Pp]laza|[Pp]za\.|[Pp]aseo|[Pp]º|[Rr]onda|[Tt]ravesía|[Cc]amino"
            r"|[Cc]arretera|[Cc]tra\.) ?(?:(?:de|del|la|las|los|el|san|santa|[A-ZÁÉÍÓÚÑ][\w'’·.-]*) ?){1,6}"
            r",? ?(?:n\.?º ?|núm(?:ero)?\.? )?\d{1,4}(?: ?[A-Z])?\b(?:,? ?(?:\d{1,2}\.? ?[ºª°]|[Bb]ajo|[Áá]tico)"
            r"(?: ?[A-Za-z]\b| ?(?:izqda?|dcha?)\b\.?)?)?(?:,? ?\d{5}\b)?"
        ),
    ),
)


def scrubbed(text: str, kinds: Collection[PersonalKind]) -> tuple[str, Counter[str]]:
    """``text`` with the name of each of ``kinds`` in the place of what is of that kind, and how much of each it was."""
    found: Counter[str] = Counter()
    for kind, name, pattern in _PATTERNS:
        if kind not in kinds:
            continue

        def over(match: re.Match[str], kind: PersonalKind = kind, name: str = name) -> str:
            if not _IS[kind](match[0]):
                return match[0]
            found[kind] += 1
            return name

        text = pattern.sub(over, text)
    return text, found


def _is_identity(text: str) -> bool:
    plain = re.sub(r"[ .-]", "", text).upper()
    number = _NIE.get(plain[0], plain[0]) + plain[1:-1]
    return plain[-1] == _DNI_LETTERS[int(number) % len(_DNI_LETTERS)]


def _is_iban(text: str) -> bool:
    plain = re.sub(r"[ -]", "", text)
    if len(plain) != _IBAN_LENGTHS.get(plain[:2], len(plain)):
        return False
    return int("".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])) % 97 == 1


def _is_card(text: str) -> bool:
    digits = [int(digit) for digit in reversed(text) if digit.isdecimal()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    # Many a row of one digit passes, and is no card.
    return len(set(digits)) > 1 and (sum(digits[0::2]) + sum(doubled)) % 10 == 0


_IS: Final[dict[PersonalKind, Callable[[str], bool]]] = {
    "email": lambda text: True,
    "iban": _is_iban,
    "card": _is_card,
    "identity": _is_identity,
    "phone": lambda text: True,
    "address": lambda text: True,
}
