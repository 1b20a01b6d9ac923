"""ChatGPT's export: a tree of nodes under ``mapping``, most of which a person never saw.

Each node has its ``message``, or null at the root, and names its ``parent`` and ``children``; ``current_node`` is the
end of the branch in use. A message has an author with a role, a ``content`` of some ``content_type`` with ``parts`` or
``text``, a ``recipient`` that is a tool's name where a tool is called, and ``metadata``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from memory.imports.told import Node, Told, Tree, Wrong, objects, required, seconds, stable_id, text_of

_SAID: Final = ("text", "multimodal_text")
# What stands for a source in an answer, between characters of the private use area that no font shows.
_CITATION: Final = re.compile("\ue200[^\ue200\ue201]*\ue201|[\ue200-\ue2ff]")
_UNFINISHED: Final = ("in_progress", "finished_partial_completion")


def recognises(entry: Mapping[str, Any]) -> bool:
    """Whether an object is a conversation of ChatGPT's."""
    return "mapping" in entry


def read(entry: Mapping[str, Any]) -> Told:
    """Raises Wrong."""
    mapping = entry["mapping"]
    if not isinstance(mapping, dict):
        raise Wrong("wrong_type", field="mapping")
    parents = _parents(mapping)
    tree = Tree()
    for id_, node in mapping.items():
        tree.add(_node(id_, parents.get(id_), node.get("message") if isinstance(node, dict) else None))
    created = seconds(entry.get("create_time")) or min((n.at for n in tree.nodes.values() if n.at), default=0.0)
    current = entry.get("current_node")
    messages = tree.shown(created, current if isinstance(current, str) else None)
    own = entry.get("conversation_id") or entry.get("id")
    return Told(
        "chatgpt",
        own if isinstance(own, str) else stable_id(required({"id": next(iter(mapping), "")}, "id")),
        text_of(entry.get("title"), "title"),
        created,
        seconds(entry.get("update_time")) or created,
        messages,
        sum(not node.shown and node.role != "" for node in tree.nodes.values()),
    )


def _parents(mapping: Mapping[str, Any]) -> dict[str, str]:
    """Which node each follows, by what it says itself, else by whom it is told as a child."""
    found: dict[str, str] = {}
    for id_, node in mapping.items():
        children = node.get("children") if isinstance(node, dict) else None
        for child in children if isinstance(children, list) else ():
            if isinstance(child, str):
                found.setdefault(child, id_)
    for id_, node in mapping.items():
        parent = node.get("parent") if isinstance(node, dict) else None
        if isinstance(parent, str) and parent in mapping:
            found[id_] = parent
    return found


def _node(id_: str, parent: str | None, message: Any) -> Node:
    if not isinstance(message, dict):
        return Node(id_, parent, "", "", shown=False)
    author, content, about = (_object(message.get(name)) for name in ("author", "content", "metadata"))
    role = author.get("role")
    text, names = _said(content)
    names += [str(each["name"]) for each in objects(about.get("attachments")) if each.get("name")]
    shown = (
        role in ("user", "assistant")
        and content.get("content_type", "text") in _SAID
        and message.get("recipient") in (None, "all")
        and not about.get("is_visually_hidden_from_conversation")
        and bool(text or names)
    )
    return Node(
        id_,
        parent,
        str(role),
        text,
        seconds(message.get("create_time")),
        shown,
        "stopped" if message.get("status") in _UNFINISHED else "complete",
        str(about.get("model_slug") or ""),
        tuple(dict.fromkeys(names)),
    )


def _said(content: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The text of a message, and names of what is not text in it."""
    texts, names = [], []
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            # What was said aloud, as it was understood.
            texts.append(part["text"])
        elif isinstance(part, dict) and part.get("asset_pointer"):
            names.append(str(part["asset_pointer"]).rpartition("/")[2])
    return _CITATION.sub("", "\n".join(filter(None, texts))).strip(), names


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
