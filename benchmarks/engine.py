"""``python -m benchmarks.engine``: one-shot answers beside ``llm -m SmolLM2``, serving beside ``xllamacpp``."""

from __future__ import annotations

import sys
from functools import partial

from benchmarks.crowd import beside, four_streams, stop
from benchmarks.decoding import streams
from benchmarks.harness import Part, main
from benchmarks.long_talk import conversation
from benchmarks.one_shot import long_answer, one_shot
from benchmarks.swapping import swaps

PARTS: dict[str, Part] = {
    "one-shot": one_shot,
    "long-answer": long_answer,
    "streams": streams,
    "four-streams": four_streams,
    "streams-formed": partial(streams, formed=True),
    "four-streams-formed": partial(four_streams, formed=True),
    "conversation": conversation,
    "beside": beside,
    "stop": stop,
    "swaps": swaps,
}

if __name__ == "__main__":
    sys.exit(main("engine", __doc__ or "", PARTS))
