"""Numbers of JSON within bounds, as GBNF: every text that the grammar lets through is a number in the range."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

MOST_DIGITS = 15
# After the point, so that a number does not go on for ever and rounding does not carry it over its bound.
MOST_DECIMALS = 9
ANY_INTEGER = f'"-"? ("0" | [1-9] [0-9]{{0,{MOST_DIGITS - 1}}})'
ANY_NUMBER = f'{ANY_INTEGER} ("." [0-9]{{1,{MOST_DIGITS}}})?'
TAIL = f"[0-9]{{0,{MOST_DECIMALS}}}"
DECIMALS = f'("." [0-9]{{1,{MOST_DECIMALS}}})?'
ZEROS = f'("." "0"{{1,{MOST_DECIMALS}}})?'
# Decimals that are not all zero.
SOME = f'"0"{{0,{MOST_DECIMALS}}} [1-9] {TAIL}'


@dataclass(frozen=True)
class Bound:
    """One end of a range; ``open``: the value itself is outside."""

    value: Decimal
    open: bool = False

    def mirrored(self) -> Bound:
        return Bound(-self.value, self.open)


def integer_rule(least: Bound | None, most: Bound | None) -> str | None:
    """The whole numbers from ``least`` to ``most``, None for no bound; None where there are none."""
    low = None if least is None else _whole(least, up=True)
    high = None if most is None else _whole(most, up=False)
    choices = []
    if low is None or low < 0:
        negative = _naturals(1 if high is None else max(1, -high), None if low is None else -low)
        choices += [f'"-" ({negative})'] if negative else []
    if high is None or high >= 0:
        positive = _naturals(0 if low is None else max(0, low), high)
        choices += [positive] if positive else []
    return " | ".join(choices) or None


def number_rule(least: Bound | None, most: Bound | None) -> str | None:
    """The numbers from ``least`` to ``most``, whole or with decimals; None where there are none."""
    zero = Bound(Decimal(0))
    choices = []
    if least is None or least.value < 0:
        low = most.mirrored() if most is not None and most.value < 0 else zero
        # -0 is 0, which must then be in the range.
        if most is not None and most.value == 0 and most.open:
            low = Bound(Decimal(0), open=True)
        choices += [f'"-" ({part})' for part in _positive(low, None if least is None else least.mirrored())]
    if most is None or most.value >= 0:
        low = least if least is not None and least.value >= 0 else zero
        choices += _positive(low, most)
    return " | ".join(choices) or None


def _whole(bound: Bound, *, up: bool) -> int:
    floor = int(bound.value.to_integral_value(ROUND_FLOOR))
    whole = floor == bound.value
    if up:
        return floor + (not whole or bound.open)
    return floor - (whole and bound.open)


def _positive(least: Bound, most: Bound | None) -> list[str]:
    """Ways to write the numbers of a range that begins at 0 or above."""
    if most is not None and (least.value > most.value or (least.value == most.value and (least.open or most.open))):
        return []
    low, low_decimals = _parts(least.value)
    if most is None:
        return [*_from(str(low), low_decimals, least.open), *_between_whole(low + 1, None)]
    high, high_decimals = _parts(most.value)
    if low < high:
        return [
            *_from(str(low), low_decimals, least.open),
            *_between_whole(low + 1, high - 1),
            *_up_to(str(high), high_decimals, most.open),
        ]
    return _within(str(low), low_decimals, high_decimals, least.open, most.open)


def _parts(value: Decimal) -> tuple[int, str]:
    """The whole part and the decimals, without zeros at the end."""
    whole, _, decimals = f"{value:f}".partition(".")
    return int(whole), decimals.rstrip("0")


def _between_whole(low: int, high: int | None) -> list[str]:
    naturals = _naturals(low, high)
    return [f"({naturals}) {DECIMALS}"] if naturals else []


def _from(whole: str, decimals: str, is_open: bool) -> list[str]:
    """Numbers with this whole part whose decimals are ``decimals`` or more."""
    if not decimals:
        return [f'"{whole}." {SOME}' if is_open else f'"{whole}" {DECIMALS}']
    size = len(decimals)
    above = str(int(decimals) + 1).zfill(size)
    choices = [] if len(above) > size else [f'"{whole}." ({_between(above, "9" * size)}) {TAIL}']
    return [*choices, f'"{whole}.{decimals}" {SOME if is_open else TAIL}']


def _up_to(whole: str, decimals: str, is_open: bool) -> list[str]:
    """Numbers with this whole part whose decimals are ``decimals`` or less."""
    if not decimals:
        return [] if is_open else [f'"{whole}" {ZEROS}']
    return [f'"{whole}"', *_within(whole, "0" * len(decimals), decimals, False, is_open)]


def _within(whole: str, low: str, high: str, low_open: bool, high_open: bool) -> list[str]:
    """Numbers with this whole part whose decimals are from ``low`` to ``high``."""
    size = max(len(low), len(high))
    if not size:
        return [f'"{whole}" {ZEROS}']
    low, high = low.ljust(size, "0"), high.ljust(size, "0")
    choices = [] if low_open or int(low) else [f'"{whole}"']
    first, last = int(low) + low_open, int(high) - 1
    if first <= last:
        choices.append(f'"{whole}." ({_between(str(first).zfill(size), str(last).zfill(size))}) {TAIL}')
    if low_open and low < high:
        choices.append(f'"{whole}.{low}" {SOME}')
    if not high_open:
        choices.append(f'"{whole}.{high}" "0"{{0,{MOST_DECIMALS}}}')
    return choices


def _naturals(low: int, high: int | None) -> str | None:
    """Whole numbers from 0 up, without zeros before them."""
    if high is not None and low > high:
        return None
    longest = max(MOST_DIGITS, len(str(low))) if high is None else len(str(high))
    choices = []
    for size in range(len(str(low)), longest + 1):
        first = str(low) if size == len(str(low)) else "1" + "0" * (size - 1)
        if high is None and first == "1" + "0" * (size - 1):
            # From here on every number of any length.
            choices.append(f"[1-9] [0-9]{{{size - 1},{longest - 1}}}" if longest > 1 else "[1-9]")
            break
        last = str(high) if high is not None and size == longest else "9" * size
        choices.append(_between(first, last))
    return " | ".join(choices)


def _between(low: str, high: str) -> str:
    """Texts of as many digits as ``low`` and ``high`` have, from the one to the other."""
    if low == high:
        return f'"{low}"' if low else '""'
    rest = len(low) - 1
    if not rest:
        return _digit(low, high)
    if low[0] == high[0]:
        return f'"{low[0]}" ({_between(low[1:], high[1:])})'
    first, last = int(low[0]), int(high[0])
    choices = []
    if low[1:] != "0" * rest:
        choices.append(f'"{first}" ({_between(low[1:], "9" * rest)})')
        first += 1
    top = []
    if high[1:] != "9" * rest:
        top.append(f'"{last}" ({_between("0" * rest, high[1:])})')
        last -= 1
    if first <= last:
        choices.append(f"{_digit(str(first), str(last))} [0-9]{{{rest}}}")
    return " | ".join([*choices, *top])


def _digit(low: str, high: str) -> str:
    return f'"{low}"' if low == high else f"[{low}-{high}]"
