"""Reads and writes a few tokens with the starter model: exits 0 where the compiled engine runs on this processor."""

from __future__ import annotations

import llama_cpp

from engine.catalogue import starter_path


def main() -> None:
    """Many tokens are read at once, one is written: two ways of multiplying, each with instructions of its own."""
    llama_cpp.Llama(str(starter_path()), n_ctx=256, verbose=False)("The sky is blue. " * 16, max_tokens=2)


if __name__ == "__main__":
    main()
