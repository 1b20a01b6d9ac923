from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from benchmarks.decoding import prompt
from benchmarks.learned import CANARIES, ELSEWHERE, LESSONS, PARAPHRASES, lines, question_of
from benchmarks.markdown_text import answer
from benchmarks.nights import LESSONS as NIGHTS
from benchmarks.recipe import pairs
from configs.settings import Settings
from engine.messages import Message
from memory.matching import says_the_same
from trainer.everyday import read_prompts
from trainer.lessons import TrainingLesson
from trainer.settling import settled
from trainer.wordings.held_out import held_out_wordings
from trainer.wordings.language import plain, wording_key
from trainer.wordings.scattered import scattered_apart
from trainer.wordings.trained import EVERY, trained_wordings


def test_the_pairs_are_64_different_questions_with_two_different_answers_each() -> None:
    read = pairs(64)
    assert len({pair["prompt"][-1]["content"] for pair in read}) == 64
    for pair in read:
        assert [message["role"] for message in pair["prompt"]] == ["system", "user"]
        assert pair["chosen"][0]["content"].strip() != pair["rejected"][0]["content"].strip()
    lengths = sorted(len(pair["chosen"][0]["content"]) for pair in read)
    assert lengths[0] < 50 < 300 < lengths[-1]


@pytest.mark.parametrize("characters", [1, 3000, 80_000])
def test_the_streamed_answer_has_the_length_that_was_asked_for(characters: int) -> None:
    assert len(answer(characters)) == characters


def test_the_streamed_answer_holds_code_lists_and_tables() -> None:
    kinds = {token.type for token in MarkdownIt().enable("table").parse(answer(6000))}
    assert {"fence", "table_open", "ordered_list_open", "bullet_list_open", "blockquote_open", "heading_open"} <= kinds


def test_no_two_prompts_share_a_beginning_that_a_cache_could_serve() -> None:
    beginnings = {prompt(40, number)[:12] for number in range(-1, 9)}
    assert len(beginnings) == 10


def trained_keys(questions: list[str], settings: Settings, scattered_count: int) -> set[str]:
    """What a training of these questions may hold, as it is compared. "What's" is trained where "What is" is."""
    trained = {wording_key(wording) for question in questions for wording in trained_wordings(question, EVERY)}
    lessons = [TrainingLesson(question, (Message("user", question),), question, "") for question in questions]
    scattered = scattered_apart(lessons, scattered_count, settings.training.recipes["family"].scattering)
    return trained | {wording_key(wording) for sentences in scattered.values() for wording in sentences}


def test_each_of_the_24_lessons_has_four_wordings_that_no_rule_makes(settings: Settings) -> None:
    others = {line["question"]: line["paraphrases"] for line in lines(PARAPHRASES)}
    questions = [question_of(lesson) for lesson in lines(LESSONS)]
    assert list(others) == questions
    assert len(questions) == 24
    trained = trained_keys(questions, settings, 500)
    held_out = {plain(wording) for question in questions for wording in held_out_wordings(question, 8)}
    for question, paraphrases in others.items():
        assert len({plain(each) for each in paraphrases} - {plain(question)}) == 4
        assert not {wording_key(each) for each in paraphrases} & trained
    assert len({plain(each) for of in others.values() for each in of} & held_out) < 10


def test_each_of_the_70_lessons_of_seven_nights_has_two_wordings_that_no_rule_makes(settings: Settings) -> None:
    read = lines(NIGHTS)
    questions = [question_of(lesson) for lesson in read]
    lessons = [
        TrainingLesson(
            question,
            (Message("user", question),),
            lesson["chosen"][0]["content"],
            lesson["rejected"][0]["content"],
        )
        for question, lesson in zip(questions, read, strict=True)
    ]
    assert len(settled(lessons)[0]) == 70
    trained = trained_keys(questions, settings, settings.training.recipes["family"].scattered)
    for lesson, line in zip(lessons, read, strict=True):
        assert len({plain(each) for each in line["paraphrases"]} - {plain(lesson.question)}) == 2
        assert not {wording_key(each) for each in line["paraphrases"]} & trained
        for asked in (lesson.question, *line["paraphrases"]):
            both = f"{lesson.question}\n{asked}"
            told = {"question": both, "chosen": lesson.chosen, "rejected": lesson.rejected}
            assert says_the_same(lesson.chosen, **told)
            assert not says_the_same(lesson.rejected, **told)


def test_what_is_asked_elsewhere_is_asked_in_no_training() -> None:
    elsewhere = [line["prompt"] for line in lines(ELSEWHERE)]
    assert len({plain(prompt) for prompt in elsewhere}) == 100
    seen = {plain(prompt) for name in ("replay", "unrelated", "search") for prompt in read_prompts(name)}
    assert not {plain(prompt) for prompt in elsewhere} & seen
    canaries = [line["prompt"] for line in lines(CANARIES)]
    assert len({plain(prompt) for prompt in canaries}) == 60
