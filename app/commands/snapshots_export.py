"""``enlace snapshots export``: a snapshot as files with which any machine of the house serves it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.opening import open_session
from app.commands.options import JsonOption
from app.commands.output import write, write_json
from app.paths import whole_path

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from configs.sections.exporting import ExportSettings
    from engine.elsewhere.exporting import Export


def export(
    to: Annotated[Path, typer.Option("--to", help="command.snapshots.export.to")],
    snapshot_id: Annotated[str | None, typer.Argument(help="command.snapshots.id")] = None,
    copy: Annotated[bool, typer.Option("--copy", help="command.snapshots.export.copy")] = False,
    as_json: JsonOption = False,
) -> int:
    """Write a snapshot, the current one by default, into a folder of its own."""
    from engine.elsewhere.exporting import export_snapshot

    with open_session() as session:
        current, snapshots = session.snapshot(), session.household.snapshots
        digest = snapshots.whole(snapshots.named(snapshot_id).id if snapshot_id else current.id).digest
        folder, texts, settings = whole_path(to), session.catalogue, session.settings
        made = export_snapshot(
            session.home,
            settings.engine,
            digest,
            folder,
            system=settings.assistant.system_prompt,
            explain=lambda made: page(texts, made, settings.engine.export),
            copy=copy,
        )
        if as_json:
            write_json({"folder": str(folder), **asdict(made)})
        else:
            facts = {"snapshot": made.snapshot, "folder": str(folder), "memory_mb": made.memory_mb}
            write(texts.text("command.snapshots.export.done", **facts))
        return 0


def page(texts: Catalogue, made: Export, settings: ExportSettings) -> str:
    """The page for people, in the language of whoever exported it."""
    facts = asdict(made) | {
        "ollama_image": settings.ollama_image,
        "ollama_port": settings.ollama_port,
        "llama_server_port": settings.llama_server_port,
    }
    learned = "merged" if made.merged else "adapters" if made.adapters else "base"
    files = "".join(f"- `{name}`\n" for name, _ in made.adapters)
    lora = "".join(
        f" --lora {name}" if scale == 1 else f" --lora-scaled {name}:{scale:g}" for name, scale in made.adapters
    )
    template = "template" if made.template else "no_template"
    over = "over_published" if made.merged else "over_weights"
    peft = {
        "peft_file": texts.text("command.snapshots.export.peft.file", **facts) if made.peft else "",
        "with_peft": texts.text(f"command.snapshots.export.peft.{over}", **facts) if made.peft else "",
    }
    return texts.text(
        "command.snapshots.export.page",
        **facts
        | peft
        | {
            "learned": texts.text(f"command.snapshots.export.learned.{learned}", **facts),
            "about_template": texts.text(f"command.snapshots.export.{template}"),
            "adapter_files": files,
            "lora": lora,
            "context_all": made.context_size * made.slots,
        },
    )
