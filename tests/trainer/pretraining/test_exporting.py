"""What is written for others is the trained function: llama.cpp gives the same logits, and it can be taught."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import pytest
import torch
from safetensors.torch import load_file

from configs.home import Home
from configs.settings import Settings
from engine.gguf import check_gguf
from engine.scoring import LocalModel
from tests.trainer.pretraining.corpora import written_corpus
from tests.trainer.pretraining.tiny import Heard, one_thread
from trainer.errors import ParityBroken
from trainer.model.decoder import Decoder
from trainer.model.gguf_file import GGUFFile
from trainer.model.reading import read_base
from trainer.packing import Item, build_pack
from trainer.parity import parity
from trainer.place import ALONE
from trainer.pretraining.carrying import carry
from trainer.pretraining.errors import NothingTrained
from trainer.pretraining.exporting import export
from trainer.pretraining.files import PretrainingFiles
from trainer.pretraining.training import Training
from trainer.sealed import read_sealed

# Float16 weights and llama.cpp's tables of it; then what is lost to eight and to four bits.
BITS = {"f16": 1e-5, "q8_0": 1e-3, "q4_0": 0.1}
# Blocks of 32 numbers.
CHANGED = ("model.width=64", "model.head_size=32", "model.feed_forward=96", "model.context=40", "train.tokens=1600")


@pytest.fixture
def exported(home: Home, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Heard, Training]:
    """The run's folder with all forms, what was told, and what was trained."""
    monkeypatch.setattr("trainer.pretraining.carrying.step_back", lambda: None)
    places, heard = written_corpus(home, *CHANGED), Heard()
    with one_thread():
        carry(places, settings, ALONE, heard, lambda: False)
        export(places, settings, heard)
        training = Training(places.run)
        found = read_sealed(PretrainingFiles(places.folder).checkpoints()[-1])
        assert found
        training.take_up_tensors({name: value for name, value in found[0].items() if "/" in name})
    return places.folder / "out", heard, training


def test_all_forms_are_the_trained_function(exported: tuple[Path, Heard, Training], settings: Settings) -> None:
    out, heard, training = exported
    told = {Path(each["path"]).stem.removeprefix("tiny-"): each for each in heard.of("exported")}
    assert set(told) == {*BITS, "hugging-face"}
    item = Item(tuple(range(65, 70)), tuple(range(70, 100)))
    for bits, most in BITS.items():
        path = out / f"tiny-{bits}.gguf"
        assert told[bits]["parity_kl"] < most
        with one_thread(), LocalModel(path, settings.engine, context_size=40, threads=1) as served:
            assert parity(training.decoder, served, [item]) < most
            assert served.vocabulary.size == training.run.model.vocabulary
            # Chat is possible, and an answer has an end.
            assert served.vocabulary.is_end(training.run.model.vocabulary - 1)
        assert check_gguf(path).has_template
    kinds = [GGUFFile(out / f"tiny-{bits}.gguf").kind("blk.0.ffn_up.weight") for bits in BITS]
    assert kinds == [gguf.GGMLQuantizationType[each] for each in ("F16", "Q8_0", "Q4_0")]


def test_corrections_can_be_taught_to_it(exported: tuple[Path, Heard, Training]) -> None:
    out, _, training = exported
    pack = build_pack([Item((1, 2, 3), (4, 5, 6))])
    with torch.no_grad(), one_thread():
        again = Decoder(read_base(out / "tiny-f16.gguf")).log_probs(pack)
        assert torch.allclose(again, training.decoder.log_probs(pack), atol=2e-3)


def test_the_form_of_hugging_face_holds_every_weight_by_its_name(exported: tuple[Path, Heard, Training]) -> None:
    out, _, training = exported
    folder, shape = out / "hugging-face", training.run.model
    tensors = load_file(folder / "model.safetensors")
    weights = {each.name: each.tensor.detach() for each in training.parameters}
    query, key, value = (tensors[f"model.layers.1.self_attn.{part}_proj.weight"] for part in "qkv")
    assert torch.equal(torch.cat((query, key, value)), weights["1.qkv"])
    assert torch.equal(tensors["model.layers.0.input_layernorm.weight"], weights["0.attention_norm"])
    assert sum(each.numel() for each in tensors.values()) == shape.parameters
    told = json.loads((folder / "config.json").read_text())
    assert told["architectures"] == ["Qwen3ForCausalLM"]
    assert (told["hidden_size"], told["head_dim"], told["tie_word_embeddings"]) == (64, 32, True)
    assert (folder / "tokenizer.json").is_file()
    assert (folder / "tokenizer_config.json").is_file()


def test_what_llama_cpp_serves_otherwise_is_refused(
    exported: tuple[Path, Heard, Training], home: Home, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainer.pretraining.forms.GAINS", {
        "attention_norm": ("ffn_norm", "a"), "feed_forward_norm": ("attn_norm", "b"),
        "query_norm": ("attn_k_norm", "c"), "key_norm": ("attn_q_norm", "d"),
    })  # fmt: skip
    tensors = exported[2].tensors()
    # Gains that are all alike could stand anywhere.
    tensors = {name: value * 3 if "query" in name or "feed" in name else value for name, value in tensors.items()}
    monkeypatch.setattr("trainer.pretraining.exporting._newest", lambda *_: tensors)
    with one_thread(), pytest.raises(ParityBroken):
        export(written_corpus(home, *CHANGED), settings, Heard())


def test_a_run_of_which_nothing_is_kept_is_not_exported(home: Home, settings: Settings) -> None:
    with pytest.raises(NothingTrained):
        export(written_corpus(home), settings, Heard())
