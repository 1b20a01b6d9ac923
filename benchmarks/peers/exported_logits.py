"""In the peer environment ``trl``: ``python exported_logits.py FOLDER TOKENS OUT``, the logits of transformers.

FOLDER: a model in the form of Hugging Face; TOKENS: a .npy of ids; OUT: the .npy [tokens, vocabulary] to write.
"""

import sys

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(folder: str, tokens: str, out: str) -> None:
    """Read the model and the tokenizer, and write the logits."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    # That it can be read is part of the form.
    AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        np.save(out, model(torch.from_numpy(np.load(tokens))[None]).logits[0].numpy())


if __name__ == "__main__":
    main(*sys.argv[1:4])
