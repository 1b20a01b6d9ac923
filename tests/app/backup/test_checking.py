"""A backup in which anything is not as it was put in is not called whole, and a hostile one is not unpacked."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from app.backup.bag import BagWriter, manifest_lines, read_manifest
from app.backup.errors import BackupDamaged, BackupTooNew, BackupUnreadable, BackupUnsafe
from configs.home import Home
from tests.app.backup.conftest import Family, flip, restore, rows, verify

TRIES = 150
Change = Callable[[list[tarfile.TarInfo], dict[str, bytes]], None]


@pytest.fixture
def backup(family: Family, tmp_path: Path) -> Path:
    return family.create(tmp_path / "casa.tar").file


def rewritten(path: Path, change: Change) -> Path:
    """The backup with its entries changed, and nothing else: no hash is made to fit."""
    with tarfile.open(path) as tar:
        entries = tar.getmembers()
        content = {entry.name: file.read() for entry in entries if (file := tar.extractfile(entry)) is not None}
    change(entries, content)
    made = path.with_name("rewritten.tar")
    with tarfile.open(made, "w") as tar:
        for entry in entries:
            data = content.get(entry.name, b"")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return made


def refitted(path: Path, changes: dict[str, bytes | None]) -> Path:
    """The backup with files put in or taken out, and every hash made to fit again, as somebody would who means it."""

    def change(entries: list[tarfile.TarInfo], content: dict[str, bytes]) -> None:
        for name, data in changes.items():
            full = f"casa/{name}"
            if data is None:
                entries[:] = [entry for entry in entries if entry.name != full]
                del content[full]
            else:
                if full not in content:
                    entries.append(tarfile.TarInfo(full))
                content[full] = data
        for manifest, holds in (("manifest-sha256.txt", True), ("tagmanifest-sha256.txt", False)):
            digests = {
                name.removeprefix("casa/"): hashlib.sha256(data).hexdigest()
                for name, data in content.items()
                if name.startswith("casa/data/") == holds and not name.endswith("tagmanifest-sha256.txt")
            }
            content[f"casa/{manifest}"] = manifest_lines(digests)

    return rewritten(path, change)


def problems(path: Path) -> list[tuple[str, str]]:
    with pytest.raises(BackupDamaged) as refused:
        verify(path)
    return list(refused.value.problems)


def test_a_whole_backup_is_called_whole(family: Family, backup: Path) -> None:
    verified = verify(backup)
    assert (verified.about.snapshot, verified.about.version, verified.about.without) == ("v1", "0.1.0", ())


def test_any_flipped_bit_is_found_wherever_it_lies(backup: Path) -> None:
    content, chance = backup.read_bytes(), random.Random(3)
    with tarfile.open(backup) as tar:
        spans = [(entry.offset_data, entry.offset_data + entry.size) for entry in tar if entry.isfile()]
    # Headers count too; what fills up the last block of a file means nothing to anybody.
    meaningful = [at for first, last in spans for at in range(first - 512, last)]
    for at in chance.sample(meaningful, TRIES):
        backup.write_bytes(content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :])
        with pytest.raises((BackupDamaged, BackupUnreadable, BackupUnsafe)):
            verify(backup)


def test_a_backup_that_is_cut_off_anywhere_is_not_whole(backup: Path) -> None:
    content = backup.read_bytes()
    with tarfile.open(backup) as tar:
        last = max(entry.offset_data + entry.size for entry in tar)
    for length in [0, 1, 511, *range(512, last, 512 * 7), last - 1]:
        backup.write_bytes(content[:length])
        with pytest.raises((BackupDamaged, BackupUnreadable)):
            verify(backup)


@pytest.mark.parametrize("content", [b"", b"photographs" * 1000, b"\x1f\x8b" + b"\0" * 2000])
def test_another_kind_of_file_is_no_backup(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "casa.tar").write_bytes(content)
    with pytest.raises(BackupUnreadable):
        verify(tmp_path / "casa.tar")


def test_a_backup_that_is_not_there_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(BackupUnreadable) as refused:
        verify(tmp_path / "casa.tar")
    assert refused.value.facts["reason"] == "No such file or directory"


def test_a_file_too_few_and_a_file_too_many_are_named(backup: Path) -> None:
    def change(entries: list[tarfile.TarInfo], content: dict[str, bytes]) -> None:
        entries[:] = [entry for entry in entries if not entry.name.endswith("config.yaml")]
        entries.append(tarfile.TarInfo("casa/data/more.yaml"))

    assert problems(rewritten(backup, change)) == [("extra", "more.yaml"), ("missing", "config.yaml")]


def test_what_a_snapshot_needs_and_is_not_there_is_named_though_every_hash_fits(family: Family, backup: Path) -> None:
    gone = f"store/sha256/{family.adapter[:2]}/{family.adapter[2:]}"
    mine = f"members/{family.ana}/store/sha256/{family.mine[:2]}/{family.mine[2:]}"
    changed = refitted(backup, {f"data/{gone}": None, f"data/{mine}": None, "data/models/casa.gguf": b"another"})
    assert problems(changed) == [("lacking", mine), ("lacking", "models/casa.gguf"), ("lacking", gone)]


def test_a_database_whose_pages_contradict_each_other_is_named_though_every_hash_fits(
    family: Family, backup: Path
) -> None:
    name = f"members/{family.ana}.db"
    with tarfile.open(backup) as tar:
        file = tar.extractfile(f"casa/data/{name}")
        assert file is not None
        content = bytearray(file.read())
    content[4096 * 2 : 4096 * 3] = b"\xff" * 4096
    assert ("contradicts", name) in problems(refitted(backup, {f"data/{name}": bytes(content)}))


def test_a_backup_without_the_familys_database_is_not_whole(backup: Path) -> None:
    assert problems(refitted(backup, {"data/family.db": None})) == [("lacking", "family.db")]


@pytest.mark.parametrize("newer", [{"format": 2}, {"migrations": ["9999_of_tomorrow"]}])
def test_a_backup_of_a_newer_version_is_refused_and_nothing_is_changed(
    backup: Path, tmp_path: Path, newer: dict[str, object]
) -> None:
    with tarfile.open(backup) as tar:
        file = tar.extractfile("casa/enlace.json")
        assert file is not None
        about = json.loads(file.read()) | {"version": "9.0"} | newer
    changed = refitted(backup, {"enlace.json": json.dumps(about).encode()})
    for attempt in (lambda: verify(changed), lambda: restore(Home(tmp_path / "new"), changed)):
        with pytest.raises(BackupTooNew) as refused:
            attempt()
        assert refused.value.facts["version"] == "9.0"
    assert not (tmp_path / "new").exists()


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, link
    return made


@pytest.mark.parametrize(
    "hostile",
    [
        entry("casa/data/../../../escaped"),
        entry("/escaped"),
        entry("../escaped"),
        entry("casa/data/./family.db"),
        entry("casa/data/link", tarfile.SYMTYPE, "/etc"),
        entry("casa/data/link", tarfile.LNKTYPE, "casa/data/family.db"),
        entry("casa/data/pipe", tarfile.FIFOTYPE),
        entry("casa/data/disk", tarfile.BLKTYPE),
        entry("casa/data/family.db"),
        entry("other/data/more.yaml"),
        entry("casa/run-me.sh"),
    ],
    ids=lambda hostile: f"{hostile.name} {hostile.type.decode()}",
)
def test_a_path_out_of_its_folder_a_link_or_a_second_file_of_one_name_is_refused(
    backup: Path, tmp_path: Path, hostile: tarfile.TarInfo
) -> None:
    changed = rewritten(backup, lambda entries, _: entries.append(hostile))
    home = Home(tmp_path / "deep" / "down" / "new")
    for attempt in (lambda: verify(changed), lambda: restore(home, changed)):
        with pytest.raises(BackupUnsafe):
            attempt()
    assert not (tmp_path / "deep").exists()
    assert not list(tmp_path.rglob("*escaped*"))


def test_a_person_can_check_and_open_it_without_enlace(family: Family, backup: Path, tmp_path: Path) -> None:
    (tmp_path / "by-hand").mkdir()
    subprocess.run(["tar", "-xf", backup, "-C", tmp_path / "by-hand"], check=True)
    bag = tmp_path / "by-hand" / "casa"
    check = ["sha256sum", "--check", "--quiet", "--strict", "tagmanifest-sha256.txt", "manifest-sha256.txt"]
    subprocess.run(check, cwd=bag, check=True)
    assert rows(bag / "data" / f"members/{family.ana}.db") == rows(family.home.member_db(family.ana))
    flip(bag / "data" / "models" / "casa.gguf")
    assert subprocess.run(check, cwd=bag, check=False, capture_output=True).returncode == 1


def test_a_backup_that_a_person_packed_again_is_still_a_backup(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "by-hand").mkdir()
    subprocess.run(["tar", "-xf", backup, "-C", tmp_path / "by-hand"], check=True)
    again = tmp_path / "again.tar"
    subprocess.run(["tar", "-cf", again, "./casa"], cwd=tmp_path / "by-hand", check=True)
    assert verify(again).files == verify(backup).files


@pytest.mark.parametrize("size", ["-1536", "-512", "-1"])
@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_size_below_nothing_ends_in_a_sentence_and_not_in_reading_for_ever(
    backup: Path, size: str, kind: bytes
) -> None:
    header = tarfile.TarInfo("././@PaxHeader")
    record = f"{len(size) + 9} size={size}\n".encode()
    header.type, header.size = kind, len(record)
    extended = header.tobuf(tarfile.USTAR_FORMAT) + record.ljust(tarfile.BLOCKSIZE, b"\0")
    backup.write_bytes(extended + entry("casa/data/more").tobuf() + backup.read_bytes())
    with pytest.raises(BackupUnreadable):
        verify(backup)


def test_a_header_that_cannot_be_made_out_ends_in_a_sentence(backup: Path) -> None:
    sparse = tarfile.TarInfo("casa/data/more")
    sparse.pax_headers = {"GNU.sparse.map": "one,two", "GNU.sparse.size": "1"}
    backup.write_bytes(sparse.tobuf(tarfile.PAX_FORMAT) + backup.read_bytes())
    with pytest.raises(BackupUnreadable):
        verify(backup)


def test_a_home_with_files_of_any_name_is_backed_up_and_put_back_whole(family: Family, tmp_path: Path) -> None:
    odd = {"a\\b", "c:\\..\\d", os.fsdecode(b"\xff\xfe"), " one\ntwo "}
    for name in odd:
        (family.home.runs / name).write_bytes(b"words")
    (family.home.models / os.fsdecode(b"m\xff.gguf")).write_bytes(b"GGUF")
    for number, file in enumerate((os.fsdecode(b"casa\xff.tar"), "..tar", "...tar", "a\\b.tar")):
        made = family.create(tmp_path / file, models=False)
        assert verify(made.file).about.without == made.without
        home = Home(tmp_path / f"new{number}")
        restore(home, made.file)
        assert odd <= {path.name for path in home.runs.iterdir()}


NAMES = ["ñandú", "a b", "100%", "%0A", "one\ntwo", "one\rtwo", "x" * 180 + "/" + "y" * 180, os.fsdecode(b"\xff\xfe")]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_any_name_comes_out_as_it_went_in(name: str) -> None:
    assert read_manifest(manifest_lines({name: "0" * 64})) == {name: "0" * 64}
    out = io.BytesIO()
    writer = BagWriter(out, "casa", 0, lambda _: None)
    assert writer.add(name, io.BytesIO(b"words"), 5, mode=0o600, changed_at=0, wanted=None)
    writer.finish({"version": "1"}, "")
    out.seek(0)
    with tarfile.open(fileobj=out, encoding="utf-8", errors="surrogateescape") as tar:
        file = tar.extractfile(f"casa/data/{name}")
        assert file is not None
        assert file.read() == b"words"


def test_a_file_that_ends_before_its_size_is_not_added_at_all() -> None:
    out = io.BytesIO()
    writer = BagWriter(out, "casa", 0, lambda _: None)
    before = out.tell()
    assert writer.add("half", io.BytesIO(b"wor"), 5, mode=0o600, changed_at=0, wanted=None) is None
    assert (out.tell(), len(out.getvalue()), writer.payload) == (before, before, {})
