"""Files become documents one at a time, whatever their encoding, and what cannot be read is told."""

from __future__ import annotations

import bz2
import gzip
import json
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trainer.corpus.readers.decoding import PIECE
from trainer.corpus.readers.document import Document, Older, Problem
from trainer.corpus.readers.epub import read_epub
from trainer.corpus.readers.plain import read_markdown, read_text
from trainer.corpus.readers.records import read_jsonl
from trainer.corpus.readers.sources import Place, SourceFile, files_of, stamp
from trainer.corpus.readers.wikipedia import read_wikipedia

MOST = 200_000


def texts(reads: Iterator[Any]) -> list[str]:
    return [each.text for each in reads if isinstance(each, Document)]


def put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_text_in_any_of_the_usual_encodings_reads_the_same(tmp_path: Path) -> None:
    said = "El año pasado, «Núñez» gastó 3 € en café.\nOtra línea."
    for number, encoding in enumerate(["utf-8", "utf-8-sig", "utf-16", "cp1252"]):
        path = put(tmp_path / f"{number}.txt", said.replace("\n", "\r\n").encode(encoding))
        read = list(read_text(path, MOST))
        assert texts(iter(read)) == [said], encoding
        assert [each for each in read if isinstance(each, Older)] == ([Older(str(path), 2)] if number == 3 else [])


