"""``enlace backup``: the whole home in one file, read back to see that it is whole, or put in the home's place."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.bytes_text import size_text
from app.commands.opening import last_catalogue, open_session
from app.commands.options import JsonOption, group, moment
from app.commands.output import remark, write, write_json
from app.commands.progress import progress
from app.paths import whole_path

if TYPE_CHECKING:
    from app.backup.checking import Verified
    from app.backup.creating import Made
    from app.backup.reading import Without
    from app.catalogue import Catalogue

FileArgument = Annotated[Path, typer.Argument(help="command.backup.file")]
_ENDING = ".tar"
_MOST_A_SECOND = 1000


def register(commands: typer.Typer) -> None:
    """Add the group ``backup``."""
    backup = group("backup")
    backup.command("create", help="command.backup.create")(create)
    backup.command("verify", help="command.backup.verify")(verify)
    backup.command("restore", help="command.backup.restore")(restore)
    commands.add_typer(backup)


def create(
    to: Annotated[str | None, typer.Argument(help="command.backup.to")] = None,
    without_models: Annotated[bool, typer.Option("--without-models", help="command.backup.without_models")] = False,
    skip_damaged: Annotated[bool, typer.Option("--skip-damaged", help="command.backup.skip_damaged")] = False,
    as_json: JsonOption = False,
) -> int:
    """Write a backup of the home into a new file."""
    from app.backup.bag import top_of
    from app.backup.creating import create as make
    from app.backup.errors import HomeFilesDamaged
    from engine.release import installed_version

    with open_session() as session:
        home, now = session.home, time.time()
        # A home that nobody lives in yet is not made one by this.
        words = session.catalogue_unopened()
        place = _place(to, now)
        version, facts = installed_version() or "", {"name": place.name, "stem": top_of(place)}
        try:
            with progress(words, "command.backup.progress.copying") as tell:
                made = make(
                    home,
                    place,
                    models=not without_models,
                    skip_damaged=skip_damaged,
                    tries=session.settings.memory.copy_tries,
                    busy_seconds=session.settings.memory.busy_seconds,
                    now=now,
                    version=version,
                    readme=words.text("command.backup.readme", version=version, **facts),
                    tell=tell,
                )
        except HomeFilesDamaged as damaged:
            _tell_problems(words, place, [("damaged", path) for path in damaged.paths], as_json=as_json)
            raise
        if as_json:
            write_json({**asdict(made), "file": str(made.file)})
            return 0
        _tell_made(words, made)
        return 0


def verify(file: FileArgument, as_json: JsonOption = False) -> int:
    """Read a backup to its end, and check all of it."""
    from app.backup.checking import verify as check
    from app.backup.errors import BackupDamaged, BackupTooNew, BackupUnreadable, BackupUnsafe

    # The home is not opened: it may be what is broken.
    words, path = last_catalogue(), whole_path(file)
    try:
        with progress(words, "command.backup.progress.checking") as tell:
            verified = check(path, tell)
    except BackupDamaged as damaged:
        _tell_problems(words, path, damaged.problems, as_json=as_json)
        raise
    except (BackupUnreadable, BackupUnsafe, BackupTooNew) as error:
        if as_json:
            _tell_problems(words, path, [(error.code, str(error.facts.get("path", path)))], as_json=True)
        raise
    whole = not verified.unanswering
    if as_json:
        write_json({"file": str(path), "whole": whole, **_facts(verified)})
        return int(not whole)
    write(words.text(f"command.backup.{'whole' if whole else 'unanswering'}", file=path, **_shown(words, verified)))
    _tell_without(words, verified.about.without)
    _tell_way_to_answers(words, verified.unanswering)
    return int(not whole)


def restore(
    file: FileArgument,
    replace: Annotated[bool, typer.Option("--replace", help="command.backup.replace")] = False,
    as_json: JsonOption = False,
) -> int:
    """Make the home what a backup holds."""
    from app.backup.errors import BackupDamaged
    from app.backup.restoring import restore as put_back

    with open_session() as session:
        words, path = session.catalogue_unopened(), whole_path(file)
        try:
            with progress(words, "command.backup.progress.restoring") as tell:
                restored = put_back(session.home, path, replace=replace, now=time.time(), tell=tell)
        except BackupDamaged as damaged:
            _tell_problems(words, path, damaged.problems, as_json=as_json)
            raise
        if as_json:
            moved = str(restored.moved_to) if restored.moved_to else None
            write_json({"home": str(session.home.root), "moved_to": moved, **_facts(restored.verified)})
            return 0
        write(words.text("command.backup.restored", home=session.home.root, **_shown(words, restored.verified)))
        if restored.moved_to:
            write(words.text("command.backup.moved", path=restored.moved_to))
        _tell_without(words, restored.verified.about.without)
        _tell_way_to_answers(words, restored.verified.unanswering)
        return 0


def _place(to: str | None, now: float) -> Path:
    """The file that is written: the one that is named, or one with a name of ours in the folder that is.

    Raises FileNotWritten where a folder is named, by a slash at its end, that is none, or what cannot be looked at.
    """
    from memory.errors import FileNotWritten

    place = whole_path(to or "")
    try:
        folder, there = place.is_dir(), place.exists()
    except OSError as error:
        raise FileNotWritten(path=str(place), reason=error.strerror or str(error)) from error
    if not folder:
        if to and to.endswith("/"):
            raise FileNotWritten(path=to, reason=os.strerror(errno.ENOTDIR if there else errno.ENOENT))
        return place
    stem = f"enlace-{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}"
    # Several are made within a second where a home is small.
    names = (f"{stem}{more}{_ENDING}" for more in ("", *(f"-{number}" for number in range(2, _MOST_A_SECOND))))
    return next((path for path in map(place.joinpath, names) if not path.exists()), place / f"{stem}{_ENDING}")


def _tell_made(words: Catalogue, made: Made) -> None:
    facts = {"file": made.file, "files": made.files, "size": size_text(words, made.size)}
    write(words.text("command.backup.made", **facts))
    write(words.text("command.backup.private"))
    if made.models_bytes:
        write(words.text("command.backup.with_models", models=size_text(words, made.models_bytes)))
    _tell_without(words, made.without)
    _tell_way_to_answers(words, made.unanswering)


def _tell_without(words: Catalogue, without: Sequence[Without]) -> None:
    """What is not in a backup: each model with the way to have it again, and what was damaged or missing."""
    from engine.offers import offers

    known = {offer.name for offer in offers()}
    for each in without:
        path = Path(each.path)
        name, facts = path.stem, {"path": each.path, "size": size_text(words, each.bytes or 0)}
        if each.why != "left_out":
            remark(words.text(f"command.backup.not_in_it.{each.why}", **facts))
        elif path.suffix == ".gguf" and path.parent.name == "models":
            key = "pull" if name in known else "import"
            remark(words.text(f"command.backup.not_in_it.{key}", name=name, **facts))


def _tell_way_to_answers(words: Catalogue, unanswering: Sequence[str]) -> None:
    """How a home that is made of the backup answers again, where it lacks what the current snapshot is made of."""
    if unanswering:
        remark(words.text("command.backup.way_to_answers"))


def _tell_problems(words: Catalogue, file: Path, problems: Sequence[tuple[str, str]], *, as_json: bool) -> None:
    if as_json:
        told = [{"problem": kind, "path": name} for kind, name in problems]
        write_json({"file": str(file), "whole": False, "problems": told})
        return
    for kind in dict.fromkeys(kind for kind, _ in problems):
        _tell_each(words, kind, [name for each, name in problems if each == kind])


def _tell_each(words: Catalogue, kind: str, names: Sequence[str]) -> None:
    for name in names:
        remark(words.text(f"command.backup.problems.{kind}", path=name))


def _shown(words: Catalogue, verified: Verified) -> dict[str, Any]:
    from memory.clock import seconds_of

    about = verified.about
    return {
        "files": verified.files,
        "size": size_text(words, verified.bytes),
        "made_at": moment(seconds_of(about.made_at)),
        "version": about.version,
    }


def _facts(verified: Verified) -> dict[str, Any]:
    numbers = {"files": verified.files, "bytes": verified.bytes, "unanswering": list(verified.unanswering)}
    return {**numbers, **asdict(verified.about)}
