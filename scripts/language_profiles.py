"""Writes ``trainer/corpus/languages.json``: ``python -m scripts.language_profiles [--keep FOLDER]``.

From LibreOffice's help, which Debian has in many languages: the same pages in each, so that what differs is the
language. Every tenth page is held out; how many of their paragraphs are told right is printed. Needs Debian, as
``spanish_corpus`` does.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from trainer.corpus import language
from trainer.corpus.language import PROFILES, SCALE, language_of, threes_of
from trainer.corpus.readers.html import prose_of

# ISO 639 to the package's ending.
LANGUAGES = {
    "es": "es", "en": "en-us", "ca": "ca", "gl": "gl", "pt": "pt-br", "eu": "eu", "fr": "fr", "it": "it", "de": "de",
    "nl": "nl", "sv": "sv", "pl": "pl", "hu": "hu", "tr": "tr",
}  # fmt: skip
PAGES = 400  # of each language
KEPT = 500  # threes of each language
HELD_OUT = 10  # every so many pages
LEAST = 80  # characters of a paragraph that is looked at
SMOOTHING = 0.5


def pages(code: str, kept: Path) -> list[list[str]]:
    """The paragraphs of the same pages of the help, in the language of the package's ending ``code``."""
    name = f"libreoffice-help-{code}"
    if not any(kept.glob(f"{name}_*.deb")):
        subprocess.run(["apt-get", "download", name], cwd=kept, check=True, capture_output=True)
    archive = next(kept.glob(f"{name}_*.deb"))
    with tempfile.TemporaryDirectory() as unpacked:
        subprocess.run(["dpkg-deb", "-x", str(archive), unpacked], check=True, capture_output=True)
        found = sorted(Path(unpacked).glob("**/text/**/*.html"), key=lambda path: path.parts[-3:])
        chosen = found[:: max(1, len(found) // PAGES)]
        texts = (prose_of(path.read_text(encoding="utf-8"), left_out={"pre", "code"}) for path in chosen)
        return [[each for each in text.split("\n\n") if len(each) >= LEAST] for text in texts]


def main(arguments: list[str]) -> int:
    """Write the profiles; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.language_profiles", description=__doc__)
    parser.add_argument("--keep", type=Path, required=True, help="where packages are looked for and kept")
    kept = parser.parse_args(arguments).keep
    texts = {name: pages(code, kept) for name, code in LANGUAGES.items()}
    # What nobody has translated yet is English in every language's help.
    english = {paragraph for page in texts["en"] for paragraph in page}
    for name in texts.keys() - {"en"}:
        texts[name] = [[each for each in page if each not in english] for page in texts[name]]
    counts = {}
    for name, found in texts.items():
        counts[name] = Counter[str]()
        for number, page in enumerate(found):
            if number % HELD_OUT:
                counts[name].update(threes_of("\n".join(page)))
    threes = sorted({three for count in counts.values() for three, _ in count.most_common(KEPT)})
    wholes = {name: sum(count.values()) + SMOOTHING * (len(threes) + 1) for name, count in counts.items()}
    likely = {
        three: [tenths((count[three] + SMOOTHING) / wholes[name]) for name, count in counts.items()] for three in threes
    }
    # The rest of each language's threes, shared by as many as there are.
    rest = {
        name: 1 - sum((count[three] + SMOOTHING) / wholes[name] for three in threes) for name, count in counts.items()
    }
    unseen = [tenths(min(rest.values()) / len(threes))] * len(counts)
    usual = [
        round(sum(number * likely.get(three, unseen)[place] for three, number in count.items()) / sum(count.values()))
        for place, count in enumerate(counts.values())
    ]
    told = {"languages": list(LANGUAGES), "unseen": unseen, "usual": usual}
    lines = [f"{json.dumps(name)}: {json.dumps(told[name])}" for name in told]
    rows = ",\n".join(f"{json.dumps(three, ensure_ascii=False)}: {json.dumps(row)}" for three, row in likely.items())
    PROFILES.write_text("{\n" + ",\n".join(lines) + ',\n"likely": {\n' + rows + "\n}}\n", encoding="utf-8")
    language.profiles.cache_clear()
    for name, found in texts.items():
        tried = [each for page in found[::HELD_OUT] for each in page]
        wrong = Counter(language_of(each) for each in tried)
        print(f"{name}: {wrong.pop(name, 0)} of {len(tried)} right; taken for {dict(wrong)}")
    return 0


def tenths(share: float) -> int:
    """Minus the natural logarithm, in whole ``SCALE``ths."""
    return round(-SCALE * math.log(share))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
