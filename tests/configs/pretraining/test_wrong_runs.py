"""A wrong run is refused with the file or what was typed, the key, the reason and the way out, in both languages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from app.catalogue import Catalogue
from app.errors_text import explain
from configs.errors import EnlaceError
from configs.home import Home
from configs.pretraining.composing import check_sources, compose
from tests.project import LANGUAGES


@dataclass(frozen=True)
class Wrong:
    """``typed`` after the run ``name``, or ``written`` as the run's file; ``key``, ``fix``, ``where``: what is told."""

    key: str
    typed: str = ""
    name: str = "smoke"
    written: str = ""
    fix: str = ""
    where: str = ""


OTHERS = "hardware: cpu\ntrain: smoke\ndata: enlace"
WRONG = {
    "a key that there is not": Wrong("train.sed", "train.sed=3", fix="train.seed"),
    "a section that there is not": Wrong("modle", "modle.layers=3", fix="model"),
    "a key that is missing": Wrong("model.layers", written=f"{OTHERS}\nmodel: {{width: 8}}", fix="model.layers"),
    "a group that is missing": Wrong("data", written="hardware: cpu\nmodel: bytes\ntrain: smoke", fix="data"),
    "a number that is a word": Wrong("train.tokens", "train.tokens=many"),
    "a number that is a truth": Wrong("train.tokens", "train.tokens=true"),
    "a whole number that is none": Wrong("model.layers", "model.layers=2.5"),
    "a number without end": Wrong("train.clip", "train.clip=.inf"),
    "a section that is a number": Wrong("model", "model=3"),
    "a group named by a number": Wrong("hardware.use", "hardware.use=3"),
    "a precision that there is not": Wrong("hardware.precision", "hardware.precision=float8", fix="bfloat16"),
    "an attention that there is not": Wrong("hardware.attention", "hardware.attention=fast", fix="flash"),
    "a capability that is no number": Wrong("hardware.capability", "hardware.capability=turing"),
    "a card without capability": Wrong("hardware.capability", "hardware.device=cuda", fix="7.5", where="cpu.yaml"),
    "a processor with capability": Wrong("hardware.capability", "hardware.capability=7.5"),
    "heads that do not divide": Wrong("model.kv_heads", "model.kv_heads=4", "spanish-10m", fix="3"),
    "more heads asked than ask": Wrong("model.kv_heads", "model.kv_heads=12", "spanish-10m", fix="6"),
    "an odd head": Wrong("model.head_size", "model.head_size=15", fix="16"),
    "a vocabulary beyond 32 bits": Wrong("model.vocabulary", "model.vocabulary=3000000000", "spanish-10m"),
    "a vocabulary that is not of bytes": Wrong("model.vocabulary", "model.vocabulary=8192", fix="259"),
    "a vocabulary without room": Wrong("model.vocabulary", "model.vocabulary=258", "spanish-10m", fix="8192"),
    "a special token twice": Wrong("data.tokenizer.special_tokens", "data.tokenizer.special_tokens=[a, a, b]"),
    "a batch that processes do not share": Wrong("train.batch", "hardware.processes=3", fix="=9", where="smoke.yaml"),
    "a micro-batch that does not divide": Wrong("train.micro_batch", "train.micro_batch=3", fix="train.micro_batch=2"),
    "a context of one token": Wrong("model.context", "model.context=1"),
    "a context longer than a shard": Wrong("data.shard_tokens", "data.shard_tokens=64"),
    "fewer tokens than a step": Wrong("train.tokens", "train.tokens=511", fix="512"),
    "a warmup longer than the run": Wrong("train.warmup_steps", "train.warmup_steps=33", fix="26"),
    "a decay longer than the run": Wrong("train.decay_share", "train.decay_share=1.1"),
    "no validation text": Wrong("data.validation_share", "data.validation_share=0"),
    "nothing but validation text": Wrong("data.validation_share", "data.validation_share=1"),
    "no source": Wrong("data.sources", "data.sources=[]"),
    "a source that is not there": Wrong("data.sources.0.path", "data.sources=[{path: gone, form: text}]", fix="gone"),
    "a form that there is not": Wrong("data.sources.0.form", "data.sources=[{path: a, form: pdf}]", fix="epub"),
    "a name that is a path": Wrong("name", "name=../other"),
    "an optimiser that there is not": Wrong("train.optimiser", "train.optimiser=lion", fix="muon"),
    "a key twice": Wrong("seed", written="train: {seed: 1, seed: 2}"),
    "a value within itself": Wrong("", written="train: &a {use: *a}"),
    "YAML that is none": Wrong("", written="train: [1, 2"),
    "a list for a run": Wrong("", written="- 1\n- 2"),
    "a group that is not there": Wrong("hardware", "hardware=abacus", fix="turing-2060"),
    "a group's file within another": Wrong(
        "hardware.use", written="hardware: ./own.yaml\nmodel: bytes", where="own.yaml"
    ),
    "a run that is not there": Wrong("", name="spanish", fix="spanish-10m"),
    "a file that is not there": Wrong("", name="./gone.yaml", fix="gone.yaml"),
    "an override without a value": Wrong("", "train.seed", fix="train.seed=99"),
    "an override without a key": Wrong("", "=3", fix="train.seed=99"),
    "an override with a half key": Wrong("", "train..seed=3", fix="train.seed=99"),
    "an override that is no YAML": Wrong("", "train.sample_prompts=[a"),
}


def refused(wrong: Wrong, home: Home, folder: Path) -> EnlaceError:
    """What is said of a run that is wrong in this way."""
    name = wrong.name
    if wrong.written:
        (folder / "own.yaml").write_text("use: cpu\n", encoding="utf-8")
        (folder / "wrong.yaml").write_text(wrong.written, encoding="utf-8")
        name = "./wrong.yaml"
    with pytest.raises(EnlaceError) as said:
        check_sources(compose(name, [wrong.typed] if wrong.typed else [], home, folder))
    return said.value


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_run_is_refused_with_where_it_is_and_what_to_do(kind: str, home: Home, tmp_path: Path) -> None:
    wrong = WRONG[kind]
    error = refused(wrong, home, tmp_path)
    assert error.exit_code == 2
    if wrong.key:
        assert error.facts.get("key", error.facts.get("group")) == wrong.key
    where = wrong.where or wrong.typed or ("wrong.yaml" if wrong.written else wrong.name)
    for language in LANGUAGES:
        told = explain(error, Catalogue(language))
        assert where in str(told)
        assert wrong.key in str(told)
        assert wrong.fix in str(told)
        assert told.what
        assert told.next
        assert "?" not in str(told).replace("¿", "").replace("»?", "").replace('"?', "")
    spanish, english = (str(explain(error, Catalogue(language))) for language in LANGUAGES)
    assert str(error.facts.get("reason", "\0")) not in spanish
    assert spanish != english
