"""Run in the peer environment ``trl``: the GGUF as the float32 folder that transformers loads quickly.

    python trl_base.py MODEL.gguf FOLDER

It is done once and kept, outside the time that is measured: transformers takes half a minute to read a
GGUF, and the comparison is of training.
"""

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM


def main(gguf: Path, folder: Path) -> None:
    """Write config, weights and tokenizer of ``gguf`` into ``folder``, which must not be there yet."""
    place = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**place)
    dequantised = AutoModelForCausalLM.from_pretrained(**place, dtype=torch.float32)
    config = dequantised.config
    del config.quantization_config
    # A model that came out of a GGUF refuses to be saved; a plain one of the same shape does not.
    plain = LlamaForCausalLM(config)
    plain.load_state_dict(dequantised.state_dict())
    plain.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
