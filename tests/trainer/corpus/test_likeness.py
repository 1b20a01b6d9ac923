"""Documents that are nearly the same are found, in little memory, and others are not taken for them."""

from __future__ import annotations

import random

import numpy as np

from trainer.corpus.likeness import Likeness, Numbers, Signer, bands_for

WORDS = [f"palabra{number}" for number in range(3000)]


def changed(words: list[str], every: int) -> list[str]:
    """With every so many words exchanged for others."""
    return [f"otra{number}" if number % every == 0 else word for number, word in enumerate(words)]


def test_signatures_are_as_equal_as_the_documents_are_alike() -> None:
    signer, draw = Signer(512, 1), random.Random(3)
    for shared in (0, 100, 300, 500):
        one, other = draw.sample(WORDS[:1500], 500), draw.sample(WORDS[1500:], 500)
        other[:shared] = one[:shared]
        jaccard = shared / (1000 - shared)
        equal = float((signer.sign(one) == signer.sign(other)).mean())
        assert abs(equal - jaccard) < 0.08


def test_a_document_with_few_words_exchanged_is_found_and_another_is_not() -> None:
    signer, known, draw = Signer(128, 5), Likeness(128, 0.8), random.Random(5)
    documents = [draw.choices(WORDS, k=400) for _ in range(60)]
    for number, words in enumerate(documents):
        signature = signer.sign(words)
        assert not known.like(signature)
        known.keep(number, signature)
    # Of pieces of five words, every hundredth word exchanged leaves 95 of 100, and 90 of 100 alike.
    assert all(known.like(signer.sign(changed(words, 100))) for words in documents)
    # And every tenth half of them: a third alike.
    assert not any(known.like(signer.sign(changed(words, 10))) for words in documents)
    assert known.same(7)
    assert not known.same(1000)


def test_bands_find_documents_of_the_asked_likeness_nearly_always() -> None:
    for permutations, likeness in ((128, 0.8), (128, 0.5), (64, 0.9), (1, 0.9)):
        bands, values = bands_for(permutations, likeness)
        assert bands * values <= permutations
        assert 1 - (1 - likeness**values) ** bands >= min(0.95, likeness)


def test_numbers_are_found_as_a_dictionary_finds_them() -> None:
    draw, numbers, expected = np.random.default_rng(2), Numbers(), dict[int, int]()
    for document in range(300):
        # Few different ones, so that many are there already and many want the same place.
        keys = draw.integers(0, 2000, size=18, dtype=np.uint64) * np.uint64(1 << 40)
        for key in keys.tolist():
            expected.setdefault(key, document)
        numbers.add(keys, document)
    asked = np.arange(2200, dtype=np.uint64) * np.uint64(1 << 40)
    assert numbers.find(asked).tolist() == [expected.get(key, -1) for key in asked.tolist()]


def test_what_is_known_is_taken_up_again() -> None:
    signer, known = Signer(128, 5), Likeness(128, 0.8)
    for number in range(40):
        known.keep(number, signer.sign(WORDS[number * 50 : number * 50 + 100]))
    other = Likeness(128, 0.8)
    other.take_up(known.arrays())
    assert other.like(signer.sign(WORDS[:100]))
    assert other.same(39)
    other.keep(99, signer.sign(WORDS[2500:2600]))
    assert (other.count, other.like(signer.sign(WORDS[2500:2600]))) == (41, True)
