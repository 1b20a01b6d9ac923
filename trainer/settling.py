"""Of several lessons about one question the latest alone is trained; and which questions are one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from configs.wordlists import words_of
from memory.lessons import same_words
from trainer.lessons import Dropped, TrainingLesson
from trainer.wordings.language import bare, language_of, plain, wording_key
from trainer.wordings.trained import CONTRACTED, EVERY, SMALL_WORDS, same_question, trained_wordings

# What is said of somebody or something that only the earlier turns name.
ENGLISH_POINTERS = words_of(
    "he she it they him them his hers its their theirs that this those these there then one ones it's he's she's"
    " they're that's"
)
SPANISH_POINTERS = words_of(
    "él ella ello ellos ellas eso esa ese esos esas esto este esta estos estas ahí allí aquí su sus suyo suya entonces"
)
CONTINUING = words_of("and but or so then y e o pero entonces")
VERBS = words_of("is are was were am do does did has have can could should will would must")
DETERMINERS = words_of("el la los las un una nuestro nuestra nuestros nuestras mi mis tu tus")
# Words that say what is asked and nothing of what it is asked about.
ASKING = words_of(
    "time day year old many much long far often name called año años hora día llama llaman tiene tienen hay"
)

Key = tuple[str, ...]


def settled(lessons: Sequence[TrainingLesson]) -> tuple[list[TrainingLesson], list[Dropped]]:
    """Of lessons (oldest first) the latest one of each question, and the earlier ones, which name it.

    A question is the same in other case, accents or punctuation, and in the wordings that the rules make of it; one
    that leans on the turns before it is the same after the same turns alone. Nothing of an earlier lesson goes to the
    latest: whoever withdraws it later takes back all that was trained of it.
    """
    counting: dict[Key, str] = {}
    latest: dict[str, TrainingLesson] = {}
    dropped = []
    for lesson in reversed(lessons):
        keys = question_keys(lesson)
        winner = next((latest[counting[key]] for key in keys if key in counting), None)
        if winner is None:
            latest[lesson.id] = lesson
            counting |= dict.fromkeys(keys, lesson.id)
            continue
        repeated = same_words(lesson.chosen) == same_words(winner.chosen)
        dropped.append(Dropped(lesson.id, "repeated" if repeated else "replaced", lesson.question, by=winner.id))
    return list(reversed(latest.values())), dropped[::-1]


def wordings_apart(lessons: Sequence[TrainingLesson], count: int) -> dict[str, list[str]]:
    """By lesson, up to ``count`` trained wordings, none of which another lesson answers in another way.

    "When is the party?" is what the rules make of its day and of its hour: trained with both answers it would
    teach neither. A lesson's own question always stays.
    """
    claims: dict[Key, set[str]] = {}
    for lesson in lessons:
        for wording in trained_wordings(lesson.question, EVERY):
            claims.setdefault(_key(lesson, wording), set()).add(same_words(lesson.chosen))
    found = {}
    for lesson in lessons:
        every = trained_wordings(lesson.question, EVERY)
        disputed = {wording_key(wording) for wording in every if len(claims[_key(lesson, wording)]) > 1}
        disputed.discard(wording_key(lesson.question))
        found[lesson.id] = trained_wordings(lesson.question, count, without=disputed)
    return found


def leans(question: str) -> bool:
    """Whether a question can be understood only with what was said before: "And on Sundays?", "¿Dónde vive?"."""
    words = re.findall(r"\w+(?:['’]\w+)?", question.lower().replace("’", "'"))
    spanish = language_of(question) == "es"
    if not words or words[0] in CONTINUING or set(words) & (SPANISH_POINTERS if spanish else ENGLISH_POINTERS):
        return True
    content = [word for word in plain(question).split() if word not in SMALL_WORDS | VERBS and word not in ASKING]
    if len(content) > 1 or not content:
        return not content
    if not spanish:
        return not set(plain(CONTRACTED.sub(r"\1 is", question.lower())).split()) & VERBS
    # One word may be a verb that leaves out of whom it speaks, but not after an article, as "we", or as a name.
    named = any(word[:1].isupper() for word in bare(question).split()[1:])
    return not (named or set(words) & DETERMINERS or content[0].endswith("mos"))


def question_keys(lesson: TrainingLesson) -> list[Key]:
    """The wordings of a lesson's question as they are compared: two lessons that share one answer one question."""
    return [_key(lesson, wording) for wording in same_question(lesson.question)]


def _key(lesson: TrainingLesson, wording: str) -> Key:
    """A wording as it is compared: with the turns before it, if the lesson's question leans on them."""
    before = [message for message in lesson.messages[:-1] if message.role != "system"]
    turns = [f"{message.role} {wording_key(message.content)}" for message in before] if leans(lesson.question) else []
    return (*turns, wording_key(wording))
