"""The prose in Debian's packages: pages, sayings and books become plain text, without listings and ways elsewhere."""

from __future__ import annotations

import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from scripts.spanish_corpus import PACKAGES, bible, fetch, fortunes, html_pages

SENTENCE = "El archivo se guarda en la carpeta que se elige al principio, y ahí queda hasta que alguien lo borra. "


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no Debian")
def test_a_package_becomes_a_file_of_plain_text_for_each_page(tmp_path: Path) -> None:
    package = next(each for each in PACKAGES if each.name == "aptitude-doc-es")
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(
        f"Package: {package.name}\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: d\n"
    )
    pages = tree / "usr/share/doc/aptitude/html/es"
    pages.mkdir(parents=True)
    page = f"<h1>Guardar</h1><p>{SENTENCE * 3}</p><pre>cp a b</pre><ul><li>a</li></ul>"
    (pages / "one.html").write_text(page)
    (pages / "toc.html").write_text("<ul><li><a>Guardar</a></li></ul>")
    (tmp_path / "kept").mkdir()
    built = tmp_path / "kept" / f"{package.name}_1_all.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", str(tree), str(built)], check=True, capture_output=True)
    written, size = fetch(package, tmp_path / "out", tmp_path / "kept")
    (text,) = (tmp_path / "out" / package.name).iterdir()
    assert (written, size, text.name) == (1, text.stat().st_size, "00000-one.txt")
    assert text.read_text() == f"{(SENTENCE * 3).strip()}\n"


def test_a_bible_is_read_chapter_by_chapter_out_of_its_packed_blocks(tmp_path: Path) -> None:
    books = [
        b"<div/>",
        '<title>Génesis</title><chapter n="1" sID="Gen.1"/><w lemma="x">EN el principio</w> <w>crió</w> <w>Dios</w> .'
        ' <chapter eID="Gen.1"/><chapter n="2" sID="Gen.2"/>Y fueron<note>1</note> acabados'.encode(),
    ]
    packed, index = b"", b""
    for book in books:
        block = zlib.compress(book)
        index += struct.pack("<III", len(packed), len(block), len(book))
        packed += block
    (tmp_path / "ot.bzs").write_bytes(index)
    (tmp_path / "ot.bzz").write_bytes(packed)
    read = dict(bible(tmp_path / "ot.bzs"))
    assert read["ot-01-001"] == "EN el principio crió Dios."
    assert read["ot-01-002"] == "Y fueron acabados"


def test_sayings_stand_apart_and_a_page_that_is_not_all_utf_8_is_read(tmp_path: Path) -> None:
    path = tmp_path / "vida.fortunes"
    path.write_bytes("Más vale\ntarde.\n\t\t-- Refrán\n%\nOtra\n%\n".encode())
    assert list(fortunes(path)) == [("vida", "Más vale tarde. -- Refrán\n\nOtra\n\n")]
    path.write_bytes("<p>Caf\xe9 solo".encode("latin-1"))
    assert list(html_pages(path)) == [("vida", "Caf\ufffd solo")]
