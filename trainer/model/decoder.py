"""The one decoder: llama, qwen2, qwen3 and gemma3 shapes from one config, over packed trees of tokens."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from trainer.model.attention import Attention, AttentionPlan
from trainer.model.config import DecoderConfig
from trainer.model.frozen import Frozen
from trainer.model.kernels import GatedLinear, LoraLinear, NormedLinear, RmsNorm, gated
from trainer.model.log_probs import TargetLogProbs, capped
from trainer.model.lora import LoraAdapter
from trainer.model.reading import BaseWeights, LayerWeights
from trainer.model.rope import Rope
from trainer.packing import Pack


class Decoder:
    """A frozen base and, where given, the adapter that is trained on it.

    ``recompute``: of a layer only what goes in is kept for the gradient, and the rest computed again when it is needed
    (arXiv 1604.06174).
    """

    def __init__(self, base: BaseWeights, adapter: LoraAdapter | None = None, *, recompute: bool = False) -> None:
        self.base = base
        self._recompute = recompute
        self.config: DecoderConfig = base.config
        self.adapter = adapter
        self.dtype = base.dtype
        self._everywhere = self._frequencies(base.config.rope)
        self._nearby = self._frequencies(base.config.sliding_rope)

    def hidden(self, pack: Pack) -> torch.Tensor:
        """The normed last state of the rows that ``pack`` asks about: [rows, width], float32."""
        config = self.config
        x: torch.Tensor = self.base.embedding.rows(pack.tokens)
        if config.embedding_scale != 1.0:
            x = x * config.embedding_scale
        everywhere = self._angles(pack.positions, self._everywhere, config.rope), pack.plan
        if config.sliding_layers:
            nearby = self._angles(pack.positions, self._nearby, config.sliding_rope)
            sliding = nearby, pack.sliding_plan(config.sliding_window)
        again = self._recompute and torch.is_grad_enabled()
        for index, layer in enumerate(self.base.layers):
            given = (index, layer, x, *(sliding if index in config.sliding_layers else everywhere))
            x = layer.at_hand(self._layer_again if again else self._layer, *given)
        norm: torch.Tensor = RmsNorm.apply(
            x.index_select(0, pack.rows), self.base.final_norm, config.norm_epsilon, torch.float32
        )
        return norm

    def log_probs(self, pack: Pack) -> torch.Tensor:
        """Log-probability of every (row, token) pair of ``pack``: float32 [pairs]."""
        hidden = self.hidden(pack)
        wanted = (self.base.head, pack.pair_rows, pack.pair_tokens, self.dtype, self.config.logit_cap)
        result: torch.Tensor = TargetLogProbs.apply(hidden, *wanted)
        return result

    def logits(self, pack: Pack) -> torch.Tensor:
        """Logits of the rows that ``pack`` asks about: float32 [rows, vocabulary]."""
        return capped(self.base.head.times(self.hidden(pack)), self.config.logit_cap)

    def _frequencies(self, rope: Rope) -> torch.Tensor:
        return torch.from_numpy(rope.frequencies(self.config.head_size, self.base.rope_factors))

    def _angles(
        self, positions: torch.Tensor, frequencies: torch.Tensor, rope: Rope
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosine and sine of RoPE's angles, times its length: [tokens, 1, head_size / 2]."""
        angles = positions.float().unsqueeze(1) * frequencies
        return angles.cos().mul_(rope.length).unsqueeze(1), angles.sin().mul_(rope.length).unsqueeze(1)

    def _product(self, index: int, name: str, x: torch.Tensor, weight: Frozen) -> torch.Tensor:
        if self.adapter is None:
            return weight.times(x)
        a, b = self.adapter.product(index, name, self.dtype)
        out: torch.Tensor = LoraLinear.apply(x, weight, a, b, self.adapter.scale)
        return out

    def _normed_product(
        self, index: int, name: str, x: torch.Tensor, gain: torch.Tensor, weight: Frozen
    ) -> torch.Tensor:
        epsilon = self.config.norm_epsilon
        if self.adapter is None:
            return weight.times(RmsNorm.apply(x, gain, epsilon, self.dtype))
        a, b = self.adapter.product(index, name, self.dtype)
        out: torch.Tensor = NormedLinear.apply(x, gain, epsilon, weight, a, b, self.adapter.scale)
        return out

    def _gated_product(self, index: int, name: str, gate_up: torch.Tensor, weight: Frozen) -> torch.Tensor:
        activation = self.config.activation
        if self.adapter is None:
            return weight.times(gated(gate_up, activation))
        a, b = self.adapter.product(index, name, self.dtype)
        out: torch.Tensor = GatedLinear.apply(gate_up, activation, weight, a, b, self.adapter.scale)
        return out

    def _layer_again(self, *given: Any) -> Any:
        """A layer whose inside is computed again for its gradient."""
        return checkpoint(self._layer, *given, use_reentrant=False, preserve_rng_state=False)

    def _layer(
        self,
        index: int,
        layer: LayerWeights,
        x: torch.Tensor,
        angles: tuple[torch.Tensor, torch.Tensor],
        plan: AttentionPlan,
    ) -> torch.Tensor:
        config, dtype = self.config, self.dtype
        norm = RmsNorm.apply
        epsilon = config.norm_epsilon
        tokens = x.shape[0]
        qkv = self._normed_product(index, "qkv", x, layer.attention_norm, layer.qkv)
        if layer.qkv_bias is not None:
            qkv = qkv + layer.qkv_bias.to(dtype)
        keys = config.kv_heads * config.head_size
        query, key, value = (
            part.reshape(tokens, -1, config.head_size)
            for part in qkv.split((config.heads * config.head_size, keys, keys), dim=1)
        )
        if layer.query_norm is not None:
            query = norm(query, layer.query_norm, epsilon, dtype)
        if layer.key_norm is not None:
            key = norm(key, layer.key_norm, epsilon, dtype)
        attended = Attention.apply(query, key, value, *angles, plan, config.attention_scale)
        out = self._product(index, "output", attended, layer.output)
        if layer.post_attention_norm is not None:
            out = norm(out, layer.post_attention_norm, epsilon, dtype)
        x = x + out
        gate_up = self._normed_product(index, "gate_up", x, layer.feed_forward_norm, layer.gate_up)
        out = self._gated_product(index, "down", gate_up, layer.down)
        if layer.post_feed_forward_norm is not None:
            out = norm(out, layer.post_feed_forward_norm, epsilon, dtype)
        return x + out
