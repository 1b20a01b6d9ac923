"""Wordings of a question that are trained, made by rule.

The variety of wordings decides whether a fact can be asked for in other words (Physics of Language Models 3.1,
arXiv 2309.14316). Rewordings of the sentence come before frames around it, because they vary more.
"""

from __future__ import annotations

import re

from trainer.wordings.language import bare, distinct, language_of, lowered, plain, raised
from trainer.wordlists import words_of

# Folded as ``plain`` folds, because they are looked up among its words.
SMALL_WORDS = words_of(
    "the a an of is are was were do does did to in on at for and with has have what which who where when how we i you"
    " el la los las un una de del que cual quien como cuando donde es son esta estan se nos en con para por a al"
    " y"
)
# What a noun phrase begins with: "tell me the password" is English, "tell me Lucas allergic to" is not.
NOUN = r"(?:the|our|my|your|his|her|their|(?:\w+ )?\w+'s) .+"

# Each rule turns one shape of a bare question into another one.
ENGLISH_REWORDINGS: tuple[tuple[str, str], ...] = (
    (r"^what is the name of (.+)$", r"What is \1 called?"),
    (r"^what is the name of (?!.*\bof\b)((?:\w+ ){0,2}\w+)$", r"What is \1's name?"),
    (r"^what is (.+) called$", r"What is the name of \1?"),
    (r"^(what|who|where|when|how) is (.+)$", r"\1's \2?"),
    (r"^what time (.+)$", r"When \1?"),
    (r"^what day (.+)$", r"When \1?"),
    (r"^where do (we|you|i) keep (.+)$", r"Where is \2?"),
    (r"^which (.+)$", r"What \1?"),
    (r"^what (\w+) (is|are|do|does|did) (.+)$", r"Which \1 \2 \3?"),
    (r"^how many (\w+) does (.+) have$", r"What is the number of \2's \1?"),
    (r"^what is (\w+)'s (.+)$", r"What is the \2 of \1?"),
    (r"^what (colou?r) is (.+)$", r"What is the \1 of \2?"),
    (rf"^what is ({NOUN})$", r"Tell me \1."),
    (r"^(what|who|where|when) (is|are|was|were) (.+)$", r"Tell me \1 \3 \2."),
    (r"^(what|which|where|when|how)((?: \w+)?) do (we|you|they|i) (.+)$", r"Tell me \1\2 \3 \4."),
    (r"^(what|who|where|when) (is|are|was|were) (.+)$", r"Do you know \1 \3 \2?"),
    (r"^(what|which|where|when|how)((?: \w+)?) do (we|you|they|i) (.+)$", r"Do you know \1\2 \3 \4?"),
    (rf"^what is ({NOUN})$", r"\1?"),
)
ENGLISH_FRAMES = (
    "Can you tell me: {q}?",
    "Hi! {Q}?",
    "{Q}? I forgot.",
    "Hey Enlace, {q}?",
    "Please, {q}?",
    "Do you remember {q}?",
    "{Q}? Answer briefly.",
    "I need to know this: {q}?",
    "Sorry, {q}?",
    "One question: {q}?",
    "And {q}?",
    "Help me: {q}?",
)
SPANISH_REWORDINGS: tuple[tuple[str, str], ...] = (
    (r"^cómo se llama (.+)$", r"¿Cuál es el nombre de \1?"),
    (r"^cuál es el nombre de (.+)$", r"¿Cómo se llama \1?"),
    (r"^cuál es (.+)$", r"¿Me dices \1?"),
    (r"^cuál es (.+)$", r"Dime \1."),
    (r"^(cómo|cuándo|dónde|quién|qué|cuántos|cuántas)\b(.*)$", r"Dime \1\2."),
    (r"^(cómo|cuándo|dónde|quién|qué|cuántos|cuántas)\b(.*)$", r"¿Sabes \1\2?"),
    (r"^a qué hora (.+)$", r"¿Cuándo \1?"),
    (r"^qué día (.+)$", r"¿Cuándo \1?"),
    (r"^dónde guardamos (.+)$", r"¿Dónde está \1?"),
    (r"^cuál es (.+)$", r"¿\1?"),
)
SPANISH_FRAMES = (
    "Oye, ¿{q}?",
    "Hola. ¿{Q}?",
    "¿Te acuerdas de {q}?",
    "Se me ha olvidado: ¿{q}?",
    "Por favor, ¿{q}?",
    "¿Me puedes decir {q}?",
    "Una pregunta: ¿{q}?",
    "¿{Q}? Responde en pocas palabras.",
    "Necesito saber {q}.",
    "Perdona, ¿{q}?",
    "Enlace, ¿{q}?",
    "¿Y {q}?",
)


def trained_wordings(question: str, count: int) -> list[str]:
    """The question as it was asked and up to ``count - 1`` other ways of asking it, always the same ones.

    A text that is no question (no known shape) gets the frames alone, so that it too is learned in company.
    """
    core = bare(question)
    if not core:
        return [question]
    if language_of(question) == "es":
        rewordings, frames = SPANISH_REWORDINGS, SPANISH_FRAMES
    else:
        rewordings, frames = ENGLISH_REWORDINGS, ENGLISH_FRAMES
    reworded = [
        _raised_sentence(re.sub(pattern, form, lowered(core)))
        for pattern, form in rewordings
        if re.match(pattern, lowered(core))
    ]
    framed = [frame.format(q=lowered(core), Q=raised(core)) for frame in frames]
    short = [plain(core), " ".join(word for word in plain(core).split() if word not in SMALL_WORDS)]
    # About half of the company are rewordings where there are so many; the frames fill what is left.
    half = max(1, (count - 1) // 2)
    ordered = [question, short[0], *reworded[:half], *framed[:2], short[1], *framed[2:], *reworded[half:]]
    return distinct(ordered, count)


def _raised_sentence(text: str) -> str:
    opening = "¿" if text.startswith("¿") else ""
    return opening + raised(text.removeprefix("¿"))
