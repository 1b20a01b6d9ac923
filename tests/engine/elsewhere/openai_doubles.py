"""llama-server and vLLM, as their documentation describes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file

from tests.engine.elsewhere.doubles import Asked, Double, Reply, Spoken, as_json, event, refusal


class OpenAIDouble(Double):
    """What llama-server and vLLM have in common."""

    def __init__(self) -> None:
        super().__init__()
        self.says = Spoken()
        self.context_size = 2048
        self.idle = False

    def strength(self, body: dict[str, Any]) -> float:
        """How much the adapters in use change the answer."""
        raise NotImplementedError

    def chat(self, body: dict[str, Any]) -> Reply:
        length = sum(len(message["content"]) for message in body["messages"]) // 4
        if length >= self.context_size:
            return self.too_long(length)
        if not body.get("stream"):
            return self.likeliest(body)
        words = self.says.words[: body["max_tokens"]]
        choices = [{"index": 0, "delta": {"role": "assistant", "content": None}, "finish_reason": None}]
        choices += [{"index": 0, "delta": {"content": word}, "finish_reason": None} for word in words]
        reason = "stop" if len(words) == len(self.says.words) else "length"
        choices.append({"index": 0, "delta": {}, "finish_reason": reason})
        events = [event({"object": "chat.completion.chunk", "choices": [choice]}) for choice in choices]
        usage = {
            "prompt_tokens": self.says.prompt_tokens,
            "completion_tokens": len(words),
            "total_tokens": self.says.prompt_tokens + len(words),
            "prompt_tokens_details": {"cached_tokens": 3},
        }
        events += [event({"choices": [], "usage": usage}), b"data: [DONE]\n\n"]
        return Reply(kind="text/event-stream", pieces=tuple(events), hold=self.says.hold)

    def too_long(self, length: int) -> Reply:
        raise NotImplementedError

    def likeliest(self, body: dict[str, Any]) -> Reply:
        shift = 0.0 if self.idle else self.strength(body)
        tops = [{"token": word, "logprob": -1.0 - number - shift} for number, word in enumerate(self.says.words)]
        content = [{"token": tops[0]["token"], "logprob": tops[0]["logprob"], "top_logprobs": tops}]
        return as_json({"choices": [{"message": {"content": "Hola"}, "logprobs": {"content": content}}]})


class LlamaServerDouble(OpenAIDouble):
    """llama.cpp's server with the adapters that it was started with."""

    def __init__(self, model_path: str = "/models/model.gguf", adapters: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.model_path = model_path
        self.adapters = [{"id": number, "path": path, "scale": 0.0} for number, path in enumerate(adapters)]

    def strength(self, body: dict[str, Any]) -> float:
        return sum(float(each["scale"]) for each in body.get("lora", self.adapters))

    def reply(self, asked: Asked) -> Reply:
        match asked.method, asked.target:
            case "GET", "/props":
                settings = {"n_ctx": self.context_size}
                named = {"model_alias": self.model_path, "model_path": self.model_path, "build_info": "b8681"}
                return as_json({"default_generation_settings": settings, "total_slots": 2, **named})
            case "GET", "/lora-adapters":
                return as_json(self.adapters)
            case "POST", "/lora-adapters":
                # Adapters that are not named get the scale 0, unknown ones are passed over.
                scales = {each["id"]: each["scale"] for each in asked.json}
                for each in self.adapters:
                    each["scale"] = scales.get(each["id"], 0.0)
                return as_json({"success": True})
            case "GET", "/v1/models":
                return as_json({"object": "list", "data": [{"id": self.model_path, "object": "model"}]})
            case "GET", "/slots":
                return as_json([{"id": 0, "is_processing": True}, {"id": 1, "is_processing": False}])
            case "POST", "/v1/chat/completions":
                return self.chat(asked.json)
            case _:
                return refusal(404, "File Not Found")

    def too_long(self, length: int) -> Reply:
        said = f"request ({length} tokens) exceeds the available context size ({self.context_size} tokens)"
        facts = {"type": "exceed_context_size_error", "n_prompt_tokens": length, "n_ctx": self.context_size}
        return as_json({"error": {"code": 400, "message": said, **facts}}, 400)


class VLLMDouble(OpenAIDouble):
    """vLLM with ``--enable-lora``; ``updating``: started with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True."""

    def __init__(self, model: str = "HuggingFaceTB/SmolLM2-135M-Instruct") -> None:
        super().__init__()
        self.model = model
        self.updating = True
        self.largest_rank = 16
        self.loaded: dict[str, str] = {}

    def strength(self, body: dict[str, Any]) -> float:
        return float(body["model"] in self.loaded)

    def reply(self, asked: Asked) -> Reply:
        match asked.method, asked.target:
            case "GET", "/v1/models":
                base = {"id": self.model, "object": "model", "parent": None, "max_model_len": self.context_size}
                cards = [{"id": name, "root": path, "parent": self.model} for name, path in self.loaded.items()]
                return as_json({"object": "list", "data": [base, *cards]})
            case "GET", "/version":
                return as_json({"version": "0.12.0"})
            case "POST", "/v1/load_lora_adapter" if self.updating:
                return self.load(asked.json)
            case "POST", "/v1/unload_lora_adapter" if self.updating:
                if self.loaded.pop(asked.json["lora_name"], None) is None:
                    return refusal(404, "The lora adapter cannot be found.")
                return Reply(kind="text/plain", pieces=(b"Success: LoRA adapter removed successfully.",))
            case "POST", "/v1/chat/completions":
                body = asked.json
                if body["model"] != self.model and body["model"] not in self.loaded:
                    return refusal(404, f"The model `{body['model']}` does not exist.")
                return self.chat(body)
            case _:
                return as_json({"detail": "Not Found"}, 404)

    def load(self, body: dict[str, str]) -> Reply:
        name, folder = body["lora_name"], Path(body["lora_path"])
        if name in self.loaded:
            return refusal(400, f"The lora adapter '{name}' has already been loaded.")
        if not (folder / "adapter_config.json").is_file():
            return refusal(404, f"No adapter found for {folder}")
        config = json.loads((folder / "adapter_config.json").read_text())
        if config["r"] > self.largest_rank:
            return refusal(500, f"LoRA rank {config['r']} is greater than max_lora_rank {self.largest_rank}.")
        assert config["lora_alpha"] > 0
        assert config["target_modules"]
        for tensor in load_file(folder / "adapter_model.safetensors"):
            assert tensor.startswith("base_model.model.model.layers.")
        self.loaded[name] = body["lora_path"]
        return Reply(kind="text/plain", pieces=(f"Success: LoRA adapter '{name}' added successfully.".encode(),))

    def chat(self, body: dict[str, Any]) -> Reply:
        length = sum(len(message["content"]) for message in body["messages"]) // 4
        if length < self.context_size < length + body["max_tokens"]:
            return self.too_long(length, body["max_tokens"])
        return super().chat(body)

    def too_long(self, length: int, answer: int = 0) -> Reply:
        said = f"This model's maximum context length is {self.context_size} tokens. However, you requested "
        said += f"{length + answer} tokens ({length} in the messages, {answer} in the completion). Please reduce it."
        return refusal(400, said)
