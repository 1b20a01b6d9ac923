"""Which of the family's lessons are trained when not everybody means well, or the same: the rules before any training.

A gate sees what weights do, and not whose word it was. So two members who contradict each other are asked, what one
member teaches in a night is bounded, and the same taught many times over counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from configs.sections.defence import DefenceSettings
from configs.sections.training import RecipeSettings
from memory.errors import NoSnapshot
from memory.household import Household
from memory.lessons import Lesson, same_words
from memory.matching import says_the_same
from trainer.admission import admitted
from trainer.lessons import Dropped, TrainingLesson
from trainer.settling import Key, question_keys, settled
from trainer.wordings.language import plain

CONTRADICTED = "contradicted"


@dataclass(frozen=True)
class Standing:
    """What is known of lessons beside their words: ids of those ``judged`` by some training and ``learned`` by the
    snapshot in force, and of the members who administer (``admins``).
    """

    judged: frozenset[str]
    learned: frozenset[str]
    admins: frozenset[str]


def family_lessons(
    household: Household, settings: DefenceSettings, recipe: RecipeSettings
) -> tuple[list[TrainingLesson], list[Dropped]]:
    """The shared lessons that ``recipe`` trains, oldest first, and those that are not, each with its reason."""
    try:
        run = household.snapshots.current().run
    except NoSnapshot:
        run = None
    admins = frozenset(member.id for member in household.members.list() if member.admin)
    learned = household.runs.lessons(run) if run else frozenset()
    standing = Standing(household.runs.judged_lessons(), learned, admins)
    return defended(household.corrections(), standing, settings, recipe)


def defended(
    lessons: Iterable[Lesson], standing: Standing, settings: DefenceSettings, recipe: RecipeSettings
) -> tuple[list[TrainingLesson], list[Dropped]]:
    """The same of ``lessons``, oldest first."""
    told = list(lessons)
    members = {lesson.id: lesson.member for lesson in told}
    kept, dropped = admitted(told, recipe)
    for rule in (
        lambda left: _within_cap(left, members, standing.judged, settings.most_a_member),
        lambda left: _uncontradicted(left, members, standing),
        settled,
        lambda left: _folded(left, settings.alike),
    ):
        kept, left_out = rule(kept)
        dropped += left_out
    return kept, dropped


def _within_cap(
    lessons: Sequence[TrainingLesson], members: Mapping[str, str], judged: Collection[str], most: int
) -> tuple[list[TrainingLesson], list[Dropped]]:
    """Of what no training has judged yet, so many of each member's, the oldest; the others wait for the next night."""
    new: Counter[str] = Counter()
    kept, dropped = [], []
    for lesson in lessons:
        new[members[lesson.id]] += lesson.id not in judged
        if lesson.id in judged or new[members[lesson.id]] <= most:
            kept.append(lesson)
        else:
            dropped.append(Dropped(lesson.id, "capped", lesson.question))
    return kept, dropped


def _uncontradicted(
    lessons: Sequence[TrainingLesson], members: Mapping[str, str], standing: Standing
) -> tuple[list[TrainingLesson], list[Dropped]]:
    """Without what members answer in different ways to one question, each by the last that they said of it.

    Where whoever administers has said something, that counts, and else what the snapshot in force has learned.
    """
    against: dict[str, str] = {}
    for asked in same_questions(lessons):
        last = {members[lesson.id]: lesson for lesson in asked}
        said = list(last.values())
        word = [each for each in said if members[each.id] in standing.admins]
        word = word or [each for each in said if each.id in standing.learned]
        # Two who administer, and two that were learned, settle nothing.
        decides = word[-1] if word and all(agree(each, word[-1]) for each in word) else None
        for each in said:
            others = [decides] if decides else said
            other = next((other for other in reversed(others) if not agree(each, other)), None)
            if other is not None:
                against |= {lesson.id: other.id for lesson in asked if members[lesson.id] == members[each.id]}
    kept = [lesson for lesson in lessons if lesson.id not in against]
    dropped = [
        Dropped(lesson.id, CONTRADICTED, lesson.question, by=against[lesson.id])
        for lesson in lessons
        if lesson.id in against
    ]
    return kept, dropped


def _folded(lessons: Sequence[TrainingLesson], alike: float) -> tuple[list[TrainingLesson], list[Dropped]]:
    """Of lessons that teach one answer to questions of nearly the same words the latest, and the earlier ones."""
    words = {lesson.id: frozenset(plain(lesson.question).split()) for lesson in lessons}
    latest: dict[str, list[TrainingLesson]] = {}
    dropped = []
    for lesson in reversed(lessons):
        known = latest.setdefault(same_words(lesson.chosen), [])
        twin = next((each for each in known if _common(words[each.id], words[lesson.id]) >= alike), None)
        # After other turns it may be another question.
        if twin is None or len(lesson.messages) > 1 or len(twin.messages) > 1:
            known.append(lesson)
        else:
            dropped.append(Dropped(lesson.id, "repeated", lesson.question, by=twin.id))
    gone = {each.id for each in dropped}
    return [lesson for lesson in lessons if lesson.id not in gone], dropped[::-1]


def same_questions(lessons: Sequence[TrainingLesson]) -> list[list[TrainingLesson]]:
    """The lessons by what they are asked for, as ``settled`` tells questions apart; oldest first."""
    place: dict[Key, int] = {}
    found: list[list[TrainingLesson]] = []
    for lesson in reversed(lessons):
        keys = question_keys(lesson)
        number = next((place[key] for key in keys if key in place), len(found))
        if number == len(found):
            found.append([])
            place |= dict.fromkeys(keys, number)
        found[number].insert(0, lesson)
    return found


def agree(one: TrainingLesson, other: TrainingLesson) -> bool:
    """Whether two lessons of one question say the same, by their content."""
    return same_words(one.chosen) == same_words(other.chosen) or all(
        says_the_same(a.chosen, question=b.question, chosen=b.chosen) for a, b in ((one, other), (other, one))
    )


def _common(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0
