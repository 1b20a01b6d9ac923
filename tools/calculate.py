"""Sums, computed exactly and with a bound on what they may cost.

Python's own parser reads the expression, and only the few kinds of node below are computed: no names, no calls but
the listed ones, no attribute. Numbers are fractions, so that 0.1 + 0.2 is 0.3. The size of a power or a factorial is
estimated before it is computed.
"""

from __future__ import annotations

import ast
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Final

from configs.sections.tools import CalculateSettings
from tools.errors import SumTooBig, SumTooLong, SumUndefined, SumUnreadable
from tools.registry import ToolContext, ToolResult
from tools.sums import read_sum

_FUNCTIONS: Final = ("sqrt", "cbrt", "abs", "factorial", "percent", "round")


def calculate(expression: str, *, context: ToolContext) -> ToolResult:
    """Work out a sum: + - * / ^ %, brackets, roots and factorials, in figures or in words."""
    settings = context.settings.calculate
    if len(expression) > settings.longest_expression:
        raise SumTooLong(length=len(expression), longest=settings.longest_expression)
    read = read_sum(expression, context.phrases.language)
    if read is None:
        raise SumUnreadable(expression=expression.strip())
    value = evaluate(read, settings)
    shown = show(value, settings, context.phrases.language)
    return ToolResult(f"{pretty(read, context.phrases.language)} = {shown}", must_say=(shown,))


def evaluate(expression: str, settings: CalculateSettings) -> Fraction:
    """The value of an expression in Python's notation. Raises SumUnreadable, SumUndefined and SumTooBig."""
    try:
        tree = ast.parse(expression, mode="eval")
        return _Evaluation(expression, settings).value(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SumUnreadable(expression=expression) from error
    except ZeroDivisionError as error:
        raise SumUndefined(expression=expression) from error
    except OverflowError as error:
        raise SumTooBig(most_digits=settings.most_digits) from error


class _Evaluation:
    def __init__(self, expression: str, settings: CalculateSettings) -> None:
        self._expression = expression
        self._settings = settings

    def value(self, node: ast.expr) -> Fraction:
        match node:
            case ast.Constant(value=bool()):
                raise SumUnreadable(expression=self._expression)
            case ast.Constant(value=int() | float()):
                # The literal's own text, not the float it was rounded to.
                return self._bounded(Fraction(Decimal(ast.get_source_segment(self._expression, node) or "0")))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.value(operand)
            case ast.BinOp():
                return self._bounded(self._binary(node))
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
                return self._bounded(self._call(name, self.value(argument)))
        raise SumUnreadable(expression=self._expression)

    def _binary(self, node: ast.BinOp) -> Fraction:
        left, right = self.value(node.left), self.value(node.right)
        match node.op:
            case ast.Add() | ast.Sub() if _is_percent(node.right):
                # 80 + 10 % is 88, as on every pocket calculator.
                return left * (1 + right) if isinstance(node.op, ast.Add) else left * (1 - right)
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.FloorDiv():
                return Fraction(left // right)
            case ast.Mod():
                return left % right
            case ast.Pow():
                return self._power(left, right)
        raise SumUnreadable(expression=self._expression)

    def _power(self, base: Fraction, exponent: Fraction) -> Fraction:
        if base == 0 and exponent < 0:
            raise SumUndefined(expression=self._expression)
        size = _digits(base)
        if size * abs(float(exponent)) > self._settings.most_digits:
            raise SumTooBig(most_digits=self._settings.most_digits)
        if exponent.denominator == 1:
            # 1, 0 and -1 stay small whatever the exponent: only its parity matters.
            return base ** (int(exponent) if size else int(exponent) % 2 + (2 if exponent else 0))
        if base < 0:
            raise SumUndefined(expression=self._expression)
        return self._root(base, exponent)

    def _root(self, base: Fraction, exponent: Fraction) -> Fraction:
        """``base ** exponent`` for a fraction of an exponent: exact where the root is whole, else as a float is."""
        approximate = float(base) ** float(exponent)
        nearest = round(approximate)
        # Raised to the exponent's own numerator and denominator, small numbers become huge: 3 ** 5.1234567891.
        raised = _digits(Fraction(nearest)) * exponent.denominator, _digits(base) * abs(exponent.numerator)
        if max(raised) <= self._settings.most_digits and nearest**exponent.denominator == base**exponent.numerator:
            return Fraction(nearest)
        return Fraction(repr(approximate))

    def _call(self, name: str, argument: Fraction) -> Fraction:
        match name:
            case "sqrt":
                return self._power(argument, Fraction(1, 2))
            case "cbrt":
                root = self._root(abs(argument), Fraction(1, 3))
                return root if argument >= 0 else -root
            case "abs":
                return abs(argument)
            case "percent":
                return argument / 100
            case "round":
                return Fraction(round(argument))
        if argument.denominator != 1 or argument < 0:
            raise SumUndefined(expression=self._expression)
        if argument > self._settings.largest_factorial:
            raise SumTooBig(most_digits=self._settings.most_digits)
        return Fraction(math.factorial(int(argument)))

    def _bounded(self, value: Fraction) -> Fraction:
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        if bits * math.log10(2) > self._settings.most_digits + 1:
            raise SumTooBig(most_digits=self._settings.most_digits)
        return value


def _is_percent(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "percent"


def _digits(value: Fraction) -> float:
    """About how many digits the longer part of ``value`` has."""
    return math.log10(max(abs(value.numerator), value.denominator))


def show(value: Fraction, settings: CalculateSettings, language: str) -> str:
    """The number as a person of that language writes it; whole numbers in full, others to ``shown_digits``."""
    if value.denominator == 1:
        return str(value.numerator)
    whole_digits = len(str(abs(value.numerator) // value.denominator)) if abs(value) >= 1 else 0
    places = max(2, settings.shown_digits - whole_digits)
    if abs(value) < Fraction(1, 10 ** (settings.shown_digits // 2)):
        text = f"{float(value):.{settings.shown_digits // 2}g}"
    else:
        scaled = round(value * 10**places)
        sign, digits = ("-" if scaled < 0 else ""), str(abs(scaled)).rjust(places + 1, "0")
        text = f"{sign}{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if language == "es" else text


def pretty(expression: str, language: str) -> str:
    """An expression in Python's notation as people of that language write it."""
    text = expression.replace(".", ",") if language == "es" else expression
    text = text.replace("**", "^").replace("*", "×").replace("/", "÷")
    text = re.sub(r"percent\(([\d.,]+)\)", r"\1 %", text)
    text = re.sub(r"factorial\((\d+)\)", r"\1!", text)
    text = re.sub(r"sqrt\(([\d.,]+)\)", r"√\1", text)
    text = re.sub(r"\s*([×÷+])\s*", r" \1 ", text)
    return re.sub(r"(?<=[\d)%!])\s*-\s*", " - ", text)
