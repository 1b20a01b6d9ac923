"""Whether llama.cpp's grammar lets a text through."""

from __future__ import annotations

from pathlib import Path

from configs.home import Home
from configs.settings import load_settings
from engine.grammar import Grammar
from engine.vocabulary import Vocabulary

# As they are shipped.
LIMITS = load_settings(Home(Path("/nonexistent")), {}).engine.grammar


def accepts(vocabulary: Vocabulary, grammar: str, text: str) -> bool:
    """Whether ``text`` is one that ``grammar`` allows from its beginning to its end."""
    follower = Grammar(vocabulary, grammar, LIMITS)
    try:
        for character in text:
            # Character by character: a longer token could hold a control token's text.
            for token in vocabulary.tokenize(character, special=False):
                if not follower.allows(token):
                    return False
                follower.accept(token)
        assert vocabulary.eos is not None
        return follower.allows(vocabulary.eos)
    finally:
        follower.close()
