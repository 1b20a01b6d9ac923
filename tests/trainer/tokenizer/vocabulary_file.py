"""A tokenizer in a GGUF file without weights, as llama.cpp reads it."""

from __future__ import annotations

from pathlib import Path

import gguf

from engine.vocabulary import Vocabulary
from trainer.tokenizer.forms import add_to_gguf
from trainer.tokenizer.tokenizer import Tokenizer


def llama_vocabulary(path: Path, tokenizer: Tokenizer) -> Vocabulary:
    """llama.cpp's own vocabulary of ``tokenizer``, through the file ``path``."""
    writer = gguf.GGUFWriter(path, "qwen3")
    add_to_gguf(writer, tokenizer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Vocabulary.load(path)
