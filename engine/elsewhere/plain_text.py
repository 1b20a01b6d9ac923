"""What people and pages say, so that another server reads it as text.

A server puts the conversation into its model's template and reads the result with control tokens and all. Here, the
engine tells the two apart by tokens; there, only the text can be made harmless: an invisible character goes into
whatever has the shape of a control token.
"""

from __future__ import annotations

import re

# Joins without width or meaning; no model has a control token with it.
JOINER = "\u2060"
CONTROL = re.compile(
    # ChatML, Llama 3, DeepSeek, Phi; SentencePiece; Gemma; Hermes and Qwen; Llama 2; Mistral.
    r"<[|｜][^<>\n]{1,64}[|｜]>"
    r"|</?s>|<(?:bos|eos|pad|unk|mask)>"
    r"|<(?:start|end)_of_(?:turn|image)>"
    r"|</?(?:tool_call|tool_response|tools|think)>"
    r"|<</?SYS>>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|CALL_ID|THINK)\]"
)


def harmless(text: str) -> str:
    """``text`` with every control token of a known shape broken up."""
    return CONTROL.sub(lambda found: found[0][0] + JOINER + found[0][1:], text)
