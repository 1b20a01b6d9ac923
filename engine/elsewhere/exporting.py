"""A snapshot written out for others: weights, adapters (PEFT's form too), a Modelfile, a compose file and a page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from configs.disk import sync
from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.elsewhere.compose import Need, compose_file
from engine.elsewhere.errors import ExportFailed, ExportInTheWay
from engine.elsewhere.go_template import turns_of
from engine.elsewhere.llama_server import MARK
from engine.elsewhere.modelfile import Described
from engine.errors import ModelReplaced
from engine.fingerprint import file_sha256
from engine.gguf import check_gguf
from engine.served import AdapterFile, RecordedSnapshot, read_recorded, read_served

MODELFILE, COMPOSE, README = "Modelfile", "compose.yaml", "README.md"
TOGETHER = "enlace-together.gguf"
PEFT = "peft"
READABLE = 0o644
OPEN = 0o755


@dataclass(frozen=True)
class Export:
    """What was, or is to be, written. File names are those in the folder.

    ``adapters`` are those of the snapshot; ``ollama_adapter`` the one for Ollama, which takes no more than one.
    ``peft``: the folder that PEFT loads over the published weights, None where nothing was learned or the architecture
    is one whose layout there is not known. ``merged``: what was learned is part of the weights. ``template``: whether
    the Modelfile says the chat template.
    """

    snapshot: str
    base: str
    name: str
    model: str
    adapters: tuple[tuple[str, float], ...]
    ollama_adapter: str | None
    peft: str | None
    merged: bool
    template: bool
    context_size: int
    slots: int
    memory_mb: int


def export_snapshot(
    home: Home,
    settings: EngineSettings,
    digest: str,
    folder: Path,
    *,
    system: str,
    explain: Callable[[Export], str],
    copy: bool = False,
) -> Export:
    """Write the snapshot whose manifest is ``digest`` into ``folder``, which appears whole or not at all.

    The weights are a second name of the household's file where the disk allows that, a copy where it does not or
    where ``copy`` asks for one. ``explain`` writes the page for people. Raises ExportInTheWay, ExportFailed,
    ModelReplaced, AdapterMismatch, and what ``read_served`` and ``check_gguf`` raise.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise ExportInTheWay(path=str(folder))
    recorded = read_recorded(home, digest)
    model, merged = _weights(home, recorded)
    aside = folder.with_name(f".{folder.name}.{os.urandom(4).hex()}.part")
    try:
        aside.mkdir(parents=True)
        made = _Writer(home, settings, recorded, aside).write(model, merged, system, explain, copy=copy)
        _keep(aside)
        aside.chmod(OPEN)
        # Over an empty folder, or where there is none: the rename is what makes it appear.
        aside.replace(folder)
        sync(folder.parent)
        return made
    except OSError as error:
        raise ExportFailed(path=str(folder), reason=error.strerror or str(error)) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _weights(home: Home, recorded: RecordedSnapshot) -> tuple[Path, bool]:
    """The snapshot's weights, with what was learned merged into them where that was done."""
    served = read_served(home, recorded.manifest_digest)
    if served.merged:
        return served.model, True
    model = (served.pulled or served).model
    if file_sha256(home, model) != recorded.base_sha256:
        raise ModelReplaced(path=str(model), snapshot=recorded.name)
    return model, False


class _Writer:
    """Fills a folder that nobody sees yet."""

    def __init__(self, home: Home, settings: EngineSettings, recorded: RecordedSnapshot, folder: Path) -> None:
        self._home = home
        self._settings = settings
        self._recorded = recorded
        self._folder = folder

    def write(self, model: Path, merged: bool, system: str, explain: Callable[[Export], str], *, copy: bool) -> Export:
        recorded, summary = self._recorded, check_gguf(model)
        adapters = () if merged else recorded.adapters
        name = f"{recorded.base_name}-{recorded.name}.gguf" if merged else f"{recorded.base_name}.gguf"
        _put(model, self._folder / name, link=not copy)
        written = tuple((self._put_adapter(adapter), adapter.scale) for adapter in adapters)
        for_ollama = self._for_ollama(model, written)
        size = min(self._settings.context_size, summary.context_length or self._settings.context_size)
        turns = turns_of(model)
        need = Need(
            weights=summary.file_size,
            adapters=sum((self._folder / file).stat().st_size for file, _ in written),
            cache_per_token=summary.cache_bytes_per_token,
            context_size=size,
            slots=self._settings.slots,
        )
        made = Export(
            snapshot=recorded.name,
            base=recorded.base_name,
            name=f"enlace:{recorded.name}",
            model=name,
            adapters=written,
            ollama_adapter=for_ollama,
            peft=self._put_peft(model, summary.architecture),
            merged=merged,
            template=turns is not None,
            context_size=size,
            slots=need.slots,
            memory_mb=need.megabytes(self._settings.export.overhead_mb),
        )
        described = Described(turns, size, self._settings.sampling, system)
        self._say(MODELFILE, described.modelfile(f"./{name}", [f"./{for_ollama}"] if for_ollama else []))
        remark = f"Enlace · {recorded.base_name} · {recorded.name}"
        self._say(COMPOSE, compose_file(made.name, name, written, need, self._settings.export, remark))
        self._say(README, explain(made))
        return made

    def _put_adapter(self, adapter: AdapterFile) -> str:
        """A copy under a name by which a client of llama-server knows which adapter it is."""
        digest = "".join(adapter.path.parts[-2:])
        name = f"enlace-{digest[:MARK]}.gguf"
        _put(adapter.path, self._folder / name, link=False)
        return name

    def _for_ollama(self, model: Path, written: tuple[tuple[str, float], ...]) -> str | None:
        if not written:
            return None
        if len(written) == 1 and written[0][1] == 1:
            return written[0][0]
        from engine.elsewhere.lora import write_gguf

        write_gguf(self._folder / TOGETHER, self._recorded.adapters, model)
        return TOGETHER

    def _put_peft(self, model: Path, architecture: str) -> str | None:
        """All of the snapshot's adapters as one folder of PEFT's, also where they are part of the weights as well."""
        from engine.elsewhere.lora import PERMUTED, write_peft

        if not self._recorded.adapters or architecture not in PERMUTED:
            return None
        # The household knows the base by a name of its own, which PEFT would look for on a hub: so none is said.
        write_peft(self._folder / PEFT, self._recorded.adapters, model, None)
        for path in (self._folder / PEFT).iterdir():
            path.chmod(READABLE)
        (self._folder / PEFT).chmod(OPEN)
        return PEFT

    def _say(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, encoding="utf-8")


def _put(source: Path, target: Path, *, link: bool) -> None:
    """Another name of ``source``, or a copy of it. Raises OSError."""
    if link:
        try:
            os.link(source.resolve(), target)
        except OSError:
            # Another disk, or one without such links.
            link = False
    if not link:
        shutil.copyfile(source, target)
        target.chmod(READABLE)


def _keep(folder: Path) -> None:
    for path in (*folder.iterdir(), folder):
        sync(path)
