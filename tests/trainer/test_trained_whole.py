"""A decoder that is trained whole: its loss and every gradient are those of plain PyTorch in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, silu

from trainer.model.config import DecoderConfig
from trainer.model.decoder import Decoder
from trainer.model.fresh import fresh_weights, parameters_of
from trainer.model.rope import Rope
from trainer.model.sequences import sequences_of

CPU = torch.device("cpu")
ROPE = Rope(10_000.0)
CONFIG = DecoderConfig(
    architecture="qwen3", layers=2, width=24, heads=4, kv_heads=2, head_size=8, feed_forward=40, vocabulary=300,
    context_length=16, norm_epsilon=1e-6, rope=ROPE, sliding_rope=ROPE, attention_scale=1 / math.sqrt(8),
)  # fmt: skip
Z_LOSS = 1e-2
BATCH = np.random.default_rng(0).integers(0, CONFIG.vocabulary, (3, 13))
# Of float32 the order of the sums; of the others what is rounded of each product.
CLOSE = {torch.float32: 2e-6, torch.bfloat16: 0.04, torch.float16: 0.005}


def decoder(dtype: torch.dtype = torch.float32, *, recompute: bool = False) -> Decoder:
    """Weights that have learned something: no gain is 1, no gradient tiny."""
    generator = torch.Generator().manual_seed(7)
    weights = fresh_weights(CONFIG, dtype, 0.3, generator, CPU)
    with torch.no_grad():
        for parameter in parameters_of(weights):
            if parameter.kind == "gain":
                parameter.tensor.add_(torch.randn(parameter.tensor.shape, generator=generator), alpha=0.2)
    return Decoder(weights, recompute=recompute)


def reference(weights: dict[str, torch.Tensor], tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Summed loss, written as the papers have it, in the format of the weights. tokens, targets [sequences, length]."""
    count, length = tokens.shape
    size, heads, groups = CONFIG.head_size, CONFIG.heads, CONFIG.kv_heads

    def norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
        return x / (x.square().mean(-1, keepdim=True) + CONFIG.norm_epsilon).sqrt() * gain

    frequencies = 10_000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * frequencies
    cosine, sine = angles.cos()[:, None], angles.sin()[:, None]

    def turned(x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, -1)
        return torch.cat((first * cosine - second * sine, second * cosine + first * sine), -1)

    x = weights["embedding"][tokens]
    for layer in range(CONFIG.layers):
        of = {name.split(".")[1]: value for name, value in weights.items() if name.startswith(f"{layer}.")}
        qkv = (norm(x, of["attention_norm"]) @ of["qkv"].T).view(count, length, heads + 2 * groups, size)
        query, key, value = qkv.split((heads, groups, groups), 2)
        query, key = turned(norm(query, of["query_norm"])), turned(norm(key, of["key_norm"]))
        key, value = (each.repeat_interleave(heads // groups, 2) for each in (key, value))
        scores = torch.einsum("bqhs,bkhs->bhqk", query, key) / math.sqrt(size)
        scores = scores.masked_fill(torch.ones(length, length).triu(1).bool(), -torch.inf)
        seen = torch.einsum("bhqk,bkhs->bqhs", scores.softmax(-1), value).flatten(2)
        x = x + seen @ of["output"].T
        gate, up = (norm(x, of["feed_forward_norm"]) @ of["gate_up"].T).chunk(2, -1)
        x = x + (silu(gate) * up) @ of["down"].T
    logits = (norm(x, weights["final_norm"]) @ weights["embedding"].T).flatten(0, 1)
    nats = cross_entropy(logits, targets.flatten(), reduction="sum")
    return nats + Z_LOSS * logits.logsumexp(-1).square().sum()


def expected(model: Decoder) -> tuple[float, dict[str, torch.Tensor]]:
    """The reference's loss, and its gradients by name."""
    weights = {each.name: each.tensor.detach().double().requires_grad_() for each in parameters_of(model.base)}
    loss = reference(weights, torch.from_numpy(BATCH[:, :-1]), torch.from_numpy(BATCH[:, 1:]))
    loss.backward()
    return float(loss.detach()), {name: value.grad for name, value in weights.items() if value.grad is not None}


def learned(model: Decoder, *batches: np.ndarray, factor: float = 1.0) -> tuple[float, dict[str, torch.Tensor]]:
    """The loss of all batches, and the gradients that they left."""
    loss = 0.0
    for batch in batches:
        cost = model.learn(sequences_of(batch, "flash", CPU), factor=factor, z_loss=Z_LOSS)
        loss += cost.nats + Z_LOSS * cost.squares
    return loss, {each.name: each.tensor.grad for each in parameters_of(model.base) if each.tensor.grad is not None}


def assert_same(found: dict[str, torch.Tensor], wanted: dict[str, torch.Tensor], close: float) -> None:
    assert found.keys() == wanted.keys()
    for name, gradient in wanted.items():
        assert float((found[name].double() - gradient).norm() / gradient.norm()) < close, name


@pytest.mark.parametrize("compiles", [True, False])
@pytest.mark.parametrize("dtype", CLOSE)
def test_the_loss_and_every_gradient_are_those_of_plain_pytorch(
    dtype: torch.dtype, compiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiles:
        monkeypatch.setattr("trainer.model.decoder.compiled", lambda dtype, device: None)
    # Several blocks of queries and several pieces of logits, the last of them shorter.
    monkeypatch.setattr("trainer.model.sequences.BLOCK", 5)
    monkeypatch.setattr("trainer.model.cross_entropy.LOGITS", 16 * CONFIG.vocabulary)
    monkeypatch.setattr("trainer.model.cross_entropy.LEAST_ROWS", 16)
    model = decoder(dtype)
    loss, gradients = learned(model, BATCH)
    wanted_loss, wanted = expected(model)
    assert loss == pytest.approx(wanted_loss, rel=CLOSE[dtype])
    assert_same(gradients, wanted, CLOSE[dtype])


def test_gradients_of_several_batches_add_up_and_are_as_long_as_they_are_asked_to_be() -> None:
    model = decoder()
    _, gradients = learned(model, BATCH[:1], BATCH[1:], factor=0.5)
    _, wanted = expected(model)
    assert_same(gradients, {name: value / 2 for name, value in wanted.items()}, CLOSE[torch.float32])


def test_a_layer_that_is_computed_again_has_the_same_gradients() -> None:
    _, kept = learned(decoder(), BATCH)
    _, again = learned(decoder(recompute=True), BATCH)
    assert all(torch.equal(kept[name], again[name]) for name in kept)


@pytest.mark.parametrize("way", ["math", "flash"])
def test_what_a_batch_costs_is_the_same_where_nothing_is_learned(way: str) -> None:
    model = decoder()
    batch = sequences_of(BATCH, way, CPU)  # type: ignore[arg-type]
    cost = model.cost(batch)
    assert all(each.tensor.grad is None for each in parameters_of(model.base))
    assert model.learn(batch, factor=1.0, z_loss=0.0).nats == pytest.approx(cost.nats, rel=1e-6)


def test_a_weight_that_moved_is_multiplied_as_it_is_now() -> None:
    model = decoder(torch.bfloat16)
    batch = sequences_of(BATCH, "flash", CPU)
    before = model.cost(batch).nats
    with torch.no_grad():
        for parameter in parameters_of(model.base):
            parameter.tensor.mul_(0.5)
    assert model.cost(batch).nats != before


def test_the_initial_weights_are_those_of_the_seed_and_what_adds_to_the_stream_is_smaller() -> None:
    one, other, another = (
        {p.name: p.tensor.detach() for p in parameters_of(fresh_weights(CONFIG, torch.float32, 0.02, generator, CPU))}
        for generator in (torch.Generator().manual_seed(seed) for seed in (1, 1, 2))
    )
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not torch.equal(one["0.qkv"], another["0.qkv"])
    assert float(one["0.gate_up"].std()) == pytest.approx(0.02, rel=0.05)
    assert float(one["0.down"].std()) == pytest.approx(0.02 / math.sqrt(2 * CONFIG.layers), rel=0.1)
