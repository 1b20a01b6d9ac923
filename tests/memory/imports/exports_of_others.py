"""Exports as other assistants write them, in small."""

from __future__ import annotations

from typing import Any

AT = 1_700_000_000.0


def chatgpt_message(
    id_: str, role: str, *parts: Any, at: float | None = AT, kind: str = "text", **more: Any
) -> dict[str, Any]:
    """A message as it lies in a node."""
    return {
        "id": id_,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": {"content_type": kind, "parts": list(parts)},
        "status": "finished_successfully",
        "recipient": "all",
        "metadata": {},
    } | more


def chatgpt_node(id_: str, parent: str | None, message: dict[str, Any] | None, *children: str) -> dict[str, Any]:
    return {"id": id_, "message": message, "parent": parent, "children": list(children)}


def chatgpt(title: str = "Huevos") -> dict[str, Any]:
    """A question, a hidden instruction before it, a tool called for its answer, and another answer to it."""
    hidden: dict[str, Any] = {"metadata": {"is_visually_hidden_from_conversation": True}}
    nodes = [
        chatgpt_node("root", None, None, "sys"),
        chatgpt_node("sys", "root", chatgpt_message("sys", "system", "You are ChatGPT", at=None, **hidden), "q1"),
        chatgpt_node("q1", "sys", chatgpt_message("q1", "user", "¿Cuánto hierve un huevo?", at=AT + 1), "a1", "call"),
        chatgpt_node("a1", "q1", chatgpt_message("a1", "assistant", "Siete minutos.", at=AT + 2)),
        chatgpt_node(
            "call", "q1", chatgpt_message("call", "assistant", "search()", at=AT + 3, recipient="browser"), "tool"
        ),
        chatgpt_node("tool", "call", chatgpt_message("tool", "tool", "a page", at=AT + 4), "think"),
        chatgpt_node("think", "tool", chatgpt_message("think", "assistant", "hmm", kind="thoughts", at=AT + 4.5), "a2"),
        chatgpt_node(
            "a2",
            "think",
            chatgpt_message(
                "a2",
                "assistant",
                "Diez minutos.\ue200cite\ue202turn0search1\ue201",
                at=AT + 5,
                metadata={"model_slug": "gpt-4o"},
            ),
        ),
    ]
    return {
        "title": title,
        "create_time": AT,
        "update_time": AT + 5,
        "mapping": {node["id"]: node for node in nodes},
        "current_node": "a2",
        "conversation_id": f"conv-{title}",
        "id": f"conv-{title}",
    }


def claude(title: str = "Viaje") -> dict[str, Any]:
    """A question with a file, thoughts and a tool before its answer."""
    return {
        "uuid": f"uuid-{title}",
        "name": title,
        "created_at": "2024-05-01T10:00:00.000000Z",
        "updated_at": "2024-05-01T10:05:00.000000Z",
        "account": {"uuid": "me"},
        "chat_messages": [
            {
                "uuid": "m1",
                "text": "¿Adónde vamos?",
                "content": [{"type": "text", "text": "¿Adónde vamos?"}],
                "sender": "human",
                "created_at": "2024-05-01T10:00:01.000000Z",
                "attachments": [{"file_name": "mapa.txt", "file_type": "txt", "extracted_content": "…"}],
                "files": [{"file_name": "foto.jpg"}],
            },
            {
                "uuid": "m2",
                "text": "```\nThis block is not supported\n```\nA la nieve.",
                "content": [
                    {"type": "thinking", "thinking": "secret"},
                    {"type": "tool_use", "name": "maps", "input": {}},
                    {"type": "tool_result", "name": "maps", "content": []},
                    {"type": "text", "text": "A la nieve."},
                ],
                "sender": "assistant",
                "created_at": "2024-05-01T10:00:05.000000Z",
                "attachments": [],
                "files": [],
            },
        ],
    }


def open_webui(title: str = "Mates") -> dict[str, Any]:
    """A question with two answers side by side; the second is in use and has its thoughts in its text."""
    thoughts = '<details type="reasoning" done="true" duration="3">\n<summary>Thought</summary>\n> hm\n</details>\n'
    messages = {
        "q": {
            "id": "q",
            "parentId": None,
            "childrenIds": ["a", "b"],
            "role": "user",
            "content": "¿2+2?",
            "timestamp": 1,
        },
        "a": {"id": "a", "parentId": "q", "childrenIds": [], "role": "assistant", "content": "5", "timestamp": 2},
        "b": {
            "id": "b",
            "parentId": "q",
            "childrenIds": [],
            "role": "assistant",
            "content": thoughts + "4",
            "model": "qwen3:4b",
            "timestamp": 3,
            "done": False,
        },
    }
    history = {"messages": messages, "currentId": "b"}
    chat = {"id": "", "title": title, "models": ["qwen3:4b"], "history": history, "messages": [], "timestamp": 1000}
    return {
        "id": f"owui-{title}",
        "user_id": "me",
        "title": title,
        "chat": chat,
        "created_at": 1_600_000_000,
        "updated_at": 1_600_000_100,
        "archived": False,
    }
