"""Server-sent events out of bytes, as the HTML standard reads them.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

BYTE_ORDER_MARK = "\ufeff"


class EventTooLong(Exception):
    """An event that goes on and on."""


class EventReader:
    """Gives the data of each event once it is whole; what the stream's end cuts off is no event.

    Lines end with CR LF, LF or CR, wherever the pieces are cut; several ``data`` fields are one text of several
    lines; comments and the other fields carry nothing that is needed here. Raises EventTooLong when an event
    holds more than ``longest`` characters.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._line = ""
        self._data: list[str] = []
        self._size = 0
        self._after_return = False
        self._begun = False

    def feed(self, content: bytes) -> Iterator[str]:
        """The data of the events that these bytes complete."""
        text = self._decoder.decode(content)
        if not self._begun and text:
            self._begun = True
            text = text.removeprefix(BYTE_ORDER_MARK)
        if self._after_return and text:
            # This and the last character of the piece before are one line's end.
            self._after_return = False
            text = text.removeprefix("\n")
        self._after_return = text.endswith("\r")
        *lines, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in lines:
            whole, self._line = self._line + line, ""
            self._measure(len(line))
            if whole:
                self._field(whole)
            elif (data := self._dispatch()) is not None:
                yield data
        self._line += rest
        self._measure(len(rest))

    def _measure(self, more: int) -> None:
        self._size += more
        if self._size > self._longest:
            raise EventTooLong

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))

    def _dispatch(self) -> str | None:
        data, self._data, self._size = self._data, [], 0
        return "\n".join(data) if data else None
