"""What a snapshot's manifest says is to be served: a base model and adapters over it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from configs.home import Home
from engine.answers import PRIVATELY, PrivateAdapter
from engine.catalogue import model_path
from engine.errors import (
    AdapterMismatch,
    ModelBroken,
    ModelReplaced,
    PrivateAdapterBroken,
    SnapshotApart,
    SnapshotBroken,
)
from engine.fingerprint import file_sha256
from engine.forms.records import FormRecord
from engine.forms.serving import served_form
from engine.gguf import check_gguf
from engine.routes import Route, route_from_text

MANIFEST_FORMAT = 1


@dataclass(frozen=True)
class AdapterFile:
    """A LoRA adapter in GGUF form and how strongly it is applied.

    ``route``: which conversations it is for, as its file says (``adapter_file``); None where it is for all.
    """

    path: Path
    scale: float
    route: Route | None = field(default=None, compare=False)


def adapter_file(path: Path, scale: float) -> AdapterFile:
    """An adapter with the route that its file holds. Raises AdapterMismatch."""
    try:
        text = check_gguf(path).route
    except ModelBroken as error:
        raise AdapterMismatch(path=str(path), reason=str(error.facts["reason"])) from error
    return AdapterFile(path, scale, route_from_text(text, str(path)) if text else None)


# Adapters that are applied together. What one set computed, no other one may build on.
AdapterSet = tuple[AdapterFile, ...]


@dataclass(frozen=True)
class ServedSnapshot:
    """One snapshot, ready to be loaded: the file ``model`` with ``adapters`` over it.

    Where the model is served in another form than as pulled, ``form`` is what was measured of it, and ``pulled`` the
    same snapshot over the file as pulled. ``merged``: the snapshot's adapters are part of the weights in ``model``.
    """

    name: str
    manifest_digest: str
    model_name: str
    model: Path
    adapters: AdapterSet
    form: FormRecord | None = None
    merged: bool = False
    pulled: ServedSnapshot | None = None


@dataclass(frozen=True)
class RecordedSnapshot:
    """What a manifest says, whether or not the base model's file is on this machine."""

    name: str
    manifest_digest: str
    base_name: str
    base_sha256: str
    adapters: tuple[AdapterFile, ...]


def read_served(home: Home, manifest_digest: str) -> ServedSnapshot:
    """The snapshot whose manifest is the artifact ``manifest_digest``, in the form that is on record for its model.

    Adapters are only served over the very file they were trained on. Raises SnapshotBroken (manifest or adapter
    missing, damaged or of another format), AdapterMismatch (one is no adapter), ModelMissing and ModelReplaced.
    """
    recorded = read_recorded(home, manifest_digest)
    model = model_path(home, recorded.base_name)
    if recorded.adapters and file_sha256(home, model) != recorded.base_sha256:
        raise ModelReplaced(path=str(model), snapshot=recorded.name)
    pulled = ServedSnapshot(recorded.name, manifest_digest, recorded.base_name, model, recorded.adapters)
    form = served_form(home, model, [(_digest(file.path), file.scale) for file in recorded.adapters])
    if form is None:
        return pulled
    adapters = () if form.merged else recorded.adapters
    return replace(pulled, model=form.weights, adapters=adapters, form=form.record, merged=form.merged, pulled=pulled)


def adapted(home: Home, served: ServedSnapshot, adapters: Sequence[tuple[str, float]]) -> ServedSnapshot:
    """The model of ``served`` with these adapters of the store (digest, scale) in place of the snapshot's own.

    Raises SnapshotBroken (one is missing or damaged) and AdapterMismatch (one is no adapter, or what was learned is
    part of the weights).
    """
    if served.merged:
        raise AdapterMismatch(path=str(served.model), reason="what was learned is merged into the weights")
    files = tuple(_adapter(home, digest, {"sha256": digest, "scale": scale}) for digest, scale in adapters)
    chosen = "+".join(f"{digest[:8]}x{scale:g}" for digest, scale in adapters) or "base"
    return replace(served, name=f"{served.name}:{chosen}", adapters=files, pulled=None)


