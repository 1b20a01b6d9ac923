"""How a conversation is written for a model of one's own: ChatML, with the special tokens of its tokenizer.

https://github.com/openai/openai-python/blob/release-v0.28.0/chatml.md
"""

from __future__ import annotations

from typing import Final

from trainer.tokenizer.tokenizer import Tokenizer

OPENING, CLOSING = "<|im_start|>", "<|im_end|>"
TEMPLATE: Final = (
    "{%- for message in messages -%}"
    f"{{{{- '{OPENING}' + message['role'] + '\\n' + message['content'] + '{CLOSING}' + '\\n' -}}}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}"
    f"{{{{- '{OPENING}assistant\\n' -}}}}"
    "{%- endif -%}"
)


def chat_template(tokenizer: Tokenizer) -> str | None:
    """The Jinja template, or None where the tokenizer has no tokens for turns."""
    return TEMPLATE if {OPENING, CLOSING} <= set(tokenizer.special) else None


def turn_end(tokenizer: Tokenizer) -> int:
    """The token that ends an answer: that of a turn, or of a document where there is none."""
    return tokenizer.id_of(CLOSING) if CLOSING in tokenizer.special else tokenizer.end
