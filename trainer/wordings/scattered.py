"""Sentences that keep of a question only its telling words, what it is about, in company of any other words.

People ask in shapes that no rule foresees, and a small model goes by the shape: "When does the rubbish lorry come?" is
answered with "The rubbish lorry comes every", whatever was learned about the rubbish. So it also trains on the telling
words among others: in any order, some left out and some in another word of their meaning, after the beginnings of
everyday questions, with small words between them. What all of these have in common is what the answer has to come from.
They need not be good sentences.
"""

from __future__ import annotations

import functools
import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import zip_longest

from configs.sections.training import ScatteringSettings
from configs.wordlists import words_of
from memory.wording import alike
from trainer.everyday import read_prompts
from trainer.lessons import TrainingLesson
from trainer.wordings.language import Language, bare, distinct, language_of, plain, raised
from trainer.wordings.trained import SMALL_WORDS

# Whose it is or how much of it there is says nothing of what it is; folded as ``plain`` folds.
UNTELLING = SMALL_WORDS | words_of(
    "our my your his her its their it if can could should would must many much any some go"
    " nuestro nuestra nuestros nuestras mi mis tu tus su sus si hay va puede debe mas muy tiene tenemos"
)


def scattered_apart(
    lessons: Sequence[TrainingLesson], count: int, settings: ScatteringSettings
) -> dict[str, list[str]]:
    """By lesson, up to ``count`` sentences around its question's telling words; always the same ones.

    None says only what another lesson with another answer is asked by as well: trained with both it would teach
    neither. Raises TrainingDataBroken.
    """
    telling = {lesson.id: _telling(lesson.question) for lesson in lessons}
    asked = {lesson.id: _meanings(telling[lesson.id]) for lesson in lessons}
    found = {}
    for lesson in lessons:
        others = [asked[other.id] for other in lessons if other.chosen != lesson.chosen]
        found[lesson.id] = _scattered(lesson.question, telling[lesson.id], others, count, settings)
    return found


def mixed(wordings: Mapping[str, Sequence[str]], others: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """By lesson, its wordings and between two of them one of the others, if it has any; the question itself first."""
    found = {}
    for lesson, those in wordings.items():
        both = [each for pair in zip_longest(those, others.get(lesson, ())) for each in pair if each is not None]
        found[lesson] = distinct(both, len(both))
    return found


def _scattered(
    question: str,
    telling: Sequence[str],
    others: Sequence[AbstractSet[str]],
    count: int,
    settings: ScatteringSettings,
) -> list[str]:
    meant = _meanings(telling)
    if not meant or any(meant <= other for other in others):
        return []
    chance = random.Random(hashlib.sha256(question.encode()).digest())  # noqa: S311 - not for secrets
    language = language_of(question)
    found = []
    for _ in range(count):
        kept = [_in_other_words(word, chance, settings.replaced) for word in _kept(telling, chance, settings)]
        meant = _meanings(kept)
        if any(meant <= other for other in others):
            kept = [*telling]
        if chance.random() < settings.reordered:
            chance.shuffle(kept)
        found.append(_sentence(kept, language, chance, settings))
    return found


def _telling(question: str) -> list[str]:
    words = (word.strip(",;:") for word in bare(question).split())
    return [word for word in words if plain(word) and plain(word) not in UNTELLING]


def _meanings(words: Iterable[str]) -> frozenset[str]:
    return frozenset(plain(alike(word)[0]) for word in words)


def _kept(telling: Sequence[str], chance: random.Random, settings: ScatteringSettings) -> list[str]:
    """Some of the words, names always, and seldom so few that they could be about anything."""
    kept = [word for word in telling if word[0].isupper() or chance.random() >= settings.left_out]
    names_alone = all(word[0].isupper() for word in kept)
    return [*telling] if names_alone or len(kept) < settings.fewest_words else kept


def _in_other_words(word: str, chance: random.Random, share: float) -> str:
    """The word, or for a ``share`` of them another one of its meaning, in whichever language."""
    return chance.choice(alike(word)) if chance.random() < share else word


def _sentence(kept: Iterable[str], language: Language, chance: random.Random, settings: ScatteringSettings) -> str:
    beginnings, small = _everyday(language)
    said = [*chance.choice(beginnings)[: chance.randint(0, settings.longest_beginning)]]
    for word in kept:
        said += [*chance.choices(small, k=chance.randint(0, settings.most_between)), word]
    end = chance.choice(settings.ends)
    opening = "¿" if language == "es" and end == "?" else ""
    return f"{opening}{raised(' '.join(said))}{end}"


@functools.cache
def _everyday(language: Language) -> tuple[list[list[str]], list[str]]:
    """The everyday prompts in a language, word by word, and the small words in them."""
    prompts = [bare(prompt).split() for prompt in read_prompts("replay") if language_of(prompt) == language]
    return prompts, sorted({word for prompt in prompts for word in prompt if word in SMALL_WORDS})