def beside(home: Home, served: ServedSnapshot, manifest_digest: str) -> ServedSnapshot:
    """Another snapshot as it would be served, for single answers while ``served`` is what everybody is answered with.

    Raises SnapshotApart where it takes other weights than those that are loaded, and what ``read_served`` raises.
    """
    other = read_served(home, manifest_digest)
    if (other.model, other.form) != (served.model, served.form):
        raise SnapshotApart(snapshot=other.name, served=served.name)
    return other


def with_private(home: Home, served: ServedSnapshot, private: PrivateAdapter) -> ServedSnapshot | None:
    """``served`` with a member's own adapter over it; None where that is not what the adapter was trained over.

    Each is on by its own route. Raises PrivateAdapterBroken and AdapterMismatch.
    """
    if served.manifest_digest != private.manifest or not is_as_recorded(home, served):
        return None
    entry = {"sha256": private.sha256, "scale": private.scale}
    try:
        file = _adapter(home.of_member(private.member), private.sha256, entry)
    except SnapshotBroken as error:
        raise PrivateAdapterBroken(**error.facts) from error
    name = f"{served.name}{PRIVATELY}{private.sha256[:8]}"
    return replace(served, name=name, adapters=(*served.adapters, file), pulled=None)


def is_as_recorded(home: Home, served: ServedSnapshot) -> bool:
    """Whether ``served`` is computed with the very file that its manifest names, and with its adapters over it.

    What was trained over that was measured over nothing else: no other form of the file, no merged weights.
    """
    if served.merged or served.model != (served.pulled or served).model:
        return False
    try:
        found = file_sha256(home, served.model)
    except OSError:
        return False
    return bool(_read_manifest(home, served.manifest_digest)["base"]["sha256"] == found)


def read_recorded(home: Home, manifest_digest: str) -> RecordedSnapshot:
    """The same without its model's file. Raises SnapshotBroken and AdapterMismatch."""
    manifest = _read_manifest(home, manifest_digest)
    try:
        adapters = tuple(_adapter(home, manifest_digest, entry) for entry in manifest["adapters"])
        name, base = str(manifest["name"]), manifest["base"]
        base_name, base_sha256 = str(base["name"]), str(base["sha256"])
    except (KeyError, TypeError, ValueError) as error:
        raise SnapshotBroken(digest=manifest_digest, reason=f"the manifest lacks or garbles {error}") from error
    return RecordedSnapshot(name, manifest_digest, base_name, base_sha256, adapters)


def _read_manifest(home: Home, digest: str) -> dict[str, Any]:
    if len(digest) != hashlib.sha256().digest_size * 2 or not all(c in "0123456789abcdef" for c in digest):
        raise SnapshotBroken(digest=digest, reason="not a SHA-256 in hex")
    try:
        content = home.artifact(digest).read_bytes()
    except OSError as error:
        raise SnapshotBroken(digest=digest, reason=error.strerror or str(error)) from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise SnapshotBroken(digest=digest, reason="its content does not match its name")
    try:
        manifest = json.loads(content)
    except ValueError as error:
        raise SnapshotBroken(digest=digest, reason=f"not JSON: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != MANIFEST_FORMAT:
        raise SnapshotBroken(digest=digest, reason="a manifest of another format")
    return manifest


def _adapter(home: Home, digest: str, entry: dict[str, Any]) -> AdapterFile:
    path = home.artifact(str(entry["sha256"]))
    try:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SnapshotBroken(digest=digest, reason=f"its adapter {path.name[:8]}: {error.strerror}") from error
    if content != entry["sha256"]:
        raise SnapshotBroken(digest=digest, reason=f"its adapter {path.name[:8]} is damaged")
    return adapter_file(path, float(entry["scale"]))


def _digest(artifact: Path) -> str:
    """The digest of an artifact from its place in the store (``Home.artifact``)."""
    return artifact.parent.name + artifact.name


def exchanged(served: ServedSnapshot) -> AdapterMismatch:
    """What there is to say of adapters that were to be laid over a model that is not served any more."""
    return AdapterMismatch(path=str(served.model), reason="the model was exchanged meanwhile")
