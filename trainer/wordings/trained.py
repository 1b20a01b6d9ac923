"""Wordings of a question that are trained, made by rule.

The variety of wordings decides whether a fact can be asked for in other words (Physics of Language Models 3.1,
arXiv 2309.14316). Rewordings of the sentence come before frames around it, because they vary more.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from configs.wordlists import words_of
from trainer.wordings.language import bare, distinct, language_of, lowered, plain, raised, wording_key

# Folded as ``plain`` folds, because they are looked up among its words.
SMALL_WORDS = words_of(
    "the a an of is are was were do does did to in on at for and with has have what which who where when how we i you"
    " el la los las un una de del que cual quien como cuando donde es son esta estan se nos en con para por a al"
    " y"
)
FRAMES_OF_A_REWORDING = 4
EVERY = 10_000  # more wordings than the rules make
CONTRACTED = re.compile(r"^(what|who|where|when|how)['’]s\b")
# Verbs that take a plain s after "does" is gone; any other word might be a noun, or take another ending.
VERB = r"(take|like|want|eat|drink|play|live|work|sleep|meet|need|use|read|speak)"
# What a noun phrase begins with: "tell me the password" is English, "tell me Lucas allergic to" is not.
NOUN = r"(?:the|our|my|your|his|her|their|(?:\w+ )?\w+'s) .+"


class Rewording(NamedTuple):
    """A shape of a bare question and the form it gets. ``same``: whether that asks for the very same thing."""

    pattern: str
    form: str
    same: bool = True


# Each rule turns one shape of a bare question into another one.
ENGLISH_REWORDINGS: tuple[Rewording, ...] = (
    Rewording(r"^what is the name of (.+)$", r"\1, what is the name?"),
    Rewording(r"^what is the name of (.+)$", r"Give me the name of \1."),
    Rewording(r"^where do (?:we|you|i) keep (.+)$", r"\1, where is it?", same=False),
    Rewording(r"^where do (?:we|you|i) keep (.+)$", r"I am looking for \1.", same=False),
    Rewording(r"^what is ((?:the|our|my|your) (?!name).+)$", r"I need \1."),
    Rewording(r"^what is ((?:the|our|my|your) (?!name).+)$", r"Give me \1, please."),
    Rewording(r"^who is ((?:the|our|my|your) .+)$", r"What is the name of \1?"),
    Rewording(r"^who is ((?:the|our|my|your) .+)$", r"\1, who is it?"),
    Rewording(r"^when is (.+)$", r"What is the date of \1?", same=False),
    Rewording(r"^when is (.+)$", r"\1, when is it?"),
    Rewording(r"^(?:which|what) (?!(?:time|day)\b)(\w+) does (\w+) (.+)$", r"\2's \1, which one is it?", same=False),
    Rewording(rf"^(?:which|what) (\w+) does (\w+) {VERB}$", r"Tell me the \1 that \2 \3s.", same=False),
    Rewording(rf"^where does ((?:\w+ ){{0,2}}\w+) {VERB}$", r"Tell me where \1 \2s."),
    Rewording(rf"^how does (.+?) {VERB} (.+)$", r"Tell me how \1 \2s \3."),
    Rewording(r"^what is (\w+) (\w+) to$", r"Tell me what \1 is \2 to."),
    Rewording(r"^what is the name of (.+)$", r"What is \1 called?"),
    Rewording(r"^what is the name of (?!.*\bof\b)((?:\w+ ){0,2}\w+)$", r"What is \1's name?"),
    Rewording(r"^what is (.+) called$", r"What is the name of \1?"),
    Rewording(r"^(what|who|where|when|how) is (.+)$", r"\1's \2?"),
    Rewording(r"^what time (.+)$", r"When \1?", same=False),
    Rewording(r"^what day (.+)$", r"When \1?", same=False),
    Rewording(r"^where do (we|you|i) keep (.+)$", r"Where is \2?", same=False),
    Rewording(r"^which (.+)$", r"What \1?"),
    Rewording(r"^what (\w+) (is|are|do|does|did) (.+)$", r"Which \1 \2 \3?"),
    Rewording(r"^how many (\w+) does (.+) have$", r"What is the number of \2's \1?"),
    Rewording(r"^what is (\w+)'s (.+)$", r"What is the \2 of \1?"),
    Rewording(r"^what (colou?r) is (.+)$", r"What is the \1 of \2?"),
    Rewording(rf"^what is ({NOUN})$", r"Tell me \1."),
    Rewording(r"^(what|who|where|when) (is|are|was|were) (.+)$", r"Tell me \1 \3 \2."),
    Rewording(r"^(what|which|where|when|how)((?: \w+)?) do (we|you|they|i) (.+)$", r"Tell me \1\2 \3 \4."),
    Rewording(r"^(what|who|where|when) (is|are|was|were) (.+)$", r"Do you know \1 \3 \2?"),
    Rewording(r"^(what|which|where|when|how)((?: \w+)?) do (we|you|they|i) (.+)$", r"Do you know \1\2 \3 \4?"),
    Rewording(rf"^what is ({NOUN})$", r"\1?"),
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
    "{Q}? Thanks!",
    "Quickly, {q}?",
    "Someone asks me: {q}?",
    "Before I go out, {q}?",
    "I am not sure. {Q}?",
    "Tell me again: {q}?",
    "{Q}, please?",
    "I have to write it down: {q}?",
    "So, {q}?",
    "Good morning. {Q}?",
    "It slipped my mind. {Q}?",
    "I was asked {q}.",
    "We have visitors. {Q}?",
    "I am at the shop, {q}?",
    "There is a form to fill in: {q}?",
    "My phone is broken, {q}?",
    "I am writing an e-mail, {q}?",
    "I will be home late. {Q}?",
    "The teacher asked {q}.",
    "I am making a list for the week, {q}?",
    "It is for a friend: {q}?",
    "The children keep asking. {Q}?",
    "I am on the phone with my sister, {q}?",
    "I just woke up. {Q}?",
)
SPANISH_REWORDINGS: tuple[Rewording, ...] = (
    Rewording(r"^cómo se llama (.+)$", r"¿Cuál es el nombre de \1?"),
    Rewording(r"^cuál es el nombre de (.+)$", r"¿Cómo se llama \1?"),
    Rewording(r"^cuál es (.+)$", r"¿Me dices \1?"),
    Rewording(r"^cuál es (.+)$", r"Dime \1."),
    Rewording(r"^(cómo|cuándo|dónde|quién|qué|cuántos|cuántas)\b(.*)$", r"Dime \1\2."),
    Rewording(r"^(cómo|cuándo|dónde|quién|qué|cuántos|cuántas)\b(.*)$", r"¿Sabes \1\2?"),
    Rewording(r"^a qué hora (.+)$", r"¿Cuándo \1?", same=False),
    Rewording(r"^qué día (.+)$", r"¿Cuándo \1?", same=False),
    Rewording(r"^dónde guardamos (.+)$", r"¿Dónde está \1?", same=False),
    Rewording(r"^cuál es (.+)$", r"¿\1?"),
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
    "¿{Q}? ¡Gracias!",
    "Rápido, ¿{q}?",
    "Me preguntan: ¿{q}?",
    "Antes de salir, ¿{q}?",
    "No estoy seguro. ¿{Q}?",
    "Dímelo otra vez: ¿{q}?",
    "¿{Q}, por favor?",
    "Tengo que apuntarlo: ¿{q}?",
    "Entonces, ¿{q}?",
    "Buenos días. ¿{Q}?",
    "No me acuerdo. ¿{Q}?",
    "Me han preguntado {q}.",
    "Tenemos visita. ¿{Q}?",
    "Estoy en la tienda, ¿{q}?",
    "Hay que rellenar un formulario: ¿{q}?",
    "Se me ha roto el móvil, ¿{q}?",
    "Estoy escribiendo un correo, ¿{q}?",
    "Llegaré tarde a casa. ¿{Q}?",
    "La profesora ha preguntado {q}.",
    "Estoy haciendo la lista de la semana, ¿{q}?",
    "Es para un amigo: ¿{q}?",
    "Los niños no paran de preguntar. ¿{Q}?",
    "Estoy al teléfono con mi hermana, ¿{q}?",
    "Me acabo de despertar. ¿{Q}?",
)


def trained_wordings(question: str, count: int, without: AbstractSet[str] = frozenset()) -> list[str]:
    """The question as it was asked and up to ``count - 1`` other ways of asking it, always the same ones.

    ``without``: keys of wordings that are left out (``wording_key``). A text that is no question (no known shape) gets
    the frames alone, so that it too is learned in company.
    """
    core = bare(question)
    if not core:
        return [question]
    reworded = [rule.form for rule in _reworded(question)]
    framed = _framed(question)
    telling = [word for word in plain(core).split() if word not in SMALL_WORDS]
    short = [plain(core), " ".join(telling), " ".join(reversed(telling))]
    # About half of the company are rewordings where there are so many; the frames fill what is left.
    half = max(1, (count - 1) // 2)
    # Frames of the second half, which a rewording is seldom seen in otherwise.
    half_of_frames = len(framed) // 2
    frames = slice(half_of_frames, half_of_frames + FRAMES_OF_A_REWORDING)
    both = [text for form in reworded if form.endswith("?") for text in _framed(form)[frames]]
    others = [short[0], *reworded[:half], *framed[:2], *short[1:], *framed[2:], *reworded[half:], *both]
    return distinct([question, *(text for text in others if wording_key(text) not in without)], count)


def same_question(question: str) -> list[str]:
    """The question without frames, and those rewordings of it that no other question has.

    Two askings of one thing share some of them.
    """
    core = _unframed(question)
    return [core, *(rule.form for rule in _reworded(core) if rule.same)]


def _unframed(question: str) -> str:
    """The question inside the frames of this module, itself where it stands in none."""
    text = " ".join(question.split())
    for frame in (*ENGLISH_FRAMES, *SPANISH_FRAMES):
        before, after = re.split(r"\{[qQ]\}", frame)
        inside = text[len(before) : len(text) - len(after)]
        if text == f"{before}{inside}{after}" and bare(inside):
            return _unframed(f"¿{inside}?" if "¿" in frame else f"{inside}?")
    return text


def _reworded(question: str) -> list[Rewording]:
    """The rules that fit a question, each with the wording that it makes as its form."""
    rules = SPANISH_REWORDINGS if language_of(question) == "es" else ENGLISH_REWORDINGS
    text = CONTRACTED.sub(r"\1 is", lowered(bare(question)))
    fitting = [rule for rule in rules if re.match(rule.pattern, text)]
    return [rule._replace(form=_raised_sentence(re.sub(rule.pattern, rule.form, text))) for rule in fitting]


def _framed(question: str) -> list[str]:
    core = bare(question)
    frames = SPANISH_FRAMES if language_of(question) == "es" else ENGLISH_FRAMES
    return [frame.format(q=lowered(core), Q=raised(core)) for frame in frames]


def _raised_sentence(text: str) -> str:
    opening = "¿" if text.startswith("¿") else ""
    return opening + raised(text.removeprefix("¿"))
