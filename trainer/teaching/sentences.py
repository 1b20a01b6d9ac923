"""Taking a correction apart by rule: of whom or what it speaks, and what it says of that, in English and Spanish.

Nothing is made of a correction whose shape is not known: a wrong sentence teaches worse than none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from configs.letters import unaccented
from configs.wordlists import words_of
from trainer.wordings.language import Language, bare, language_of, raised
from trainer.wordings.trained import CONTRACTED

LONGEST_STATEMENT = 25  # words; a longer sentence says more than one thing
LONGEST_FRAGMENT = 6

# What opens a sentence with a large letter there alone; not "ask" and the like, which open no statement.
OPENING = words_of(
    "the a an our my your his her its their we you they it there this that these those in on at by under over behind"
    " beside near next from with to for after before between every last all"
    " el la los las un una nuestro nuestra nuestros nuestras mi mis tu tus su sus en a al de del con por para sobre"
    " bajo debajo encima detrás delante junto desde entre cada hay se lo le cerca antes después todos todas"
)
PLACES = words_of(
    "in on at by under over behind beside near next from with to for after before between inside above below every"
    " en a al de del con por para sobre bajo debajo encima detrás delante junto desde entre dentro cerca antes después"
)
ORDERS = words_of(
    "ask call use try take go see look check read write tell put do don't never always please yes no"
    " pregunta pregúntale llama usa prueba toma coge ve mira lee escribe di pon haz nunca siempre sí"
)
PRONOUNS = words_of("we i you he she it they who what nosotros nosotras yo tú él ella ellos ellas usted se lo le")
ENGLISH_BE = words_of("is are was were")
ENGLISH_VERBS = ENGLISH_BE | words_of("has have had does do did can will must should would could may might")
FINITE = ENGLISH_VERBS | words_of("es son está están tiene tienen va van vive viven se hay era fue")
NO_VERBS = words_of("this his its always sometimes perhaps yes plus minus as us less besides towards ours yours hers")
SPANISH_VERB = re.compile(r"(?:se|es|son|está|están|era|fue|va|van|ha|han|\w+(?:a|e|an|en|ó|ía|ían|aron|ieron))")
# Whoever speaks says my where the other says your: such sentences would have to be turned about.
SPEAKERS = words_of("i me my mine myself you your yours yo mi mis me mío mía tú tu tus te ti usted contigo conmigo")
FOLDED_SPEAKERS = frozenset(map(unaccented, SPEAKERS))
# "It is Rosa", "Es Andrés": what answers begin with that say again what was asked.
ANSWERING = re.compile(
    r"(?:(?:it|he|she|that|this|they)(?:['’]s|['’]re| is| are)|es|son|est[áa]n?|se llaman?) ", re.IGNORECASE
)
# Where every letter counts.
SECRET = re.compile(r"password|passphrase|\bcode\b|\bpin\b|\buser|contraseña|\bclave\b|código|usuario")
TITLE = re.compile(r"\b(Dr|Dra|Mr|Mrs|Ms|Sr|Sra|St|Sta|Prof)\.(?= )")
# Who is asked for by them, and not what.
LIVING = words_of(
    "dog cat rabbit hamster parrot tortoise goldfish horse neighbour neighbor doctor dentist teacher plumber friend"
    " dad mum mom mother father grandma grandpa aunt uncle cousin brother sister nephew niece daughter son baby"
    " perro perra gato gata conejo coneja hámster loro canario tortuga caballo vecino vecina médico médica doctor"
    " doctora dentista profesor profesora maestra maestro amigo amiga papá mamá padre madre abuelo abuela tío tía primo"
    " prima hermano hermana sobrino sobrina hijo hija bebé"
)
# In the middle of a name: Elena de la Fuente, the House of Cards.
INSIDE_NAMES = words_of("de del la las los y of the and")
NUMBERS = words_of(
    "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred"
    " dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cuarenta cincuenta cien"
)


@dataclass(frozen=True)
class Statement:
    """``subject``: as inside a sentence, "our dog"; ``predicate``: "is called Toby", without its full stop.

    ``completed``: whether a few words were made a sentence, so that a large letter may be that of their beginning.
    """

    language: Language
    subject: str
    predicate: str
    person: bool
    completed: bool = False

    @property
    def living(self) -> bool:
        """Whether the subject is asked for with who: a person, or one of the animals of a house."""
        return self.person or any(
            word in LIVING or word.removesuffix("s") in LIVING for word in self.subject.lower().split()
        )

    @property
    def text(self) -> str:
        return f"{raised(self.subject)} {self.predicate}."


class Fragment(NamedTuple):
    """A shape of a bare question, and what of it and of an answer in a few words makes a sentence.

    ``needs``: what the answer has to begin with.
    """

    pattern: str
    subject: str
    verb: str
    needs: Literal["anything", "place", "day"] = "anything"


ENGLISH_FRAGMENTS = (
    Fragment(r"^what is the name of (.+)$", r"\1", "is called"),
    Fragment(r"^what is (.+) called$", r"\1", "is called"),
    Fragment(r"^what colou?r (is|are) (.+)$", r"\2", r"\1"),
    Fragment(r"^(?:what|who) (is|are|was|were) (.+)$", r"\2", r"\1"),
    Fragment(r"^(?:where|when) (is|are|was|were) (.+)$", r"\2", r"\1", "place"),
)
SPANISH_FRAGMENTS = (
    Fragment(r"^cómo se (llaman?) (.+)$", r"\2", r"se \1"),
    Fragment(r"^de qué color (es|son) (.+)$", r"\2", r"\1"),
    Fragment(r"^(?:cuál|cuáles|quién|quiénes) (es|son|era|fue) (.+)$", r"\2", r"\1"),
    Fragment(r"^dónde (está|están) (.+)$", r"\2", r"\1", "place"),
    Fragment(r"^cuándo (es|son) (.+)$", r"\2", r"\1", "day"),
)


def statement_of(question: str, answer: str) -> Statement | None:
    """What ``answer`` says as a sentence whose subject the question names; None where the rules find no such thing.

    "Our dog is called Toby." says it as it is; "Toby." says it with what the question asks.
    """
    sentence = one_sentence(answer)
    language = language_of(question)
    if not sentence or has_speakers(f"{question} {sentence}"):
        return None
    said = _spoken(question, sentence, language)
    return said or _completed(question, ANSWERING.sub("", sentence, count=1) if ANSWERING.match(sentence) else sentence)


def has_speakers(text: str) -> bool:
    """Whether a text says I or you, in whatever form."""
    return any(_folded(word) in FOLDED_SPEAKERS for word in re.split(r"[\s'’]+", text))


def is_fragment(sentence: str) -> bool:
    """Whether an answer is a few words and no sentence, as far as that can be seen."""
    words = sentence.lower().split()
    if len(words) > LONGEST_FRAGMENT or any(w in FINITE or w.endswith(("amos", "emos", "imos")) for w in words):
        return False
    return len(words) <= 2 or is_name(sentence) or words[0] in OPENING | NUMBERS or words[0][0].isdigit()


def one_sentence(answer: str) -> str:
    """The answer without its full stop where it is one plain sentence, else nothing."""
    text = answer.strip()
    plain = "\n" not in text and len(text.split()) <= LONGEST_STATEMENT and not re.search(r"[*#`|{}<>]", text)
    ended = TITLE.sub(r"\1", text).removesuffix(".").removesuffix("!")
    return ended if plain and ended and not re.search(r"[.!?…:](?:\s|$)", ended) else ""


def first_sentence(answer: str) -> str:
    """What an answer says first, without its full stop."""
    text = TITLE.sub(r"\1", answer.strip())
    return re.split(r"[.!?;\n](?:\s|$)", text, maxsplit=1)[0].rstrip(".!?")


def few_words(words: str, question: str) -> str:
    """An answer in a few words as it stands inside a sentence: a name keeps its large letter, what is none does not."""
    if SECRET.search(question.lower()):
        return words
    colour = re.search(r"\bcolou?r\b", question.lower())
    is_none = colour or (len(words.split()) > 1 and not is_name(words))
    return words[:1].lower() + words[1:] if is_none else inside(words, question)


def inside(sentence: str, question: str) -> str:
    """A sentence as it stands after "Yes, ": small where the sentence alone made the letter large."""
    first = sentence.split(" ", 1)[0]
    small = first.lower()
    lowers = small in OPENING or small in (word.strip("¿?¡!.,") for word in question.split())
    return sentence[:1].lower() + sentence[1:] if lowers and first not in ("I", "I'm") else sentence


def is_name(text: str) -> bool:
    """Whether every word is a name or holds a digit: what names one thing, not a kind of things."""
    words = text.split()
    said = [word for word in words if word.lower() not in INSIDE_NAMES]
    return 0 < len(said) <= 4 and all(w[:1].isupper() or any(c.isdigit() for c in w) for w in said)


def begins_with_place(text: str) -> bool:
    """Whether a text begins with in, under, debajo and the like."""
    return text.split(" ", 1)[0].lower() in PLACES


def _spoken(question: str, sentence: str, language: Language) -> Statement | None:
    """A sentence that begins with what the question names, and goes on with a verb."""
    asked = bare(CONTRACTED.sub(r"\1 is", question)).split()
    folded = [_folded(word) for word in asked]
    words = sentence.split()
    for length in range(len(words) - 2, 0, -1):
        wanted = [_folded(word) for word in words[:length]]
        starts = (at for at in range(len(folded) - length + 1) if folded[at : at + length] == wanted)
        start = next(starts, None)
        if start is None or not _is_verb(words[length], language):
            continue
        # In the middle of the question the letters are as they are written inside a sentence.
        subject = " ".join(asked[start : start + length] if start else words[:length]).strip(",;")
        if subject.lower() in PRONOUNS or subject.lower() in OPENING:
            return None
        person = bool(start) and _is_person(subject)
        return Statement(language, subject, " ".join(words[length:]), person)
    return None


def _is_person(subject: str) -> bool:
    """Marta, Uncle Andrés, el tío Andrés; neither el colegio Olivar nor Marta's school."""
    words = [word for word in subject.split() if word.lower() not in LIVING]
    words = words[1:] if words[:1] and words[0] in ("el", "la", "the", "our", "nuestro", "nuestra") else words
    bare_name = words == subject.split() or len(words) < len(subject.split()) - 1 or subject[:1].isupper()
    kin_alone = not words and subject[:1].isupper()
    return kin_alone or (
        bool(words) and bare_name and all(word[:1].isupper() and not word.endswith(("'s", "’s")) for word in words)
    )


