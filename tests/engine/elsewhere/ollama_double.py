"""Ollama, as its documentation describes it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from tests.engine.elsewhere.doubles import Asked, Double, Reply, Spoken, as_json


@dataclass
class Made:
    """A model that Ollama was told to create."""

    request: dict[str, Any]
    base: str


class OllamaDouble(Double):
    """Ollama; ``takes_adapters`` is False from 0.34.1 on."""

    def __init__(self, *models: str) -> None:
        super().__init__()
        self.says = Spoken()
        self.takes_adapters = True
        self.blobs: dict[str, int] = {}
        self.models = {name: Made({}, "f" * 64) for name in models}

    def reply(self, asked: Asked) -> Reply:
        match asked.method, asked.target.split("/")[1:]:
            case "GET", ["api", "tags"]:
                return as_json({"models": [{"name": name, "digest": "0" * 64} for name in self.models]})
            case "GET", ["api", "version"]:
                return as_json({"version": "0.12.6"})
            case "POST", ["api", "show"]:
                made = self.models.get(asked.json["model"])
                if made is None:
                    return as_json({"error": "model not found"}, 404)
                return as_json({"modelfile": f"# Modelfile\nFROM /root/.ollama/models/blobs/sha256-{made.base}\n"})
            case "HEAD", ["api", "blobs", digest]:
                return Reply(200 if digest in self.blobs else 404)
            case "POST", ["api", "blobs", digest]:
                if f"sha256:{hashlib.sha256(asked.body).hexdigest()}" != digest:
                    return as_json({"error": "digest mismatch"}, 400)
                self.blobs[digest] = len(asked.body)
                return Reply(201)
            case "POST", ["api", "create"]:
                return self.create(asked.json)
            case "DELETE", ["api", "delete"]:
                return Reply(200 if self.models.pop(asked.json["model"], None) else 404)
            case "POST", ["api", "chat"]:
                return self.chat(asked.json)
            case _:
                return Reply(404, "text/plain", (b"404 page not found",))

    def create(self, body: dict[str, Any]) -> Reply:
        if body.get("adapters") and not self.takes_adapters:
            return as_json({"error": "LoRA adapters are no longer supported"}, 400)
        for digest in [*body["files"].values(), *body.get("adapters", {}).values()]:
            if digest not in self.blobs:
                return as_json({"error": f"blob {digest} not found"}, 400)
        self.models[body["model"]] = Made(body, next(iter(body["files"].values())).removeprefix("sha256:"))
        return as_json({"status": "success"})

    def chat(self, body: dict[str, Any]) -> Reply:
        if body["model"] not in self.models:
            return as_json({"error": f"model '{body['model']}' not found"}, 404)
        length = sum(len(message["content"]) for message in body["messages"]) // 4
        if length >= body["options"]["num_ctx"]:
            assert body["truncate"] is False
            return as_json({"error": "the input length exceeds the context length"}, 400)
        lines: list[dict[str, Any]] = [
            {"message": {"role": "assistant", "content": w}, "done": False} for w in self.says.words
        ]
        end = {"prompt_eval_count": self.says.prompt_tokens, "eval_count": len(self.says.words), "eval_duration": 10**9}
        lines.append({"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", **end})
        pieces = tuple(json.dumps(line).encode() + b"\n" for line in lines)
        return Reply(kind="application/x-ndjson", pieces=pieces, hold=self.says.hold)
