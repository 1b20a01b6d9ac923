"""Spanish prose out of Debian's packages: ``python -m scripts.spanish_corpus [FOLDER] [--keep FOLDER]``.

Handbooks, help texts, sayings and a Bible, some 17 MB, for a first model of one's own. It needs Debian or a system made
of it; ``apt-get download`` asks whatever mirror that system is set up with, and nothing is installed. Plain text is
written, one file a page: the corpus' own cleaning comes later, and is the same as for any other text.
"""

from __future__ import annotations

import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from configs.home import Home
from trainer.corpus.readers.html import prose_of

# The least that a page says in paragraphs that are sentences; shorter ones are lists of ways to other pages.
LEAST_PAGE = 200  # characters
Texts = Iterator[tuple[str, str]]  # of each page what its file is called, and what it says


@dataclass(frozen=True)
class Package:
    """``pages``: its files, as a pattern; ``read``: what they say."""

    name: str
    pages: str
    read: Callable[[Path], Texts]


def html_pages(path: Path) -> Texts:
    """A page of a handbook: its prose, without listings of code."""
    text = prose_of(path.read_text(encoding="utf-8", errors="replace"), left_out={"pre", "table"})
    yield path.stem, text


def fortunes(path: Path) -> Texts:
    """Sayings, a line of ``%`` between them; a saying's author stands behind two dashes."""
    sayings = re.split(r"^%\s*$", path.read_bytes().decode("utf-8", errors="replace"), flags=re.MULTILINE)
    yield path.stem, "\n\n".join(" ".join(saying.split()) for saying in sayings)


def bible(path: Path) -> Texts:
    """A SWORD module of the form zText, a block a book: its index is triples of offset, packed and plain size."""
    index, content = path.read_bytes(), path.with_suffix(".bzz").read_bytes()
    for number, (start, size, _) in enumerate(struct.iter_unpack("<III", index)):
        book = zlib.decompress(content[start : start + size]).decode("utf-8", errors="replace")
        for chapter, text in enumerate(re.split(r"<chapter [^>]*sID[^>]*>", book)):
            plain = re.sub(r"<title.*?</title>|<note.*?</note>", " ", text, flags=re.DOTALL)
            verses = re.sub(r"<[^>]*>", "", plain)
            yield f"{path.stem}-{number:02d}-{chapter:03d}", re.sub(r"\s+([,.;:?!])", r"\1", " ".join(verses.split()))


PACKAGES = (
    Package("libreoffice-help-es", "**/help/es/text/**/*.html", html_pages),
    Package("debian-handbook", "**/html/es-ES/*.html", html_pages),
    Package("sword-text-sparv", "**/*.bzs", bible),
    Package("fortunes-es", "**/fortunes/es/*.fortunes", fortunes),
    Package("aptitude-doc-es", "**/*.html", html_pages),
    Package("debian-reference-es", "**/*.es.html", html_pages),
    Package("maint-guide-es", "**/*.es.html", html_pages),
    Package("debian-edu-doc-es", "**/*.html", html_pages),
    Package("lilypond-doc-html-es", "**/*.es.html", html_pages),
    Package("gimp-help-es", "**/*.html", html_pages),
)


def prose(text: str) -> str:
    """Those paragraphs that are sentences: several words, and mostly letters."""
    kept = []
    for paragraph in text.split("\n\n"):
        words = re.findall(r"[^\W\d_]+", paragraph)
        if len(words) >= 4 and sum(map(len, words)) > 0.6 * len(paragraph):
            kept.append(paragraph)
    return "\n\n".join(kept)


def fetch(package: Package, folder: Path, kept: Path) -> tuple[int, int]:
    """Write the pages of ``package`` into ``folder``: how many, and how many bytes. ``kept``: where packages lie.

    Raises subprocess.CalledProcessError where there is no such package, or no way to it.
    """
    archive = next(kept.glob(f"{package.name}_*.deb"), None)
    if archive is None:
        subprocess.run(["apt-get", "download", package.name], cwd=kept, check=True, capture_output=True)
        archive = next(kept.glob(f"{package.name}_*.deb"))
    written = size = 0
    with tempfile.TemporaryDirectory() as unpacked:
        subprocess.run(["dpkg-deb", "-x", str(archive), unpacked], check=True, capture_output=True)
        target = folder / package.name
        target.mkdir(parents=True, exist_ok=True)
        for path in sorted(each for each in Path(unpacked).glob(package.pages) if each.is_file()):
            for name, text in package.read(path):
                page = prose(text)
                if len(page) >= LEAST_PAGE:
                    content = f"{page}\n".encode()
                    (target / f"{written:05d}-{name}.txt").write_bytes(content)
                    written, size = written + 1, size + len(content)
    return written, size


def main(arguments: list[str]) -> int:
    """Fetch all packages; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.spanish_corpus", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where the text goes (default: in the home)")
    parser.add_argument("--keep", type=Path, help="where packages are looked for and kept (default: nowhere)")
    options = parser.parse_args(arguments)
    folder = options.folder or Home.find(os.environ).root / "corpora" / "spanish-prose"
    missing, whole = [], 0
    with tempfile.TemporaryDirectory() as passing:
        kept = options.keep or Path(passing)
        kept.mkdir(parents=True, exist_ok=True)
        for package in PACKAGES:
            try:
                pages, size = fetch(package, folder, kept)
            except (subprocess.CalledProcessError, FileNotFoundError) as error:
                missing.append(package.name)
                told = getattr(error, "stderr", b"") or str(error).encode()
                print(f"{package.name}: {told.decode(errors='replace').strip()}", file=sys.stderr)
                continue
            whole += size
            print(f"{package.name}: {pages} pages, {size / 1e6:.2f} MB")
    print(f"{folder}: {whole / 1e6:.2f} MB")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