def test_two_encodings_in_one_file_are_both_read_and_counted(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", "año\n".encode() + "niño y ".encode("latin-1") + "niña\n".encode() + b"fin\n")
    assert list(read_text(path, MOST)) == [Document("año\nniño y niña\nfin", str(path)), Older(str(path), 1)]


def test_what_is_no_text_is_named_and_not_read(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", b"\x7fELF\x00\x01\x02" * 10)
    assert list(read_text(path, MOST)) == [Problem(str(path), "it is no text")]


def test_a_letter_that_is_cut_between_two_blocks_is_whole(tmp_path: Path) -> None:
    for shift in range(4):
        said = "a" * (PIECE - shift) + "ñ€😀" * 3
        path = put(tmp_path / "a.txt", said.encode())
        read = list(read_text(path, 4 * PIECE))
        assert "".join(texts(iter(read))).replace("\n", "") == said
        assert not [each for each in read if isinstance(each, Older)]


@pytest.mark.parametrize(("name", "pack"), [("a.txt.gz", gzip.compress), ("a.txt.bz2", bz2.compress)])
def test_packed_files_are_read_and_one_that_is_cut_is_told(tmp_path: Path, name: str, pack: Any) -> None:
    said = "\n".join(f"Línea número {number} de la carta." for number in range(20_000))
    content = pack(said.encode())
    path = put(tmp_path / name, content)
    assert "\n".join(texts(read_text(path, 1 << 30))) == said
    put(path, content[: len(content) // 2])
    *_, last = read_text(path, MOST)
    assert last == Problem(str(path), "it is damaged or cut short")


def test_a_long_text_is_cut_between_paragraphs_and_never_whole_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with path.open("w") as file:
        for number in range(20_000):
            file.write(f"Párrafo {number} con unas cuantas palabras que no dicen nada.\n\n")
    tracemalloc.start()
    sizes, all_end = [], True
    for each in read_text(path, 20_000):
        assert isinstance(each, Document)
        sizes.append(len(each.text))
        all_end &= each.text.endswith("nada.")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert all_end
    assert max(sizes) <= 20_000
    assert len(sizes) > 50
    assert peak < 1_000_000


def test_a_line_of_megabytes_is_read_in_pieces(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", b"palabra " * 500_000)
    read = texts(read_text(path, 10_000))
    assert max(map(len, read)) <= 10_000
    assert "".join(read).replace("\n", "").count("palabra") > 499_000


def test_markdown_is_read_as_it_is_read_aloud(tmp_path: Path) -> None:
    path = put(
        tmp_path / "a.md",
        '---\ntitle: x\n---\n# Título *nuevo*\n\nVer [la página](http://a.b/c_d "t") y ![foto](x.png)**muy** _bien_.\n'
        "<!-- no -->\n\n```python\nx = a_b_c\n```\n- uno\n[1]: http://x.y\n".encode(),
    )
    expected = "Título nuevo\n\nVer la página y muy bien.\n\n\n\nx = a_b_c\n\n- uno"
    assert texts(read_markdown(path, MOST)) == [expected]


def test_json_lines_give_their_text_and_a_wrong_line_its_number(tmp_path: Path) -> None:
    records: list[Any] = [
        {"text": "uno"}, {"messages": [{"role": "user", "content": "¿dos?"}, {"role": "assistant", "content": "Dos."}]},
        {"prompt": "¿tres?", "answer": "Tres."}, "cuatro", {"n": 1}, {"text": "\ud83d y más"},
    ]  # fmt: skip
    lines = [json.dumps(record) for record in records]
    path = put(tmp_path / "a.jsonl", "\n".join([*lines[:2], "{roto", "", *lines[2:]]).encode())
    read = list(read_jsonl(path, MOST))
    assert texts(iter(read)) == ["uno", "¿dos?\n\nDos.", "¿tres?\n\nTres.", "cuatro", "\ud83d y más"]
    problems = [(each.line, each.reason) for each in read if isinstance(each, Problem)]
    assert problems == [(3, "the line is no JSON"), (7, "the line has no text")]


def test_a_book_is_read_in_the_order_of_its_chapters(tmp_path: Path) -> None:
    path = tmp_path / "a.epub"
    package = (
        '<package><manifest><item id="b" href="t/b.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="a" href="t/a%20b.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="c" href="c.css" media-type="text/css"/>'
        '<item id="m" href="no.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="m"/><itemref idref="c"/></spine></package>'
    )
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", '<container><rootfile full-path="OPS/p.opf"/></container>')
        book.writestr("OPS/p.opf", package)
        page = "<html><head><title>x</title></head><body><h1>Uno</h1><p>Había una vez…</p></body>"
        book.writestr("OPS/t/a b.xhtml", page)
        book.writestr("OPS/t/b.xhtml", "<p>Y colorín, colorado.</p>")
    read = list(read_epub(path, MOST))
    assert texts(iter(read)) == ["Uno\n\nHabía una vez…", "Y colorín, colorado."]
    assert [each.reason for each in read if isinstance(each, Problem)] == ["it is damaged or cut short"]
    put(path, path.read_bytes()[:100])
    assert list(read_epub(path, MOST)) == [Problem(str(path), "it is no book in EPUB")]


PAGE = """  <page>
    <title>{title}</title>
    <ns>{space}</ns>
    <id>1</id>{more}
    <revision>
      <text bytes="9" xml:space="preserve">{text}</text>
    </revision>
  </page>
"""
ARTICLE = """{{Ficha|nombre={{lang|es|Ñu}}|a=[[b]]}}
El &quot;'''ñu'''&quot; es un [[animal|animal]] de [[África]].&lt;ref&gt;C&lt;/ref&gt; Mira [http://c.d esto].

{| class="wikitable"
| a || b
|}
[[Archivo:Ñu.jpg|thumb|Un [[ñu]] que corre]]
== Vida ==
* Come ''hierba''.&lt;br /&gt;Y bebe.
== Referencias ==
{{listaref}}
* Otro
== Más ==
Fin.
[[Categoría:Animales]]"""


def test_a_wikipedia_dump_gives_its_articles_as_prose(tmp_path: Path) -> None:
    pages = [
        PAGE.format(title="Ñu &amp; cía", space=0, more="", text=ARTICLE),
        PAGE.format(title="Gnu", space=0, more='\n    <redirect title="Ñu" />', text="#REDIRECCIÓN [[Ñu]]"),
        PAGE.format(title="Discusión:Ñu", space=1, more="", text="no"),
        PAGE.format(title="Corto", space=0, more="", text="Una línea."),
    ]
    dump = "<mediawiki>\n" + "".join(pages) + "</mediawiki>\n"
    path = put(tmp_path / "es.xml.bz2", bz2.compress(dump.encode()))
    first, second = texts(read_wikipedia(path, MOST))
    assert first == (
        'Ñu & cía\n\nEl "ñu" es un animal de África. Mira esto.\n\nVida\n\nCome hierba.\nY bebe.\n\nMás\n\nFin.'
    )
    assert second == "Corto\n\nUna línea."
    assert list(read_wikipedia(put(tmp_path / "a.xml", b"<xml/>\n"), MOST)) == [
        Problem(str(tmp_path / "a.xml"), "there are no pages of a wiki in it")
    ]


def test_a_folder_is_read_in_the_order_of_its_names_and_no_file_twice(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b.txt.gz", "a/x.pdf", ".hidden/n.txt", "a/.h.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        put(tmp_path / name, b"x")
    found = list(files_of([Place(tmp_path / "b.txt", "text"), Place(tmp_path, "text")]))
    assert [str(each.path.relative_to(tmp_path)) for each in found] == ["b.txt", "a/b.txt.gz", "a/z.txt"]
    before = stamp(found)
    put(tmp_path / "a/z.txt", b"xy")
    assert stamp(found) != before
    assert list(SourceFile(tmp_path / "gone.txt", "text").read(MOST)) == [
        Problem(str(tmp_path / "gone.txt"), "No such file or directory")
    ]
