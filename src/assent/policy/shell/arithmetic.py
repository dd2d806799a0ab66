"""Evaluates arithmetic on plain numbers the way bash does: `$((2 * 3))`. No names, no assignments, no side effects."""

import re

from assent.lazy_pattern import lazy_pattern

EXPRESSION = lazy_pattern(r"\$\(\(([0-9 \t+*/%()-]{1,200})\)\)")
_TOKEN = lazy_pattern(r"[ \t]*(\d+|\*\*|[-+*/%()])[ \t]*")
_MAX_VALUE = 2**62
_MAX_DEPTH = 20
_MAX_POWER = 64


class NoNumber(ValueError):
    """Not an expression on plain numbers, or one that bash would reject."""


def evaluate(text: str) -> int:
    """Return the value. Raises NoNumber."""
    if re.search(r"\+\+|--|(?<!\d)0\d", text) or text.count("(") > _MAX_DEPTH:
        raise NoNumber(text)
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"[ \t]", "", text) or re.search(r"\d[ \t]+\d", text):
        raise NoNumber(text)
    numbers = _Numbers(tokens)
    found = numbers.sum()
    if not numbers.done():
        raise NoNumber(text)
    return found


class _Numbers:
    """Parses sums, products, powers, signs and parentheses."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def done(self) -> bool:
        return self._at == len(self._tokens)

    def sum(self) -> int:
        found = self._product()
        while (sign := self._take("+", "-")) is not None:
            other = self._product()
            found = _bounded(found + other if sign == "+" else found - other)
        return found

    def _product(self) -> int:
        found = self._power()
        while (sign := self._take("*", "/", "%")) is not None:
            found = _bounded(_times(found, sign, self._power()))
        return found

    def _power(self) -> int:
        """Right-associative and weaker than a sign: `-2**2` is 4."""
        base = self._signed()
        if self._take("**") is None:
            return base
        exponent = self._power()
        if not 0 <= exponent <= _MAX_POWER:
            raise NoNumber("a power is negative or too large")
        return _bounded(base**exponent)

    def _signed(self) -> int:
        if (sign := self._take("+", "-")) is not None:
            return -self._signed() if sign == "-" else self._signed()
        if self._take("(") is not None:
            found = self.sum()
            if self._take(")") is None:
                raise NoNumber("a parenthesis is not closed")
            return found
        if self.done() or not self._tokens[self._at].isdigit():
            raise NoNumber("a number is missing")
        self._at += 1
        return _bounded(int(self._tokens[self._at - 1]))

    def _take(self, *tokens: str) -> str | None:
        if self.done() or self._tokens[self._at] not in tokens:
            return None
        self._at += 1
        return self._tokens[self._at - 1]


def _times(left: int, sign: str, right: int) -> int:
    """Division rounds toward zero, and the remainder takes the sign of the dividend."""
    if sign == "*":
        return left * right
    if right == 0:
        raise NoNumber("division by zero")
    quotient = abs(left) // abs(right)
    quotient = quotient if (left < 0) == (right < 0) else -quotient
    return quotient if sign == "/" else left - quotient * right


def _bounded(number: int) -> int:
    if abs(number) > _MAX_VALUE:
        raise NoNumber("a number is too large")
    return number
