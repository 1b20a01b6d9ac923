"""Calendars (RFC 5545) and contact cards (RFC 6350) into records. Both are lines of ``NAME;PARAMETER=…:value``."""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from memory.documents.errors import DocumentDamaged, DocumentNoMapping, ReaderMissing
from memory.documents.found import Listing, Reading, Record, Remark, Scalar, Tree

_FOLD: Final = re.compile(r"\n[ \t]")
_ESCAPED: Final = re.compile(r"\\([\\;,nN:])")
_GROUP: Final = re.compile(r"^[\w-]+\.(?=[A-Za-z])")
_CARD: Final = {"FN": "name", "EMAIL": "email", "TEL": "phone", "BDAY": "birthday", "TITLE": "role", "URL": "website"}


@dataclass(frozen=True)
class _Line:
    name: str
    parameters: dict[str, str]
    value: Scalar


def read_calendar(text: str, remarks: tuple[Remark, ...]) -> Reading:
    """Every event, with who organises and who attends it. Raises DocumentDamaged and ReaderMissing."""
    text = _FOLD.sub("", text)
    records: list[Tree] = []
    floating = 0
    for lines in _components(text, "VEVENT", "ics"):
        title = next((line.value for line in lines if line.name == "SUMMARY"), None)
        if title is None:
            continue
        event: list[tuple[str, Tree]] = [("event", title)]
        for line in lines:
            if line.name == "LOCATION":
                event.append(("place", line.value))
            elif line.name == "DTSTART" and (when := _when(line)) is not None:
                event.append(("starts", Scalar(when.isoformat(), line.value.start, line.value.end)))
                floating += isinstance(when, datetime) and when.tzinfo is None
            elif line.name in ("ORGANIZER", "ATTENDEE") and line.parameters.get("CN"):
                part = "organiser" if line.name == "ORGANIZER" else "attendee"
                name = Scalar(line.parameters["CN"], line.value.start, line.value.end)
                records.append(Record((("name", name), ("email", line.value), (part, title))))
        records.insert(0, Record(tuple(event)))
    if not records:
        raise DocumentNoMapping(format="ics")
    more = (Remark("no_time_zone", {"events": floating}),) if floating else ()
    return Reading(text, trees=(Listing(tuple(records)),), prose=False, remarks=remarks + more)


def read_cards(text: str, remarks: tuple[Remark, ...]) -> Reading:
    """Every contact. Raises DocumentDamaged and ReaderMissing."""
    text = _FOLD.sub("", text)
    records: list[Tree] = [Record(tuple(_card(lines))) for lines in _components(text, "VCARD", "vcf")]
    if not records:
        raise DocumentNoMapping(format="vcf")
    return Reading(text, trees=(Record((("contacts", Listing(tuple(records))),)),), prose=False, remarks=remarks)


def _card(lines: list[_Line]) -> Iterator[tuple[str, Tree]]:
    whole = any(line.name == "FN" for line in lines)
    for line in lines:
        value = line.value
        if line.name in _CARD:
            yield _CARD[line.name], Scalar(re.sub(r"^(?:tel|mailto):", "", _plain(value.value)), value.start, value.end)
        elif line.name == "ORG":
            yield "company", Scalar(_plain(_parts(value.value)[0]), value.start, value.end)
        elif line.name == "ADR":
            # Post office box and extended address come first, the postal code behind the region.
            parts = [_plain(part) for part in _parts(value.value)]
            yield "address", Scalar(", ".join(part for part in parts if part), value.start, value.end)
        elif line.name == "N" and not whole:
            family, given, *_ = [_plain(part) for part in (*_parts(value.value), "")]
            yield "name", Scalar(f"{given} {family}".strip(), value.start, value.end)


def _components(text: str, wanted: str, form: str) -> Iterator[list[_Line]]:
    """The lines of each component of this name; of what lies in it (alarms) none."""
    inside: list[str] = []
    lines: list[_Line] = []
    start = 0
    for written in text.split("\n"):
        line = _line(written, start, form) if written.strip() else None
        start += len(written) + 1
        if line is None:
            continue
        name = line.value.value.strip().upper()
        if line.name == "BEGIN":
            inside.append(name)
            lines = [] if name == wanted else lines
        elif line.name == "END":
            if not inside or inside.pop() != name:
                raise DocumentDamaged(format=form, reason="a part ends that has not begun")
            if name == wanted:
                yield lines
        elif inside and inside[-1] == wanted:
            lines.append(line)
    if inside:
        raise DocumentDamaged(format=form, reason="it ends in the middle")


def _line(written: str, start: int, form: str) -> _Line | None:
    try:
        from icalendar.parser import Contentline
    except ImportError as error:
        raise ReaderMissing(format=form, package="icalendar") from error
    grouped = _GROUP.sub("", written)
    try:
        name, parameters, value = Contentline(grouped).parts()
    except ValueError:
        # One line that nobody understands is passed over, as the RFC asks.
        return None
    at = start + len(written) - len(value) if written.endswith(value) else start
    told = {str(key).upper(): str(each) for key, each in parameters.items()}
    if told.get("ENCODING", "").upper() in ("QUOTED-PRINTABLE", "Q") or "QUOTED-PRINTABLE" in told:
        value = quopri.decodestring(value.encode()).decode(told.get("CHARSET", "utf-8"), errors="replace")
    return _Line(name.upper(), told, Scalar(value if form == "vcf" else _plain(value), at, start + len(written)))


def _when(line: _Line) -> date | None:
    """The day or the moment that a line tells; None where it tells none."""
    from icalendar.prop import vDDDTypes

    try:
        found = vDDDTypes.from_ical(line.value.value, line.parameters.get("TZID"))
    except ValueError:
        return None
    return found if isinstance(found, date) else None


def _parts(value: str) -> list[str]:
    return re.split(r"(?<!\\);", value)


def _plain(value: str) -> str:
    return _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], value).strip()
