"""A small run with its corpus and its tokenizer where a run looks for them."""

from __future__ import annotations

from pathlib import Path

from configs.home import Home
from configs.pretraining.composing import compose
from configs.pretraining.places import Places
from tests.trainer.pretraining.tiny import small
from trainer.corpus.index import Split
from trainer.corpus.shard_writer import ShardWriter
from trainer.tokenizer.tokenizer import Tokenizer

TEXT: dict[Split, str] = {"train": "La casa es blanca. " * 60, "validation": "La mesa es de madera. " * 20}


def written_corpus(home: Home, *changed: str) -> Places:
    """Of bytes, in ``home``."""
    places = Places(home, compose("smoke", small(*changed), home, Path.cwd()).run)
    data, vocabulary = places.run.data, places.run.model.vocabulary
    tokenizer = Tokenizer.train([], vocabulary, data.tokenizer.special_tokens, data.tokenizer.lowest_count)
    tokenizer.save(places.tokenizer)
    writer = ShardWriter(
        places.corpus,
        vocabulary=vocabulary,
        end=tokenizer.end,
        tokenizer=tokenizer.sha256,
        shard_tokens=data.shard_tokens,
    )
    for split, text in TEXT.items():
        writer.add(split, tokenizer.encode([text])[0], len(text.encode()))
    writer.finish()
    return places
