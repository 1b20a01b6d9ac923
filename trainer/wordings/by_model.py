"""Wordings that the base makes of a question by itself, each held against the question by rule before it is used.

A small model that is asked for other words answers the question, or says another one; after a few examples it does what
they do, now and then. What passes asks for the same of the same, by the words that recall goes by, which are listed in
both languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet

from configs.wordlists import words_of
from engine.messages import Message
from memory.matching import told_by_names
from memory.wording import asks_the_same
from trainer.lessons import TrainingLesson
from trainer.wordings.held_out import held_out_wordings
from trainer.wordings.language import Language, language_of, wording_key
from trainer.wordings.trained import EVERY, trained_wordings

Examples = tuple[tuple[str, str], ...]

REWORDING: dict[Language, str] = {
    "en": "You rewrite questions. You never answer them.",
    "es": "Reescribes preguntas. Nunca las respondes.",
}
# Each in another way of asking: with a longer phrase, from its other end, politely, in short.
ENGLISH_EXAMPLES: tuple[Examples, ...] = (
    (
        ("Where is the remote control?", "In what place can I find the remote control?"),
        ("What is the name of our teacher?", "How is our teacher called?"),
        ("When does the train leave?", "At what time does the train leave?"),
    ),
    (
        ("Where is the remote control?", "The remote control, where is it?"),
        ("What is the name of our teacher?", "Our teacher has what name?"),
        ("When does the train leave?", "The train leaves at what time?"),
    ),
    (
        ("Where is the remote control?", "Could you tell me where the remote control is?"),
        ("What is the name of our teacher?", "Could you tell me our teacher's name?"),
        ("When does the train leave?", "Could you tell me when the train leaves?"),
    ),
    (
        ("Where is the remote control?", "Remote control, where?"),
        ("What is the name of our teacher?", "Our teacher's name?"),
        ("When does the train leave?", "Train leaves when?"),
    ),
)
SPANISH_EXAMPLES: tuple[Examples, ...] = (
    (
        ("¿Dónde está el mando?", "¿En qué lugar puedo encontrar el mando?"),
        ("¿Cómo se llama nuestra maestra?", "¿Qué nombre tiene nuestra maestra?"),
        ("¿Cuándo sale el tren?", "¿A qué hora sale el tren?"),
    ),
    (
        ("¿Dónde está el mando?", "El mando, ¿dónde está?"),
        ("¿Cómo se llama nuestra maestra?", "Nuestra maestra, ¿cómo se llama?"),
        ("¿Cuándo sale el tren?", "El tren, ¿cuándo sale?"),
    ),
    (
        ("¿Dónde está el mando?", "¿Podrías decirme dónde está el mando?"),
        ("¿Cómo se llama nuestra maestra?", "¿Podrías decirme cómo se llama nuestra maestra?"),
        ("¿Cuándo sale el tren?", "¿Podrías decirme cuándo sale el tren?"),
    ),
    (
        ("¿Dónde está el mando?", "¿El mando, dónde?"),
        ("¿Cómo se llama nuestra maestra?", "¿El nombre de nuestra maestra?"),
        ("¿Cuándo sale el tren?", "¿El tren, cuándo?"),
    ),
)
TRANSLATING: dict[Language, str] = {
    "en": "You translate questions into Spanish. You never answer them.",
    "es": "You translate questions into English. You never answer them.",
}
# In both languages, first and last of the same meaning.
BOTH: Examples = (
    ("Where is the remote control?", "¿Dónde está el mando?"),
    ("What is the name of our teacher?", "¿Cómo se llama nuestra maestra?"),
    ("When does the train leave?", "¿Cuándo sale el tren?"),
)
# What stands before a wording where several are listed, and around one that is quoted.
LISTED, QUOTES = re.compile(r"^(?:[-*•]|\d+[.)])\s+"), " \"'*“”«»"
# What asks for a yes or a no; "do you know" and "can you tell me" ask for the thing.
YES_OR_NO = words_of("is are was were does did has had")
# Recall takes these for no word that tells; asked how somebody drinks it, nobody wants to know what.
MANNER = words_of("how way cómo manera")
# How we call it, cómo se llama: what is asked for is the name.
NAMING = words_of("call called name llama llaman llamas llamamos nombre")
MOST_LONGER = 2  # times the words of the question; what is longer says the same again and again

# What the base answers to each of some conversations; nothing to one that it cannot be asked.
Ask = Callable[[Sequence[Sequence[Message]]], Sequence[str]]


def reworded(lessons: Sequence[TrainingLesson], count: int, ask: Ask) -> dict[str, list[str]]:
    """By lesson, up to ``count`` wordings of its question that the base made and no rule makes.

    None that only measures, and none of a question that another lesson answers in another way, as far as the check can
    tell the two apart. Raises what ``ask`` does.
    """
    if not count:
        return {}
    asked = [
        (lesson.id, _conversation(REWORDING[language_of(lesson.question)], examples, lesson.question))
        for lesson in lessons
        for examples in (SPANISH_EXAMPLES if language_of(lesson.question) == "es" else ENGLISH_EXAMPLES)
    ]
    answers: dict[str, list[str]] = {lesson.id: [] for lesson in lessons}
    for (name, _), answer in zip(asked, ask([conversation for _, conversation in asked]), strict=True):
        answers[name].append(answer)
    found = {}
    for lesson in lessons:
        others = (other for other in lessons if other.chosen != lesson.chosen)
        if not any(asks_the_same(other.question, lesson.question) for other in others):
            made = (*trained_wordings(lesson.question, EVERY), *held_out_wordings(lesson.question, EVERY))
            known = {wording_key(text) for text in made}
            found[lesson.id] = _passing(answers[lesson.id], lesson.question, language_of(lesson.question), known)[
                :count
            ]
    return found


def translated(lessons: Sequence[TrainingLesson], ask: Ask) -> dict[str, str]:
    """By lesson, its question in the other language, where the base could put it so.

    Of lessons alone whose answer is told by a name or a number, which is the same in any language. Raises what ``ask``
    does.
    """
    told = [lesson for lesson in lessons if told_by_names(lesson.chosen, lesson.question)]
    asked = []
    for lesson in told:
        language = language_of(lesson.question)
        examples = BOTH if language == "en" else tuple((spanish, english) for english, spanish in BOTH)
        asked.append(_conversation(TRANSLATING[language], examples, lesson.question))
    found: dict[str, str] = {}
    for lesson, said in zip(told, ask(asked), strict=True):
        other: Language = "en" if language_of(lesson.question) == "es" else "es"
        for wording in _passing([said], lesson.question, other, frozenset())[:1]:
            found[lesson.id] = wording
    return found


def _conversation(system: str, examples: Examples, question: str) -> tuple[Message, ...]:
    """What makes a model that follows examples say a question in other words."""
    shown = [each for asked, said in examples for each in (Message("user", asked), Message("assistant", said))]
    return (Message("system", system), *shown, Message("user", question))


def _passing(said: Iterable[str], question: str, language: Language, known: AbstractSet[str]) -> list[str]:
    """Lines of what was ``said`` that are the question in other words, each once, in ``language``; none ``known``."""
    found: dict[str, str] = {}
    for text in said:
        for line in text.splitlines():
            wording = LISTED.sub("", line.strip()).strip(QUOTES)
            key = wording_key(wording)
            if key not in known and language_of(wording) == language and _is_reworded(wording, question):
                found.setdefault(key, wording)
    return list(found.values())


def _is_reworded(wording: str, question: str) -> bool:
    said, asked = (text.lower().strip("¿?").split() for text in (wording, question))
    if not said or not wording.endswith("?") or len(said) > MOST_LONGER * len(asked):
        return False
    turned = said[0] in YES_OR_NO and asked[0] not in YES_OR_NO
    asks_how = asked[0] in MANNER and not NAMING & set(asked)
    same_manner = not asks_how or bool(MANNER & set(said))
    return not turned and same_manner and asks_the_same(wording, question)
