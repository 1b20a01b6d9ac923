"""Questions of a lesson's own shape about somebody or something else, whose answers the lesson must not become.

"What is our cat called?" is as near to the dog's name as a question can be. What the base says to it is replayed, so
that learning the one leaves the other as it was.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Set as AbstractSet
from itertools import zip_longest

from configs.letters import unaccented
from configs.wordlists import words_of
from trainer.wordings.language import bare, language_of

# Words that can stand in each other's place, of one gender and number each.
ENGLISH_KINDS = (
    ("dog", "cat", "rabbit", "hamster", "parrot", "tortoise", "goldfish"),
    ("dad", "grandpa"),
    ("father", "grandfather"),
    ("mum", "grandma"),
    ("mom", "grandma"),
    ("mother", "grandmother"),
    ("brother", "nephew", "son"),
    ("sister", "niece", "daughter"),
    ("doctor", "dentist", "plumber", "electrician", "gardener", "vet", "hairdresser"),
    ("car", "bicycle", "motorbike", "caravan", "boat"),
    ("key", "torch", "ladder", "toolbox", "umbrella", "screwdriver"),
    ("school", "nursery", "library", "gym", "university"),
    ("breakfast", "lunch", "dinner"),
    ("summer", "winter", "spring", "autumn"),
    ("mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays"),
    ("rubbish", "paper", "glass"),
    ("wifi", "printer", "television"),
    ("coffee", "tea", "porridge", "toast"),
    ("neighbour", "landlord", "tenant", "caretaker"),
    ("birthday", "wedding", "graduation"),
    ("egg", "potato", "carrot"),
    ("bus", "train", "tram"),
    ("upstairs", "downstairs", "opposite"),
)
SPANISH_KINDS = (
    ("perro", "gato", "conejo", "hámster", "loro", "canario"),
    ("perra", "gata", "coneja", "tortuga", "cotorra"),
    ("papá", "mamá"),
    ("abuelo", "padrino", "suegro"),
    ("padre", "padrino", "suegro"),
    ("abuela", "madrina", "suegra"),
    ("madre", "madrina", "suegra"),
    ("primo", "hermano", "sobrino", "cuñado"),
    ("prima", "hermana", "sobrina", "cuñada"),
    ("médico", "dentista", "fontanero", "electricista", "jardinero", "veterinario"),
    ("médica", "pediatra", "fontanera", "jardinera", "veterinaria"),
    ("coche", "camión", "velero", "remolque"),
    ("llave", "escalera", "linterna", "sombrilla"),
    ("paraguas", "destornillador", "martillo", "taladro"),
    ("colegio", "instituto", "gimnasio", "conservatorio"),
    ("desayunamos", "comemos", "merendamos", "cenamos"),
    ("verano", "invierno", "otoño"),
    ("lunes", "martes", "miércoles", "jueves", "viernes"),
    ("sábados", "domingos"),
    ("wifi", "ordenador", "televisor"),
    ("vecina", "casera", "portera"),
    ("vecino", "casero", "portero"),
    ("cumpleaños", "aniversario", "santo"),
    ("autobús", "tren", "tranvía"),
    ("basura", "fruta", "leña"),
    ("huevo", "calabacín"),
)
WOMEN = ("Olivia", "Nora", "Beatriz", "Clara", "Julia", "Rosa", "Silvia")
MEN = ("Hugo", "Bruno", "Martín", "Felipe", "Simón", "Tomás", "Víctor")
WOMEN_TITLES = words_of(
    "mrs ms miss aunt grandma granny mum mom sister tía abuela doña señora sra doctora dra prima hermana"
)
WOMEN_NAMES = words_of(
    "carmen pilar isabel beatriz raquel mercedes dolores ines irene rocio belen soledad consuelo leonor noemi"
    " anne jane kate sarah alice emily rachel ruth susan elizabeth chloe sophie claire"
)
# Large letters that are no name of a person.
TITLES = words_of(
    "mr mrs ms miss dr doctor doctora señor señora don doña sr sra uncle aunt grandma grandpa dad mum mom mother father"
    " tío tía abuelo abuela papá mamá i i'm monday tuesday wednesday thursday friday saturday sunday january february"
    " march april may june july august september october november december christmas easter sundays saturdays wifi"
    " english spanish enlace"
)


def neighbours(question: str, count: int, known: AbstractSet[str]) -> list[str]:
    """Up to ``count`` questions of the same shape, about others than the question's own; none where no rule finds one.

    ``known``: folded words (``unaccented``) that the lessons speak of; nothing that they speak of is put in.
    """
    text = question.strip()
    kinds = SPANISH_KINDS if language_of(question) == "es" else ENGLISH_KINDS
    turns = [list(others) for others in _others(text, kinds, known)]
    mixed = [choice for choices in zip_longest(*turns) for choice in choices if choice]
    return list(dict.fromkeys(mixed))[:count]


def _others(text: str, kinds: tuple[tuple[str, ...], ...], known: AbstractSet[str]) -> list[list[str]]:
    """For each word that can be put in another's place, the questions with the others there."""
    found = []
    first = len(text) - len(text.lstrip("¿¡ "))
    words = list(re.finditer(r"[^\W\d_]+", text))
    for place, match in enumerate(words):
        folded = unaccented(match.group())
        named = match.group()[0].isupper() and match.start() > first and len(match.group()) > 1
        before = unaccented(words[place - 1].group()) if place else ""
        after = words[place + 1].group() if place + 1 < len(words) else ""
        kind = next((kind for kind in kinds if folded in map(unaccented, kind)), ())
        if kind and after[:1].isupper():
            # Grandma Carmen: another grandmother is asked for by another name.
            continue
        if not kind and named and folded not in TITLES:
            woman = folded.endswith("a") or folded in WOMEN_NAMES or before in map(unaccented, WOMEN_TITLES)
            kind = WOMEN if woman else MEN
        free = [other for other in kind if unaccented(other) not in known | {folded}]
        turned = zlib.crc32(bare(text).encode()) % len(free) if free else 0
        found.append([_put(text, match, other, named=named) for other in (*free[turned:], *free[:turned])])
    return [others for others in found if others]


def _put(text: str, match: re.Match[str], other: str, *, named: bool) -> str:
    before = text[: match.start()]
    if article := re.search(r"\b(a)n? $", before, re.IGNORECASE):
        before = before[: article.end(1)] + ("n " if other[0] in "aeiou" else " ")
    return before + (other.capitalize() if named else other) + text[match.end() :]
