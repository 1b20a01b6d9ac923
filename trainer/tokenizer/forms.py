"""A tokenizer as other programs read it: the fields of a GGUF, and the files of Hugging Face's form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trainer.room import write_whole
from trainer.tokenizer.chat import chat_template, turn_end
from trainer.tokenizer.tokenizer import PRE, Tokenizer

if TYPE_CHECKING:
    import gguf

NORMAL, CONTROL = 1, 3  # llama_token_type
# llama.cpp wants to see merges. This one never happens: it would make a token that there is not.
NO_MERGES: Final = ["Ā Ā"]


def add_to_gguf(writer: gguf.GGUFWriter, tokenizer: Tokenizer) -> None:
    """Give a GGUF that is being written the fields ``tokenizer.*``."""
    special = len(tokenizer.special)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(PRE)
    writer.add_token_list(list(tokenizer.texts))
    writer.add_token_types([NORMAL] * (tokenizer.vocabulary - special) + [CONTROL] * special)
    writer.add_token_merges([f"{first} {second}" for first, second in tokenizer.merges] or NO_MERGES)
    writer.add_bos_token_id(tokenizer.end)
    writer.add_eos_token_id(turn_end(tokenizer))
    writer.add_pad_token_id(tokenizer.end)
    writer.add_add_bos_token(False)
    if template := chat_template(tokenizer):
        writer.add_chat_template(template)


def write_hugging_face(folder: Path, tokenizer: Tokenizer, context: int) -> None:
    """Write ``tokenizer.json`` and ``tokenizer_config.json`` for transformers. Raises NoRoom."""
    tokenizer.save(folder)
    special = {number: text for number, text in enumerate(tokenizer.texts) if text in tokenizer.special}
    told = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "added_tokens_decoder": {str(number): {"content": text, "special": True} for number, text in special.items()},
        "bos_token": None,
        "eos_token": special[turn_end(tokenizer)],
        "pad_token": special[tokenizer.end],
        "add_bos_token": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": context,
        "chat_template": chat_template(tokenizer),
    }
    write_whole(folder / "tokenizer_config.json", json.dumps(told, ensure_ascii=False, indent=1).encode())
