"""Yes and no: whether it is what the correction says, and whether it is what was wrongly said before."""

from __future__ import annotations

import re
from typing import NamedTuple

from configs.letters import unaccented
from trainer.teaching.sentences import (
    ENGLISH_BE,
    ENGLISH_VERBS,
    INSIDE_NAMES,
    NUMBERS,
    ORDERS,
    PRONOUNS,
    Statement,
    few_words,
    first_sentence,
    has_speakers,
    inside,
    is_fragment,
    is_name,
    one_sentence,
    statement_of,
)
from trainer.wordings.language import bare, language_of, raised

LONGEST_SPAN = 4  # words that may differ between right and wrong


class Difference(NamedTuple):
    """The words of the correction that are right, and those of the rejected answer that stand in their place."""

    right: str
    wrong: str


def difference(question: str, chosen: str, rejected: str) -> Difference | None:
    """Where right and wrong differ in a name, a number or a few words; None where they differ in more than that."""
    right = one_sentence(chosen)
    first = first_sentence(rejected)
    if not right or not first:
        return None
    found = _in_between(right, first) or _names_apart(question, right, first)
    if found or ", " not in first:
        return found
    # What stands before a comma may break off in the middle: a name or a number is whole.
    found = _in_between(right, first.split(", ")[0])
    return found if found and (is_name(found.wrong) or found.wrong.lower() in NUMBERS) else None


def confirmations(question: str, chosen: str, rejected: str, count: int) -> list[tuple[str, str]]:
    """Up to ``count`` times a question to say yes to and one to say no to, each with its answer."""
    apart = difference(question, chosen, rejected)
    sentence = one_sentence(chosen)
    # "Take bus 27" is neither so nor otherwise.
    if apart is None or sentence.split()[0].lower() in ORDERS or has_speakers(sentence):
        return []
    if rejected.strip().startswith(apart.wrong):
        # Its large letter may be that of the sentence which it began.
        apart = Difference(apart.right, few_words(apart.wrong, question))
    spanish = language_of(question) == "es"
    yes, no = ("Sí, ", "No, ") if spanish else ("Yes, ", "No, ")
    said = statement_of(question, chosen)
    if said is None and is_fragment(sentence):
        if sentence.split()[0].lower() in PRONOUNS:
            return []
        is_it, it_is = ("¿Es", "es") if spanish else ("Is it", "it is")
        told = f"{it_is} {few_words(sentence, question)}."
        both = (few_words(words, question) for words in (sentence, _put(sentence, apart)))
        pairs = [(f"{raised_question(question)} {is_it} {words}?", told) for words in both]
    else:
        whole = said.text.removesuffix(".") if said else sentence
        if _put(whole, apart) == whole:
            return []
        told = f"{inside(whole, question)}."
        pairs = [
            pair
            for forms in zip(
                _asked(whole, said, question),
                _asked(_put(whole, apart), _with(said, apart), question),
                strict=True,
            )
            for pair in ((forms[0], told), (forms[1], told))
        ]
    answers = [(text, (yes if number % 2 == 0 else no) + answer) for number, (text, answer) in enumerate(pairs)]
    return answers[: 2 * count]


def raised_question(question: str) -> str:
    """The question with its marks, large letter first."""
    mark = "¿{}?" if language_of(question) == "es" else "{}?"
    return mark.format(raised(bare(question)))


def _asked(sentence: str, said: Statement | None, question: str) -> list[str]:
    """Whether ``sentence`` is so, asked in two ways."""
    whole = inside(sentence, question)
    if language_of(question) == "es":
        return [f"¿{raised(sentence)}?", f"¿Es verdad que {whole}?"]
    true = f"Is it true that {whole}?"
    turned = _turned(said) if said else None
    return [turned or f"{raised(sentence)}, is that right?", true]


