"""Sums: exact, in both languages, and never dearer than their bounds."""

from __future__ import annotations

import time

import pytest

from tests.tools.conftest import MakeContext
from tools.calculate import calculate
from tools.errors import SumTooBig, SumTooLong, SumUndefined, SumUnreadable, ToolError


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2+2", "4"),
        ("12 x 12", "144"),
        ("0.1 + 0.2", "0.3"),
        ("15% of 80", "12"),
        ("80 + 10%", "88"),
        ("1,000 * 3", "3000"),
        ("(2+3)*4", "20"),
        ("5!", "120"),
        ("square root of 144", "12"),
        ("2^0.5", "1.41421356237"),
        ("sqrt(10^120)", "1" + "0" * 60),
        ("27^(2/3)", "9"),
        ("twelve times twelve", "144"),
        ("two thousand minus one", "1999"),
        ("7 squared", "49"),
        ("17 mod 5", "2"),
        ("half of 50", "25"),
        ("-3 + 5", "2"),
        ("1**99999999999", "1"),
        ("0.000001 * 0.001", "1e-09"),
    ],
)
def test_an_english_sum_is_exact(context: MakeContext, written: str, shown: str) -> None:
    result = calculate(written, context=context("en"))
    assert result.text.endswith(f" = {shown}")
    assert result.must_say == (shown,)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("3,5 por 2", "7"),
        ("1.000,50 más 2", "1002,5"),
        ("el 15 por ciento de 80", "12"),
        ("cien entre 8", "12,5"),
        ("treinta y dos más dos", "34"),
        ("raíz cuadrada de 144", "12"),
        ("dos mil menos uno", "1999"),
        ("7 al cuadrado", "49"),
        ("la mitad de 30", "15"),
        ("2 elevado a 10", "1024"),
        ("10 dividido entre 4", "2,5"),
    ],
)
def test_a_spanish_sum_reads_and_writes_the_decimal_comma(context: MakeContext, written: str, shown: str) -> None:
    assert calculate(written, context=context("es")).must_say == (shown,)


@pytest.mark.parametrize("written", ["3^5.1234567891", "1.5^2.0000000001", "0.5^123.4567891", "2^(355/113)"])
def test_a_power_with_many_decimals_is_computed_at_once(context: MakeContext, written: str) -> None:
    begun = time.process_time()
    calculate(written, context=context("en"))
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("written", "error"),
    [
        ("2**999999999", SumTooBig),
        ("9**9**9", SumTooBig),
        ("(2**900)**2", SumTooBig),
        ("10**200 * 10**201", SumTooBig),
        ("171!", SumTooBig),
        ("1/0", SumUndefined),
        ("0**-1", SumUndefined),
        ("(-8)**0.5", SumUndefined),
        ("2.5!", SumUnreadable),
        ("1 +" * 200, SumTooLong),
        ("__import__('os').system('true')", SumUnreadable),
        ("a + b", SumUnreadable),
        ("", SumUnreadable),
        ("24/7", SumUnreadable),
        ("29/11/2026", SumUnreadable),
        ("\x00 + 1", SumUnreadable),
    ],
)
def test_what_cannot_be_computed_is_refused_at_once(context: MakeContext, written: str, error: type[ToolError]) -> None:
    begun = time.process_time()
    with pytest.raises(error):
        calculate(written, context=context("en"))
    assert time.process_time() - begun < 1
