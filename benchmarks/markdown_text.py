"""A long Markdown answer as a model writes one: headings, prose, lists, code and tables, the same every time."""

from __future__ import annotations

PARTS = (
    "## {n}. Un huerto en la terraza\n\n",
    "Para empezar bastan **tres macetas** hondas, tierra con *compost* y un sitio con seis horas de sol; el resto es "
    "paciencia. En [la guía](https://example.org/huerto/{n}) está cuándo sembrar cada cosa, y `regar.py` lo recuerda. "
    "Si el viento es fuerte, pon las altas detrás: «árbol pequeño, raíz firme», decía el abuelo, y tenía razón.\n\n",
    "1. Llena la maceta hasta dos dedos del borde.\n2. Siembra en líneas, no a voleo:\n   - tomates a 40 cm,\n"
    "   - lechugas a 25 cm,\n   - y la albahaca **entre** los tomates.\n3. Riega despacio, por la mañana.\n\n",
    "```python\ndef litros(macetas: list[float], calor: float) -> float:\n"
    '    """Litros de agua al día para unas macetas, en metros de diámetro."""\n'
    "    total = 0.0\n    for ancho in macetas:\n        total += 2.5 * ancho * (1 + max(calor - 20, 0) / 15)\n"
    "    return round(total, 1)\n\n\nprint(litros([0.3, 0.4, {n}], 31))\n```\n\n",
    "| planta | siembra | cosecha | agua |\n|:--|:-:|:-:|--:|\n| tomate | marzo | julio | 2,5 l |\n"
    "| lechuga 🥬 | todo el año | 60 días | 1,0 l |\n| calabacín | abril | junio | 3,0 l |\n"
    "| albahaca | mayo | verano | 0,5 l |\n\n",
    "> La tierra no tiene prisa. Quien riega de noche cría caracoles; quien riega a mediodía, vapor.\n\n",
    "Con eso, en la semana {n} ya se ven las primeras hojas. ¿Y si salen manchas amarillas? "
    "Casi siempre es *demasiada* agua: "
    "deja secar dos días y mira otra vez. Nunca uses `sal`, ni remedios que no sepas qué llevan.\n\n---\n\n",
    '```sh\nfor maceta in tomate lechuga albahaca; do\n  echo "riego de $maceta: $(date +%H:%M)" >> riego-{n}.log\n'
    "done\n```\n\n",
)


def answer(characters: int) -> str:
    """Exactly ``characters`` characters of Markdown."""
    text = ""
    section = 0
    while len(text) < characters:
        section += 1
        text += "".join(part.replace("{n}", str(section)) for part in PARTS)
    return text[:characters]
