"""Both sets of colours can be read, and what carries meaning is never a colour alone."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from textual.color import Color

from app.interface import themes
from app.interface.markdown.lines import Look

READABLE = 4.5  # WCAG 2.2, success criterion 1.4.3


@pytest.mark.parametrize("choice", themes.COLOURS)
def test_every_text_colour_stands_out_from_every_ground(choice: str) -> None:
    colours = asdict(themes.COLOURS[choice])
    grounds = [colours.pop(name) for name in ("ground", "surface", "raised")]
    colours.pop("rule")
    for name, colour in colours.items():
        for ground in grounds:
            assert _contrast(colour, ground) >= READABLE, (choice, name, ground)


@pytest.mark.parametrize("choice", themes.COLOURS)
@pytest.mark.parametrize("look", [Look.STRONG, Look.EMPHASIS, Look.STRUCK, Look.LINK, Look.KEYWORD, Look.COMMENT])
def test_emphasis_is_more_than_a_colour(choice: str, look: Look) -> None:
    plain, shown = themes.style_of(Look.PLAIN, choice), themes.style_of(look, choice)
    of = ("bold", "italic", "strike", "underline")
    assert [getattr(plain, name) for name in of] != [getattr(shown, name) for name in of]


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [channel / 255 for channel in Color.parse(colour).rgb]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
