"""Other models' vocabularies read text into exactly the tokens that their makers' own tokenizers read."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.vocabulary import Vocabulary

# As llama.cpp's own test separates its texts.
BETWEEN = "\n__ggml_vocab_test__\n"
FAMILIES = [
    "bert-bge",
    "command-r",
    "deepseek-coder",
    "deepseek-llm",
    "falcon",
    "gemma-4",
    "gpt-2",
    "llama-bpe",
    "llama-spm",
    "mpt",
    "phi-3",
    "qwen2",
    "qwen35",
    "refact",
    "starcoder",
]


def test_no_vocabulary_that_comes_with_expected_tokens_is_left_out(llama_models: Path) -> None:
    found = {path.name.removeprefix("ggml-vocab-").removesuffix(".gguf.inp") for path in llama_models.glob("*.inp")}
    assert found == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_tokens_are_those_of_the_model_s_own_tokenizer(llama_models: Path, family: str) -> None:
    path = llama_models / f"ggml-vocab-{family}.gguf"
    texts = (llama_models / f"{path.name}.inp").read_bytes().decode().split(BETWEEN)
    lines = (llama_models / f"{path.name}.out").read_text().splitlines()
    vocabulary = Vocabulary.load(path)
    assert len(lines) > 40
    # After the last separator there may be nothing, which has no line.
    assert texts[len(lines) :] in ([], [""])
    for text, line in zip(texts, lines, strict=False):
        assert vocabulary.tokenize(text, special=False) == [int(number) for number in line.split()], text
    vocabulary.close()


@pytest.mark.parametrize("family", ["llama-bpe", "qwen2", "gemma-4"])
def test_every_control_token_is_found_by_its_text(llama_models: Path, family: str) -> None:
    vocabulary = Vocabulary.load(llama_models / f"ggml-vocab-{family}.gguf")
    assert len(vocabulary.control_texts) > 2
    for text in vocabulary.control_texts:
        assert vocabulary.token_text(vocabulary.control_token(text)) == text
    vocabulary.close()
