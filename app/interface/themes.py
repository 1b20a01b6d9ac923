"""Enlace's own colours, light and dark, and what each look of a text is in them.

The foregrounds reach a contrast of 4.5 : 1 on every ground they stand on (WCAG 2.2, 1.4.3); a test computes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rich.style import Style

from app.interface.markdown.lines import Look

if TYPE_CHECKING:
    from textual.theme import Theme

    from memory.members import Colour


@dataclass(frozen=True)
class Colours:
    """One set of colours, as ``#rrggbb``. ``ground`` is the page, ``surface`` the bars, ``raised`` code and fields."""

    ground: str
    surface: str
    raised: str
    text: str
    dim: str
    rule: str
    accent: str
    member: str
    good: str
    warning: str
    bad: str
    keyword: str
    string: str
    number: str
    violet: str


DARK: Final = Colours(
    ground="#15181c",
    surface="#1b1f24",
    raised="#23282f",
    text="#dfe3e6",
    dim="#99a3ac",
    rule="#3c444d",
    accent="#79c7b0",
    member="#e2b872",
    good="#8fcf8a",
    warning="#e8c266",
    bad="#f09a8f",
    keyword="#9db8f2",
    string="#a9cf96",
    number="#e2b872",
    violet="#cbb2f2",
)
LIGHT: Final = Colours(
    ground="#faf8f3",
    surface="#f1eee6",
    raised="#e9e5da",
    text="#25292d",
    dim="#5a6066",
    rule="#c4beb0",
    accent="#12604f",
    member="#7a4a00",
    good="#22631f",
    warning="#7a5200",
    bad="#9c2a1c",
    keyword="#2c4aa0",
    string="#2f5f1c",
    number="#7a4a00",
    violet="#673f9c",
)
COLOURS: Final = {"dark": DARK, "light": LIGHT}
# A member's colour, by its name, is one of the others.
_OF_MEMBERS: Final[Mapping[Colour, str]] = {
    "teal": "accent",
    "amber": "member",
    "blue": "keyword",
    "coral": "bad",
    "green": "string",
    "violet": "violet",
}


def of_member(colour: Colour, choice: str) -> str:
    """A member's colour in ``dark`` or ``light``, as ``#rrggbb``."""
    return str(getattr(COLOURS[choice], _OF_MEMBERS[colour]))


def theme_name(choice: str) -> str:
    """Textual's name of ``dark`` or ``light``."""
    return f"enlace-{choice}"


def theme(choice: str) -> Theme:
    """The Textual theme of ``dark`` or ``light``."""
    from textual.theme import Theme

    c = COLOURS[choice]
    return Theme(
        name=theme_name(choice),
        primary=c.accent,
        secondary=c.member,
        accent=c.accent,
        warning=c.warning,
        error=c.bad,
        success=c.good,
        foreground=c.text,
        background=c.ground,
        surface=c.surface,
        panel=c.raised,
        dark=choice == "dark",
        variables={
            "text-muted": c.dim,
            "border": c.rule,
            "border-blurred": c.rule,
            "footer-background": c.surface,
            "input-selection-background": f"{c.accent} 35%",
            "block-cursor-background": c.accent,
            "block-cursor-foreground": c.ground,
            "block-cursor-blurred-background": c.raised,
            "block-cursor-blurred-foreground": c.text,
            "scrollbar": c.rule,
            "scrollbar-hover": c.dim,
            "scrollbar-active": c.accent,
            "scrollbar-background": c.ground,
            "scrollbar-background-hover": c.ground,
            "scrollbar-background-active": c.ground,
            "scrollbar-corner-color": c.ground,
        },
    )


@lru_cache(maxsize=512)
def style_of(look: Look, choice: str, *, raised: bool = False) -> Style:
    """How ``look`` is drawn in ``dark`` or ``light``, on the page or on raised ground."""
    c = COLOURS[choice]
    ground = c.raised if raised or Look.CODE in look else c.ground
    return Style(
        color=_foreground(look, c),
        bgcolor=ground,
        bold=bool(look & (Look.STRONG | Look.KEYWORD)),
        italic=bool(look & (Look.EMPHASIS | Look.COMMENT)),
        underline=Look.LINK in look or (Look.HEADING | Look.RULE) in look,
        strike=Look.STRUCK in look,
    )


def _foreground(look: Look, c: Colours) -> str:
    choices = (
        (Look.WARNING, c.warning),
        (Look.SUCCESS, c.good),
        (Look.MEMBER, c.member),
        (Look.COMMENT | Look.DIM, c.dim),
        (Look.HEADING | Look.LINK | Look.ACCENT, c.accent),
        (Look.KEYWORD, c.keyword),
        (Look.STRING, c.string),
        (Look.NUMBER, c.number),
        (Look.RULE, c.rule),
    )
    return next((colour for looks, colour in choices if look & looks), c.text)
