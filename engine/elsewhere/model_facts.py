"""What a model's file says that another server is told of: template, marks and heads. Quicker than ``gguf``."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ModelBroken
from engine.gguf_reader import STRING, TOKENS, Array, Contents, Malformed, Reader


@dataclass(frozen=True)
class ModelFacts:
    """``template``: the chat template's source; ``bos`` and ``eos``: texts of tokens, empty where there are none.

    ``adds_bos``: whether the tokenizer puts the first by itself. ``heads``: of the queries and of the keys, None where
    the layers have unlike numbers of them.
    """

    architecture: str
    template: str | None
    bos: str
    eos: str
    adds_bos: bool
    heads: tuple[int, int] | None


def read_facts(path: Path) -> ModelFacts:
    """The facts of a model's file. Raises ModelBroken."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            contents = Reader(content).read()
            template = contents.get("tokenizer.chat_template")
            return ModelFacts(
                architecture=str(contents.get("general.architecture", "")),
                template=template if isinstance(template, str) else None,
                bos=_token(content, contents, "tokenizer.ggml.bos_token_id"),
                eos=_token(content, contents, "tokenizer.ggml.eos_token_id"),
                adds_bos=bool(contents.get("tokenizer.ggml.add_bos_token", False)),
                heads=_heads(contents),
            )
    except (OSError, ValueError) as error:
        raise ModelBroken(path=str(path), reason=str(error)) from error
    except (Malformed, struct.error) as error:
        raise ModelBroken(path=str(path), reason=str(error)) from error


def _heads(contents: Contents) -> tuple[int, int] | None:
    architecture = contents.get("general.architecture", "")
    queries = contents.get(f"{architecture}.attention.head_count")
    keys = contents.get(f"{architecture}.attention.head_count_kv", queries)
    return (queries, keys) if isinstance(queries, int) and isinstance(keys, int) else None


def _token(content: mmap.mmap, contents: Contents, key: str) -> str:
    """The text of the token whose number ``key`` holds."""
    number, tokens = contents.get(key), contents.get(TOKENS)
    if not isinstance(number, int) or not isinstance(tokens, Array) or not 0 <= number < tokens.count:
        return ""
    length_at = struct.Struct("<Q").unpack_from
    # The header was read whole, so the array is where its key first stands as a key: after the key's length.
    name = TOKENS.encode()
    marked = struct.pack("<Q", len(name)) + name + struct.pack("<IIQ", 9, STRING, tokens.count)
    place = content.find(marked) + len(marked)
    for _ in range(number):
        place += 8 + length_at(content, place)[0]
    size = length_at(content, place)[0]
    return content[place + 8 : place + 8 + size].decode("utf-8", errors="replace")
