"""The one decoder: llama, qwen2, qwen3 and gemma3 shapes from one config, over trees of tokens or plain sequences."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from trainer.model.attention import Attention, AttentionPlan
from trainer.model.compiled import compiled
from trainer.model.config import DecoderConfig
from trainer.model.cross_entropy import Cost, LearnedBy, cost_of, learn_targets
from trainer.model.fused import FusedAttention, FusedGatedLinear, FusedNormedLinear
from trainer.model.fused_causal import FusedCausal
from trainer.model.kernels import GatedLinear, LoraLinear, Matrix, NormedLinear, RmsNorm
from trainer.model.log_probs import TargetLogProbs, all_logits
from trainer.model.lora import LoraAdapter
from trainer.model.reading import BaseWeights, LayerWeights
from trainer.model.rope import Rope
from trainer.model.sequences import Causal, Sequences, TurnedHeads
from trainer.model.trained import Trained
from trainer.model.weight import Weight
from trainer.packing import Pack


class Decoder:
    """A frozen base and, where given, the adapter that is trained on it; or weights that are trained whole.

    ``recompute``: of a layer only what goes in is kept for the gradient, and the rest computed again when it is needed
    (arXiv 1604.06174).
    """

    def __init__(self, base: BaseWeights, adapter: LoraAdapter | None = None, *, recompute: bool = False) -> None:
        self.base = base
        self._recompute = recompute
        self.config: DecoderConfig = base.config
        self.adapter = adapter
        self.dtype = base.dtype
        self._compiled = compiled(base.dtype, base.final_norm.device)
        self._everywhere = self._frequencies(base.config.rope)
        self._nearby = self._frequencies(base.config.sliding_rope)

    def hidden(self, pack: Pack | Sequences) -> torch.Tensor:
        """The normed last state of the rows that ``pack`` asks about: [rows, width], float32."""
        config = self.config
        x: torch.Tensor = self.base.embedding.rows(pack.tokens)
        if config.embedding_scale != 1.0:
            x = x * config.embedding_scale
        everywhere = self._angles(pack.positions, self._everywhere, config.rope), pack.plan
        if config.sliding_layers and isinstance(pack.plan, AttentionPlan):
            nearby = self._angles(pack.positions, self._nearby, config.sliding_rope)
            sliding = nearby, pack.plan.sliding(config.sliding_window)
        again = self._recompute and torch.is_grad_enabled()
        added = None
        for index, layer in enumerate(self.base.layers):
            if again and added is not None:
                # What goes into a layer is kept: one tensor of it is less than two.
                x, added = x + added, None
            given = (index, layer, x, added, *(sliding if index in config.sliding_layers else everywhere))
            x, added = layer.at_hand(self._layer_again if again else self._layer, *given)
        if pack.rows is None:
            last = x if added is None else x + added
        else:
            last = x.index_select(0, pack.rows)
            if added is not None:
                last = last + added.index_select(0, pack.rows)
        norm: torch.Tensor = RmsNorm.apply(last, self.base.final_norm, config.norm_epsilon, torch.float32)
        return norm

    def log_probs(self, pack: Pack) -> torch.Tensor:
        """Log-probability of every (row, token) pair of ``pack``: float32 [pairs]."""
        hidden = self.hidden(pack)
        wanted = (self.base.head, pack.pair_rows, pack.pair_tokens, self.dtype, self.config.logit_cap, self._compiled)
        result: torch.Tensor = TargetLogProbs.apply(hidden, *wanted)
        return result

    def logits(self, pack: Pack) -> torch.Tensor:
        """Logits of the rows that ``pack`` asks about: float32 [rows, vocabulary]."""
        config = self.config
        wanted = (self.base.head, config.vocabulary, self.dtype, config.logit_cap, self._compiled)
        return all_logits(self.hidden(pack), *wanted)

    def cost(self, batch: Sequences) -> Cost:
        """What the tokens of ``batch`` cost. For weights that are trained whole."""
        with torch.no_grad():
            return cost_of(self.hidden(batch), self._head, batch.targets, self.dtype, self._compiled)

    def learn(self, batch: Sequences, *, factor: float, z_loss: float) -> Cost:
        """The same; all weights take in the gradient of ``factor`` times it and the z-loss. As for ``cost``."""
        hidden = self.hidden(batch)
        by = LearnedBy(factor, z_loss, self.dtype, self._compiled)
        cost, to_hidden = learn_targets(hidden.detach(), self._head, batch.targets, by)
        hidden.backward(to_hidden)
        return cost

    def last_logits(self, batch: Sequences) -> torch.Tensor:
        """Logits of what follows the last token of ``batch``: float32 [vocabulary]."""
        config = self.config
        with torch.no_grad():
            last = self.hidden(batch)[-1:]
            wanted = (self.base.head, config.vocabulary, self.dtype, config.logit_cap, self._compiled)
            return all_logits(last, *wanted)[0]

    @property
    def _head(self) -> Trained:
        if not isinstance(self.base.head, Trained):
            raise TypeError("a frozen head learns nothing")
        return self.base.head

    def _frequencies(self, rope: Rope) -> torch.Tensor:
        found = torch.from_numpy(rope.frequencies(self.config.head_size, self.base.rope_factors))
        return found.to(self.base.final_norm.device)

    def _angles(
        self, positions: torch.Tensor, frequencies: torch.Tensor, rope: Rope
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosine and sine of RoPE's angles, times its length: [tokens, 1, head_size / 2]."""
        angles = positions.float().unsqueeze(1) * frequencies
        return angles.cos().mul_(rope.length).unsqueeze(1), angles.sin().mul_(rope.length).unsqueeze(1)

    def _sides(self, index: int, name: str) -> tuple[Matrix, Matrix, float]:
        """What the adapter has for a product: A, B, and its scale."""
        if self.adapter is None:
            return None, None, 1.0
        return *self.adapter.product(index, name, self.dtype), self.adapter.scale

    def _product(self, index: int, name: str, x: torch.Tensor, weight: Weight) -> torch.Tensor:
        out: torch.Tensor = LoraLinear.apply(x, weight, *self._sides(index, name))
        return out

    def _normed_product(
        self, index: int, name: str, x: torch.Tensor, added: torch.Tensor | None, gain: torch.Tensor, weight: Weight
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """``x + added``, and the product of its norm."""
        epsilon, sides = self.config.norm_epsilon, self._sides(index, name)
        if self._compiled:
            both: tuple[torch.Tensor, torch.Tensor] = FusedNormedLinear.apply(
                self._compiled, x, added, gain, epsilon, weight, *sides
            )
            return both
        x = x if added is None else x + added
        return x, NormedLinear.apply(x, gain, epsilon, weight, *sides, self.dtype)

    def _gated_product(self, index: int, name: str, gate_up: torch.Tensor, weight: Weight) -> torch.Tensor:
        given = (gate_up, self.config.activation, weight, *self._sides(index, name))
        fused = self._compiled
        out: torch.Tensor = FusedGatedLinear.apply(fused, *given) if fused else GatedLinear.apply(*given)
        return out

    def _looked(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        gains: tuple[torch.Tensor | None, torch.Tensor | None],
        angles: tuple[torch.Tensor, torch.Tensor],
        plan: AttentionPlan | Causal,
    ) -> torch.Tensor:
        """What each token takes from those that it looks at: [tokens, heads * head_size]."""
        epsilon, dtype = self.config.norm_epsilon, self.dtype
        if isinstance(plan, Causal) and self._compiled and plan.way == "flash" and None not in gains:
            out: torch.Tensor = FusedCausal.apply(
                self._compiled, query, key, value, *gains, epsilon, *angles, plan, self.config.attention_scale
            )
            return out
        if isinstance(plan, Causal):
            query, key = (TurnedHeads.apply(x, g, epsilon, *angles) for x, g in zip((query, key), gains, strict=True))
            return plan.attend(query, key, value, self.config.attention_scale)
        query, key = (
            x if gain is None else RmsNorm.apply(x, gain, epsilon, dtype)
            for x, gain in zip((query, key), gains, strict=True)
        )
        given = (query, key, value, *angles, plan, self.config.attention_scale)
        fused = self._compiled
        found: torch.Tensor = FusedAttention.apply(fused, *given) if fused else Attention.apply(*given)
        return found

    def _layer_again(self, *given: Any) -> Any:
        """A layer whose inside is computed again for its gradient."""
        return checkpoint(self._layer, *given, use_reentrant=False, preserve_rng_state=False)

    def _layer(
        self,
        index: int,
        layer: LayerWeights,
        x: torch.Tensor,
        added: torch.Tensor | None,
        angles: tuple[torch.Tensor, torch.Tensor],
        plan: AttentionPlan | Causal,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The stream ``x`` and what the layer before adds to it -> the same of this one."""
        config, dtype = self.config, self.dtype
        norm = RmsNorm.apply
        epsilon = config.norm_epsilon
        tokens = x.shape[0]
        x, qkv = self._normed_product(index, "qkv", x, added, layer.attention_norm, layer.qkv)
        if layer.qkv_bias is not None:
            qkv = qkv + layer.qkv_bias.to(dtype)
        keys = config.kv_heads * config.head_size
        query, key, value = (
            part.reshape(tokens, -1, config.head_size)
            for part in qkv.split((config.heads * config.head_size, keys, keys), dim=1)
        )
        gains = layer.query_norm, layer.key_norm
        out = self._product(index, "output", self._looked(query, key, value, gains, angles, plan), layer.output)
        if layer.post_attention_norm is not None:
            out = norm(out, layer.post_attention_norm, epsilon, dtype)
        x, gate_up = self._normed_product(index, "gate_up", x, out, layer.feed_forward_norm, layer.gate_up)
        out = self._gated_product(index, "down", gate_up, layer.down)
        if layer.post_feed_forward_norm is not None:
            out = norm(out, layer.post_feed_forward_norm, epsilon, dtype)
        return x, out
