"""How many tokens a text takes, beside other models' vocabularies: the fewer, the more of it a model sees at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.vocabulary import Vocabulary
from trainer.tokenizer.tokenizer import Tokenizer


@dataclass(frozen=True)
class Fertility:
    """Of one vocabulary on a text. ``words``: what stands between blanks; ``bytes``: in UTF-8."""

    name: str
    vocabulary: int
    tokens: int
    words: int
    bytes: int

    def as_json(self) -> dict[str, object]:
        """With tokens a word and bytes a token."""
        a_word, a_token = self.tokens / max(1, self.words), self.bytes / max(1, self.tokens)
        return {**vars(self), "tokens_a_word": a_word, "bytes_a_token": a_token}


def fertilities(own: Tokenizer, others: Iterable[tuple[str, Path]], texts: Sequence[str]) -> list[Fertility]:
    """Of the tokenizer, and of the vocabularies in the GGUF files of ``others``, on ``texts``. Raises ModelBroken."""
    rows = [_row("own", own.vocabulary, lambda text: len(own.encode([text])[0]), texts)]
    for name, path in others:
        vocabulary = Vocabulary.load(path)
        try:
            rows.append(_row(name, vocabulary.size, lambda text: len(vocabulary.tokenize(text, special=False)), texts))  # noqa: B023
        finally:
            vocabulary.close()
    return rows


def _row(name: str, size: int, count: Callable[[str], int], texts: Sequence[str]) -> Fertility:
    words, content = sum(len(text.split()) for text in texts), sum(len(text.encode()) for text in texts)
    return Fertility(name, size, sum(map(count, texts)), words, content)
