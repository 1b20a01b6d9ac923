"""The transcript follows the end of an answer unless the reader looks elsewhere, and copies what was selected."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from app.interface import themes
from app.interface.drawing import GUTTER
from app.interface.entries import Entry
from app.interface.markdown.lines import Look, Span
from app.interface.transcript import Transcript
from configs.settings import Settings


class Bench(App[None]):
    pilot: Pilot[None]

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.transcript = Transcript(settings.interface)
        self.register_theme(themes.theme("dark"))
        self.theme = themes.theme_name("dark")

    def compose(self) -> ComposeResult:
        yield self.transcript


@pytest.fixture
async def bench(settings: Settings) -> AsyncIterator[Bench]:
    app = Bench(settings)
    async with app.run_test(size=(60, 12)) as pilot:
        app.pilot = pilot
        yield app


def entry(key: str, text: str = "", *, markdown: bool = True) -> Entry:
    return Entry(key, (Span(key, Look.STRONG),), "10:00", text=text, markdown=markdown, hints=(Span("Copiar F8"),))


def shown(transcript: Transcript) -> list[str]:
    return [transcript.render_line(y).text.strip() for y in range(transcript.size.height)]


async def test_the_end_is_followed_until_the_reader_scrolls_up_and_again_from_the_bottom(bench: Bench) -> None:
    transcript = bench.transcript
    transcript.begin(entry("Enlace"))
    transcript.stream("".join(f"- línea {number}\n" for number in range(60)))
    transcript.draw()
    await bench.pilot.pause()
    assert "• línea 59" in shown(transcript)
    transcript.scroll_to(y=5, animate=False)
    transcript.stream("- más\n")
    transcript.draw()
    assert transcript.scroll_offset.y == 5
    assert not transcript.following
    transcript.scroll_end(animate=False, immediate=True)
    transcript.stream("- última\n")
    transcript.draw()
    assert "• última" in shown(transcript)


async def test_a_selection_pauses_the_following_and_its_end_resumes_it(bench: Bench) -> None:
    transcript = bench.transcript
    transcript.begin(entry("Enlace"))
    transcript.stream("".join(f"- línea {number}\n" for number in range(30)))
    transcript.draw()
    await bench.pilot.pause()
    at = transcript.scroll_offset.y
    transcript.screen.selections = {transcript: Selection(Offset(0, at), Offset(8, at + 1))}
    transcript.stream("- más\n" * 20)
    transcript.draw()
    assert transcript.scroll_offset.y == at
    transcript.screen.clear_selection()
    await bench.pilot.pause()
    assert transcript.scroll_offset.y > at


async def test_a_copy_has_the_words_without_the_margin_and_the_wrapping(bench: Bench) -> None:
    transcript = bench.transcript
    transcript.show([entry("Enlace", "palabra " * 12 + "\n\nfin")])
    copied = transcript.get_selection(Selection(Offset(GUTTER, 1), Offset(GUTTER + 3, 4)))
    assert copied is not None
    assert copied[0] == ("palabra " * 12).strip() + "\n\nfin"


async def test_a_streamed_answer_is_the_same_as_one_that_was_stored(bench: Bench) -> None:
    text = "# Uno\n\n- dos\n- **tres**\n\n```py\nx = 1\n```\n\nfin"
    transcript = bench.transcript
    transcript.begin(entry("Enlace"))
    for character in text:
        transcript.stream(character)
    transcript.finish()
    streamed = shown(transcript)
    transcript.show([entry("Enlace", text)])
    assert shown(transcript) == streamed


async def test_what_a_member_wrote_is_shown_as_written(bench: Bench) -> None:
    transcript = bench.transcript
    transcript.show([entry("Tú", "# no es *título* [/b] [link=x]", markdown=False)])
    assert "# no es *título* [/b] [link=x]" in shown(transcript)


async def test_the_focused_entry_has_a_bar_and_its_keys(bench: Bench) -> None:
    transcript = bench.transcript
    first, second = entry("Tú", "hola"), entry("Enlace", "buenas")
    transcript.show([first, second])
    transcript.focus_on(second)
    rows = [transcript.render_line(y).text.rstrip() for y in range(8)]
    assert [row for row in rows if row.startswith("▎")] == [rows[3], "▎ buenas", "▎ Copiar F8"]
    transcript.focus_on(first)
    rows = [transcript.render_line(y).text.rstrip() for y in range(8)]
    assert rows[1:3] == ["▎ hola", "▎ Copiar F8"]
