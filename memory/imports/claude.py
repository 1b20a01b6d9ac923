"""Claude's export: a list of messages under ``chat_messages``, each with blocks of text, thoughts and tools.

``sender`` is "human" or "assistant"; ``content`` has blocks of a ``type``; ``text`` is the same in one piece, with
remarks where there were tools. Newer exports name what each message follows (``parent_message_uuid``); in older ones
each follows the one before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memory.imports.told import Node, Told, Tree, Wrong, objects, required, seconds, text_of

_ROLES: Final = {"human": "user", "user": "user", "assistant": "assistant"}
_PASTED: Final = "paste.txt"


def recognises(entry: Mapping[str, Any]) -> bool:
    """Whether an object is a conversation of Claude's."""
    return "chat_messages" in entry


def read(entry: Mapping[str, Any]) -> Told:
    """Raises Wrong."""
    said = entry["chat_messages"]
    if not isinstance(said, list):
        raise Wrong("wrong_type", field="chat_messages")
    messages = objects(said)
    known = {required(message, "uuid") for message in messages}
    in_line = not any("parent_message_uuid" in message for message in messages)
    tree, before = Tree(), None
    for message in messages:
        id_ = required(message, "uuid")
        parent = before if in_line else message.get("parent_message_uuid")
        follows = isinstance(parent, str) and parent in known and parent != id_
        tree.add(_node(id_, parent if follows else None, message))
        before = id_
    created = seconds(entry.get("created_at")) or min((n.at for n in tree.nodes.values() if n.at), default=0.0)
    current = entry.get("current_leaf_message_uuid") or before
    return Told(
        "claude",
        required(entry, "uuid"),
        text_of(entry.get("name"), "name"),
        created,
        seconds(entry.get("updated_at")) or created,
        tree.shown(created, current if isinstance(current, str) else None),
        sum(not node.shown for node in tree.nodes.values()),
    )


def _node(id_: str, parent: str | None, message: Mapping[str, Any]) -> Node:
    role = _ROLES.get(str(message.get("sender")), "")
    blocks = [
        block["text"]
        for block in objects(message.get("content"))
        if block.get("type", "text") == "text" and isinstance(block.get("text"), str)
    ]
    text = "\n\n".join(filter(None, (block.strip() for block in blocks)))
    if not text and not objects(message.get("content")):
        # Exports of the first years had no blocks.
        text = text_of(message.get("text"), "text").strip()
    names = [
        str(each.get("file_name") or _PASTED)
        for name in ("attachments", "files")
        for each in objects(message.get(name))
    ]
    shown = bool(role and (text or names))
    return Node(id_, parent, role, text, seconds(message.get("created_at")), shown, attachments=tuple(names))
