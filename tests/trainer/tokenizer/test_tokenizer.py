"""A trained tokenizer: the same ids in llama.cpp, and special tokens that no text is read as."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from engine.messages import Message
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary
from tests.trainer.tokenizer.texts import CODE, ENGLISH, OTHER, SPANISH, mixed
from tests.trainer.tokenizer.vocabulary_file import llama_vocabulary
from trainer.tokenizer.chat import chat_template
from trainer.tokenizer.errors import TokenizerBroken, TokenizerMissing, VocabularyNotReached
from trainer.tokenizer.forms import write_hugging_face
from trainer.tokenizer.tokenizer import Tokenizer

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    return Tokenizer.train(mixed(60_000), 800, SPECIAL, lowest_count=2)


@pytest.fixture(scope="module")
def llama(trained: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    return llama_vocabulary(tmp_path_factory.mktemp("vocabulary") / "v.gguf", trained)


def test_llama_cpp_reads_mixed_text_into_the_same_ids(trained: Tokenizer, llama: Vocabulary) -> None:
    texts = [*SPANISH, *ENGLISH, *CODE, *OTHER, *mixed(40_000, seed=8), "", " ", "\n", "a" * 3000]
    for text, ids in zip(texts, trained.encode(texts), strict=True):
        assert llama.tokenize(text, special=False) == ids, text


@pytest.mark.soak
def test_llama_cpp_reads_ten_million_characters_into_the_same_ids(trained: Tokenizer, llama: Vocabulary) -> None:
    for seed in range(100):
        texts = mixed(100_000, seed=1000 + seed)
        for text, ids in zip(texts, trained.encode(texts), strict=True):
            assert llama.tokenize(text, special=False) == ids, text


@pytest.mark.soak
def test_llama_cpp_takes_every_character_for_what_the_trainer_takes_it(trained: Tokenizer, llama: Vocabulary) -> None:
    for start in range(0, 0x110000, 4096):
        letters = [chr(code) for code in range(start, start + 4096) if not 0xD800 <= code < 0xE000]
        texts = [f"a{letter}b {letter}1.{letter}{letter}\n{letter} x" for letter in letters]
        for text, ids in zip(texts, trained.encode(texts), strict=True):
            assert llama.tokenize(text, special=False) == ids, ascii(text)


def test_every_text_comes_back_to_the_letter(trained: Tokenizer) -> None:
    texts = mixed(20_000, seed=9)
    for text, ids in zip(texts, trained.encode(texts), strict=True):
        assert trained.decode(ids) == text.encode(errors="replace").decode()
        assert trained.byte_lengths[ids].sum() == len(text.encode(errors="replace"))


def test_a_text_that_looks_like_a_special_token_is_text(trained: Tokenizer, llama: Vocabulary) -> None:
    (ids,) = trained.encode(["".join(SPECIAL)])
    assert {trained.id_of(text) for text in SPECIAL}.isdisjoint(ids)
    assert trained.decode(ids) == "".join(SPECIAL)
    # What is written to disk is read by others: there they are special tokens.
    assert set(SPECIAL) == set(llama.control_texts)
    assert llama.tokenize("".join(SPECIAL), special=True) == [trained.id_of(text) for text in SPECIAL]


def test_both_ends_end_an_answer_and_nothing_is_put_before_a_text(trained: Tokenizer, llama: Vocabulary) -> None:
    assert llama.size == trained.vocabulary == 800
    assert [number for number in range(800) if llama.is_end(number)] == [trained.end, trained.id_of("<|im_end|>")]
    assert llama.eos == trained.id_of("<|im_end|>")
    assert not llama.adds_bos


def test_the_chat_template_writes_turns_that_no_message_can_forge(trained: Tokenizer, llama: Vocabulary) -> None:
    template = ChatTemplate.of(chat_template(trained), llama, now=lambda: datetime(2026, 1, 1))
    said = [Message("system", "Eres Enlace."), Message("user", "¿Qué tal?"), Message("assistant", "Bien.")]
    assert template.render(said, add_generation_prompt=True) == (
        "<|im_start|>system\nEres Enlace.<|im_end|>\n<|im_start|>user\n¿Qué tal?<|im_end|>\n"
        "<|im_start|>assistant\nBien.<|im_end|>\n<|im_start|>assistant\n"
    )
    forbidden = template.forbidden(llama)
    assert forbidden is not None
    assert forbidden.search("di <|im_end|>")


def test_the_same_texts_train_the_same_tokenizer(trained: Tokenizer) -> None:
    assert Tokenizer.train(mixed(60_000), 800, SPECIAL, lowest_count=2).sha256 == trained.sha256


def test_bytes_alone_are_a_tokenizer_too(tmp_path: Path) -> None:
    alone = Tokenizer.train(iter(()), 259, SPECIAL, lowest_count=2)
    (ids,) = alone.encode(["año"])
    assert len(ids) == 4
    assert llama_vocabulary(tmp_path / "bytes.gguf", alone).tokenize("año \x00\x00", special=False)[:4] == ids
    assert alone.byte_lengths.tolist() == [1] * 256 + [0] * 3


def test_a_text_too_small_for_its_vocabulary_is_told(tmp_path: Path) -> None:
    with pytest.raises(VocabularyNotReached) as told:
        Tokenizer.train(["una línea"], 8192, SPECIAL, lowest_count=2)
    assert told.value.facts == {"wanted": 8192, "reached": 259}


def test_a_tokenizer_is_read_as_it_was_written(trained: Tokenizer, tmp_path: Path) -> None:
    write_hugging_face(tmp_path, trained, context=512)
    loaded = Tokenizer.load(tmp_path)
    assert (loaded.sha256, loaded.special, loaded.end) == (trained.sha256, SPECIAL, 797)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert (config["eos_token"], config["pad_token"]) == ("<|im_end|>", "<|endoftext|>")


def test_a_tokenizer_that_is_none_is_told_as_such(trained: Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(TokenizerMissing):
        Tokenizer.load(tmp_path)
    trained.save(tmp_path)
    path = tmp_path / "tokenizer.json"
    for content in (path.read_text()[:-40], "{}", "[]"):
        path.write_text(content)
        with pytest.raises(TokenizerBroken):
            Tokenizer.load(tmp_path)
