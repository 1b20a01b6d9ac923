"""Run in the terminal that is measured: one answer streams, keys come in, the event loop's delays are written down.

    python -m benchmarks.streaming_app SIDE CHARACTERS PRELOADED REPORT.json

SIDE is ``enlace`` (the interface's own transcript and composer) or ``textual`` (Textual's Markdown widget and its
stream, in a scroll that follows the end, with its text area).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown, TextArea
from textual.widgets.markdown import MarkdownStream

from app.interface.chat.composer import Composer
from app.interface.entries import Entry
from app.interface.markdown.lines import Span
from app.interface.themes import theme, theme_name
from app.interface.transcript import Transcript
from benchmarks.loop_delay import LoopDelay
from benchmarks.markdown_text import answer
from configs.home import Home
from configs.sections.interface import InterfaceSettings
from configs.settings import load_settings

TOKENS_PER_SECOND = 100
CHARACTERS_PER_TOKEN = 4
SETTLED_SECONDS = 1.0
READY = "Listo para medir"
SIDES = ("enlace", "textual")


class Side(Protocol):
    """One way to show an answer that is being written."""

    def compose(self) -> ComposeResult: ...

    async def begin(self, app: App[None]) -> None: ...

    async def write(self, text: str) -> None: ...

    async def finish(self) -> None: ...

    def typed(self) -> str: ...


class EnlaceSide:
    """The real transcript and composer of Enlace's chat screen."""

    def __init__(self, settings: InterfaceSettings) -> None:
        self._transcript = Transcript(settings)
        self._composer = Composer(READY, settings.composer_lines)

    def compose(self) -> ComposeResult:
        yield self._transcript
        yield self._composer

    async def begin(self, app: App[None]) -> None:
        for choice in ("dark", "light"):
            app.register_theme(theme(choice))
        app.theme = theme_name("dark")
        self._composer.styles.height = 1
        self._composer.focus()
        self._transcript.begin(Entry(key="answer", title=(Span("Enlace · v0"),)))

    async def write(self, text: str) -> None:
        self._transcript.stream(text)

    async def finish(self) -> None:
        self._transcript.finish()

    def typed(self) -> str:
        return self._composer.text


class TextualSide:
    """Textual's own streaming Markdown."""

    def __init__(self) -> None:
        self._markdown = Markdown()
        self._scroll = VerticalScroll(self._markdown)
        self._area = TextArea(placeholder=READY, compact=True, show_line_numbers=False)
        self._stream: MarkdownStream | None = None

    def compose(self) -> ComposeResult:
        yield self._scroll
        yield self._area

    async def begin(self, app: App[None]) -> None:
        self._area.styles.height = 1
        self._area.focus()
        self._scroll.anchor()
        self._stream = Markdown.get_stream(self._markdown)

    async def write(self, text: str) -> None:
        if self._stream is not None:
            await self._stream.write(text)

    async def finish(self) -> None:
        if self._stream is not None:
            await self._stream.stop()

    def typed(self) -> str:
        return self._area.text


class StreamingApp(App[None]):
    """Streams ``text`` at the pace of a fast model, from ``preloaded`` characters on, and reports the delays."""

    CSS = "Screen { layout: vertical; } Transcript, VerticalScroll { height: 1fr; } TextArea { height: 1; }"

    def __init__(self, side: Side, text: str, preloaded: int, report: Callable[[dict[str, object]], None]) -> None:
        super().__init__()
        self._side = side
        self._text = text
        self._preloaded = preloaded
        self._report = report

    def compose(self) -> ComposeResult:
        yield from self._side.compose()

    def on_mount(self) -> None:
        self.run_worker(self._measure(), exit_on_error=True)

    async def _measure(self) -> None:
        await self._side.begin(self)
        if self._preloaded:
            await self._side.write(self._text[: self._preloaded])
        await self._settle()
        delay = LoopDelay()
        watching = asyncio.create_task(delay.watch())
        started = time.perf_counter()
        await self._stream_rest(started)
        await self._side.finish()
        seconds = time.perf_counter() - started
        watching.cancel()
        self._report({"delays": delay.delays, "seconds": seconds, "typed": len(self._side.typed())})
        self.exit()

    async def _settle(self) -> None:
        """Wait until what is there is drawn: the loop comes round quickly for a whole second."""
        quiet_since = time.perf_counter()
        while time.perf_counter() - quiet_since < SETTLED_SECONDS:
            before = time.perf_counter()
            await asyncio.sleep(SETTLED_SECONDS / 50)
            if time.perf_counter() - before > 2 * SETTLED_SECONDS / 50:
                quiet_since = time.perf_counter()

    async def _stream_rest(self, started: float) -> None:
        """Token after token when each is due; those that fell due during a stall come at once, as from a socket."""
        at, token = self._preloaded, 0
        while at < len(self._text):
            await asyncio.sleep(max(started + token / TOKENS_PER_SECOND - time.perf_counter(), 0))
            due = int((time.perf_counter() - started) * TOKENS_PER_SECOND) + 1
            while token < due and at < len(self._text):
                await self._side.write(self._text[at : at + CHARACTERS_PER_TOKEN])
                at += CHARACTERS_PER_TOKEN
                token += 1


def main(name: str, characters: int, preloaded: int, report: Path) -> None:
    """Run one side in this terminal."""
    settings = load_settings(Home.find(os.environ), os.environ).interface
    side: Side = EnlaceSide(settings) if name == "enlace" else TextualSide()

    def write(measured: dict[str, object]) -> None:
        aside = report.with_suffix(".aside")
        aside.write_text(json.dumps(measured), encoding="utf-8")
        aside.replace(report)

    StreamingApp(side, answer(characters), preloaded, write).run()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