def _completed(question: str, words: str) -> Statement | None:
    """A few words that answer a question of a known shape."""
    first = words.split(" ", 1)[0]
    opens = re.split(r"['’]", first.lower())[0]
    language = language_of(question)
    few = len(words.split()) <= LONGEST_FRAGMENT and "," not in words and opens not in ORDERS | PRONOUNS
    if not few or any(_is_verb(word, language) for word in words.split() if word in ENGLISH_VERBS):
        return None
    placed = begins_with_place(words)
    day = placed or first.lower() in ("el", "los")
    short = len(words.split()) <= 2 or first.lower() in OPENING | NUMBERS
    if not (placed or short or is_name(words)):
        return None
    core = CONTRACTED.sub(r"\1 is", bare(question)[:1].lower() + bare(question)[1:])
    for shape in SPANISH_FRAGMENTS if language == "es" else ENGLISH_FRAGMENTS:
        found = re.match(shape.pattern, core)
        fits = {"anything": not placed, "place": placed, "day": day}[shape.needs]
        if found and fits and found.expand(shape.subject).lower() not in PRONOUNS:
            said = f"{found.expand(shape.verb)} {few_words(words, question)}"
            return Statement(language, found.expand(shape.subject), said, person=False, completed=True)
    return None


def _is_verb(word: str, language: Language) -> bool:
    if word != word.lower():
        return False
    if language == "es":
        return bool(SPANISH_VERB.fullmatch(word)) and (word == "se" or word not in OPENING)
    inflected = re.fullmatch(r"[a-z]{2,}(?:s|ed)", word) and word not in NO_VERBS and not word.endswith("ss")
    return word in ENGLISH_VERBS or bool(inflected)


def _folded(word: str) -> str:
    return unaccented(word.strip(".,;:!?¿¡\"'“”«»()"))
