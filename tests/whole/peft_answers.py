"""Run in the peer environment ``trl``: what transformers and PEFT answer with an exported snapshot.

    python peft_answers.py FOLDER < QUESTIONS

FOLDER is the export's; QUESTIONS is JSON: ``model`` (the GGUF's name), ``peft`` (the adapter's folder), ``prompts``
(lists of tokens), ``most_tokens`` and ``ends`` (the tokens that end an answer). Prints the answers as JSON, as tokens.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM


def main(folder: Path, asked: dict[str, Any]) -> None:
    """As the export's README says, then what transformers calls greedy."""
    base = AutoModelForCausalLM.from_pretrained(folder, gguf_file=asked["model"], dtype=torch.float32)
    model = PeftModel.from_pretrained(base, folder / asked["peft"]).eval()
    ends, answers = asked["ends"], []
    for prompt in asked["prompts"]:
        given = torch.tensor([prompt])
        written = model.generate(
            input_ids=given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=asked["most_tokens"],
            do_sample=False,
            eos_token_id=ends,
            pad_token_id=ends[0],
        )
        answers.append([token for token in written[0, len(prompt) :].tolist() if token not in ends])
    print(json.dumps(answers))  # noqa: T201 - whoever started it reads this


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.load(sys.stdin))