def _turned(said: Statement) -> str | None:
    """An English statement as a question."""
    verb, _, rest = said.predicate.partition(" ")
    if verb in ENGLISH_BE:
        return f"{raised(verb)} {said.subject} {rest}?"
    if verb in ENGLISH_VERBS - {"has", "have", "had", "do", "does", "did"}:
        return f"{raised(verb)} {said.subject} {rest}?"
    if verb.endswith("s") and len(verb) > 2:
        return f"Does {said.subject} {_base(verb)} {rest}?"
    return None


def _base(verb: str) -> str:
    """goes, go; has, have; studies, study; watches, watch; lives, live."""
    if verb in ("has", "does", "goes"):
        return {"has": "have", "does": "do", "goes": "go"}[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    return verb[:-2] if re.search(r"(?:ss|sh|ch|x|zz)es$", verb) else verb[:-1]


def _with(said: Statement | None, apart: Difference) -> Statement | None:
    if said is None:
        return None
    put = _put(said.predicate, apart)
    return None if put == said.predicate else Statement(said.language, said.subject, put, said.person)


def _put(text: str, apart: Difference) -> str:
    """``text`` with the wrong words in the place of the right ones."""
    pattern = rf"(?<!\w){re.escape(apart.right)}(?!\w)"
    return re.sub(pattern, lambda _: apart.wrong, text, count=1, flags=re.IGNORECASE)


def _in_between(right: str, wrong: str) -> Difference | None:
    """What differs between two sentences that begin or end alike, or between two answers in a few words."""
    one, other = right.split(), wrong.split()
    a, b = [_folded(word) for word in one], [_folded(word) for word in other]
    before = 0
    while before < min(len(a), len(b)) and a[before] == b[before]:
        before += 1
    after = 0
    while after < min(len(a), len(b)) - before and a[-1 - after] == b[-1 - after]:
        after += 1
    inner, outer = one[before : len(one) - after], other[before : len(other) - after]
    broken = any(word.endswith((",", ";")) for word in (*inner[:-1], *outer[:-1]))
    if not inner or not outer or max(len(inner), len(outer)) > LONGEST_SPAN or broken:
        return None
    # Nothing in common is a difference only between two answers of one or two words each.
    if before + after == 0 and max(len(inner), len(outer)) > 2:
        return None
    return Difference(_trimmed(inner), _trimmed(outer))


def _names_apart(question: str, right: str, wrong: str) -> Difference | None:
    """The one name or number of each, where neither the question nor the other holds it."""
    asked = {_folded(word) for word in question.split()}
    found = [_names(text, asked) for text in (right, wrong)]
    if [len(names) for names in found] != [1, 1] or _folded(found[0][0]) == _folded(found[1][0]):
        return None
    numeric = [any(c.isdigit() for c in names[0]) or names[0].lower() in NUMBERS for names in found]
    return Difference(found[0][0], found[1][0]) if numeric[0] == numeric[1] else None


def _names(text: str, asked: set[str]) -> list[str]:
    """Runs of words with a large letter (not the first word's) or of numbers, that were not asked about."""
    runs: list[list[str]] = []
    going = False
    for position, word in enumerate(text.split()):
        plain = word.strip(".,;:!?¿¡\"'“”«»()")
        named = (plain[:1].isupper() and position > 0 and plain != "I") or any(c.isdigit() for c in plain)
        named = (named or plain.lower() in NUMBERS) and _folded(plain) not in asked
        if named or (going and plain.lower() in INSIDE_NAMES):
            runs = runs if going else [*runs, []]
            runs[-1].append(plain)
        going = (named or (going and plain.lower() in INSIDE_NAMES)) and word[-1:] not in ".,;:!?"
    for run in runs:
        while run and run[-1].lower() in INSIDE_NAMES:
            run.pop()
    return [" ".join(run) for run in runs if run]


def _trimmed(words: list[str]) -> str:
    return " ".join(words).strip('.,;:!?¿¡"“”«»()')


def _folded(word: str) -> str:
    return re.sub(r"['’]s$", "", unaccented(word.strip(".,;:!?¿¡\"'“”«»()")))
