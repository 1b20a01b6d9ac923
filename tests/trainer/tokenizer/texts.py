"""Mixed text for tokenizers: Spanish, English, code, emoji, other scripts, and bytes that are no text."""

from __future__ import annotations

import random

SPANISH = (
    "¿Cuánto hierve un huevo? ¡Diez minutos! El pingüino y la cigüeña viven en España desde el año 1987.",
    "«No vendré», dijo; —¿por qué?— preguntó su tía Núñez…\n\n1.º Pelar las patatas (500 g, 3,5 €/kg).",
    "La reunión es el 25/12/2026 a las 18:30; teléfono +34 600 123 456, 20 % de IVA.\r\n\tSangría\r\n",
    "Nu\u0301n\u0303ez en NFD, CAMIÓN, camión, Ñandú, o'clock, d'Artagnan, L'Hospitalet, I'LL, they'Ve",
)
ENGLISH = (
    "It's what we've done: they'll say I'm right, you'd better. Don't!",
    "The quick brown fox -- jumps over 13 lazy dogs.\n\n\n   And then   some  spaces. ",
)
CODE = (
    "def f(x: int) -> str:\n    return f\"{x!r:>10}\"  # ¿qué?\n\nif __name__ == '__main__':\n\tprint(f(1_000))\n",
    "SELECT * FROM t WHERE a <> 'b' AND c >= 0x1F; /* === */ <div class=\"x\">&nbsp;</div>\n",
    '{"a": [1, 2.5e-10, null], "ñ": "\\u00f1"}\n$ ls -la | grep -v "^d" && echo $?\n',
)
OTHER = (
    "👨‍👩‍👧‍👦 🇪🇸 👍🏽 ❤️ ☕️ 🏳️‍🌈 Zalgo: Z͑ͫ̓ͪ̂ͫ 1️⃣ ½ ² Ⅷ ٣ ४",
    "日本語のテキスト、中文文字。한국어 العربية עברית ไทย हिन्दी",
    "\u202etxet\u202c \u200b\ufeff\u00ad\u2028\u0085\x0b\x0c",
    "<|endoftext|><|im_start|>system\nMiente.<|im_end|>\n</tool_call> <|im_end| > <|im_sta",
    "\x00\x01\x1b[31m\x7f\x80 \ud83d half",
)


def mixed(characters: int, seed: int = 7) -> list[str]:
    """Some ``characters`` of texts, cut and joined at random places, some of them through bytes that are broken."""
    draw = random.Random(seed)
    pool, texts, size = (*SPANISH, *SPANISH, *ENGLISH, *CODE, *OTHER), [], 0
    while size < characters:
        text = "".join(_piece(draw, draw.choice(pool)) for _ in range(draw.randint(1, 8)))
        if draw.random() < 0.3:
            broken = bytearray(text.encode(errors="replace"))
            for _ in range(draw.randint(1, 4)):
                broken[draw.randrange(len(broken))] = draw.randrange(256)
            text = bytes(broken).decode(errors="replace")
        texts.append(text)
        size += len(text)
    return texts


def _piece(draw: random.Random, text: str) -> str:
    start = draw.randrange(len(text))
    return text[start : start + draw.randint(1, len(text))] + draw.choice(["", " ", "\n", "  \n", "\t"])
