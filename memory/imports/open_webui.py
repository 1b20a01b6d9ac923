"""Open WebUI's export: a tree of messages under ``chat.history``, with thoughts and tools inside the answers' text.

``history.messages`` holds the messages by their ids, each naming its ``parentId``; ``history.currentId`` is the end of
the branch in use. Exports of the first versions have a list, ``chat.messages``, alone. Times are in seconds, or in
milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from memory.imports.told import Ending, Node, Told, Tree, Wrong, objects, required, seconds, text_of

# What the model thought, which tools it called and what they gave: shown folded there, and never part of what it said.
_FOLDED: Final = re.compile(r'<details type="[^"]*"[^>]*>.*?(?:</details>|\Z)\n?', re.DOTALL)


def recognises(entry: Mapping[str, Any]) -> bool:
    """Whether an object is a conversation of Open WebUI's, with or without what the server keeps of it."""
    chat = entry.get("chat", entry)
    return isinstance(chat, dict) and (
        isinstance(chat.get("history"), dict)
        or (isinstance(chat.get("messages"), list) and ("models" in chat or "chat" in entry))
    )


def read(entry: Mapping[str, Any]) -> Told:
    """Raises Wrong."""
    chat: Mapping[str, Any] = entry.get("chat", entry)
    history = chat.get("history")
    kept = history.get("messages") if isinstance(history, dict) else None
    tree = Tree()
    if isinstance(kept, dict) and kept:
        for id_, message in kept.items():
            if not isinstance(message, dict):
                raise Wrong("wrong_type", field="messages")
            parent = message.get("parentId")
            tree.add(_node(id_, parent if isinstance(parent, str) and parent in kept else None, message))
        current = history.get("currentId") if isinstance(history, dict) else None
    else:
        current = None
        for number, message in enumerate(objects(chat.get("messages"))):
            id_ = str(message.get("id") or number)
            tree.add(_node(id_, current, message))
            current = id_
    first = next(iter(tree.nodes), "")
    created = _created(entry, chat, tree)
    return Told(
        "open_webui",
        # A conversation that was copied out of the page has no id of its own, but its messages have theirs.
        required({"id": entry.get("id") or chat.get("id") or first}, "id"),
        text_of(entry.get("title") or chat.get("title"), "title"),
        created,
        seconds(entry.get("updated_at")) or created,
        tree.shown(created, current if isinstance(current, str) else None),
        sum(not node.shown for node in tree.nodes.values()),
    )


def _created(entry: Mapping[str, Any], chat: Mapping[str, Any], tree: Tree) -> float:
    told = seconds(entry.get("created_at")) or seconds(chat.get("timestamp"))
    return told or min((node.at for node in tree.nodes.values() if node.at), default=0.0)


def _node(id_: str, parent: str | None, message: Mapping[str, Any]) -> Node:
    role = str(message.get("role"))
    said = message.get("content")
    if isinstance(said, list):
        said = "\n\n".join(str(each["text"]) for each in objects(said) if isinstance(each.get("text"), str))
    text = text_of(said, "content")
    text = (_FOLDED.sub("", text) if role == "assistant" else text).strip()
    names = [str(each.get("name") or each.get("type") or "?") for each in objects(message.get("files"))]
    ending: Ending = "failed" if message.get("error") else "stopped" if message.get("done") is False else "complete"
    return Node(
        id_,
        parent,
        role,
        text,
        seconds(message.get("timestamp")),
        role in ("user", "assistant") and bool(text or names),
        ending,
        str(message.get("modelName") or message.get("model") or ""),
        tuple(names),
    )
