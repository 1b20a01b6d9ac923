"""A document as text that is worth reading: one form of every letter, no control codes, no debris of web pages."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# C0 and C1 but for line end and tabulator, what has no width, direction marks, the byte order mark, halves of letters.
_NO_TEXT: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff\ufffc"
    "\ud800-\udfff\ue000-\uf8ff]"
)
_BREAKS: Final = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_BLANKS: Final = re.compile("[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
_MANY_LINES: Final = re.compile(r"\n{3,}")
# UTF-8 that was read as if it were of older Windows programs: Ã± for ñ.
_TWICE: Final = re.compile("[ÃÂ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]")
_RULE: Final = re.compile(r"[-=_*~#.+·•—–|<>/\\\s]{3,}")  # a line of rules
_OTHERS: Final = re.compile(r"(?:(?!\s)[\W\d_])+")  # neither letters nor blanks
_SEPARATED: Final = re.compile(r"\s[|·•»>/]\s")
# Lines that every page of a site has, in the languages that the family's pages are in.
_BOILERPLATE: Final = re.compile(
    r"(?:todos los derechos reservados|all rights reserved|pol[ií]tica de (?:privacidad|cookies)|privacy policy|"
    r"(?:usamos|utilizamos|utiliza) cookies|(?:uses?|using) cookies|aceptar (?:todas )?(?:las )?cookies|"
    r"accept (?:all )?cookies|"
    r"aviso legal|t[ée]rminos y condiciones|terms (?:and conditions|of (?:use|service))|"
    r"(?:comp[aá]rte(?:lo)?|compartir|share(?: this)?) (?:en|on|via|por) \w+|s[ií]guenos en|follow us|"
    r"suscr[ií]bete|subscribe to|inicia(?:r)? sesi[oó]n|sign in|log ?in|reg[ií]strate|haz clic aqu[ií]|click here|"
    r"leer m[aá]s|read more|volver arriba|back to top|im[aá]genes? relacionadas?|deja un comentario|leave a comment|"
    r"javascript (?:est[aá]|is) (?:desactivado|disabled)|"
    r"^(?:inicio|home|men[uú]|menu|buscar|search|contacto|contact)$)",
    re.IGNORECASE,
)
LONGEST_BOILERPLATE: Final = 120  # characters; what is longer has something to say
_WAYS: Final = 3  # separators from which on a short line is a row of links


def cleaned(text: str) -> str:
    """``text`` in NFC, with plain blanks and line ends, and without what no reader sees or wants."""
    text = _BREAKS.sub("\n", text)
    if _TWICE.search(text):
        text = "\n".join(_mended(line) for line in text.split("\n"))
    text = unicodedata.normalize("NFC", _NO_TEXT.sub("", text))
    lines = (_BLANKS.sub(" ", line).strip() for line in text.split("\n"))
    return _MANY_LINES.sub("\n\n", "\n".join(line for line in lines if not _debris(line))).strip()


def letter_share(text: str) -> float:
    """The share of letters and blanks."""
    return len(_OTHERS.sub("", text)) / len(text) if text else 0.0


def repeated_share(text: str) -> float:
    """The share of lines, empty ones aside, that stood in the text before."""
    lines = [line for line in text.split("\n") if line]
    return 1 - len(set(lines)) / len(lines) if lines else 0.0


def _debris(line: str) -> bool:
    if not line or len(line) > LONGEST_BOILERPLATE:
        return False
    return bool(_RULE.fullmatch(line) or len(_SEPARATED.findall(line)) >= _WAYS or _BOILERPLATE.search(line))


def _mended(line: str) -> str:
    """The line as it was before it was read in the wrong encoding, where all of it was."""
    if not _TWICE.search(line):
        return line
    try:
        return line.encode("cp1252").decode()
    except UnicodeError:
        return line
