"""Which colour sequences (SGR) untrusted text may keep in an output pane, and whether one is still active.

A colour may help reading but never hide: no conceal, no blink, no background (text in its own colour), and nothing near
black or near white, which is invisible on common screens. A pane that draws the colours itself and lets none of them
hide anything takes them all. This module knows only the numbers between `ESC [` and `m`.
"""

from functools import lru_cache

_RESET = "\x1b[0m"
_STYLES = {1, 2, 3, 4, 7, 9}
_CLOSES = {0: {*_STYLES, 30}, 22: {1, 2}, 23: {3}, 24: {4}, 27: {7}, 29: {9}, 39: {30}}
_COLOURS = {*range(31, 38), *range(90, 97)}
_NOTHING_TO_CLOSE = {49}
_SOMETHING = frozenset({30})
_CUBE = (0, 95, 135, 175, 215, 255)


class Colours:
    """Decides on each sequence and tracks what is open, so that it cannot leak into the text after it."""

    def __init__(self, *, all_harmless: bool = False) -> None:
        self._all_harmless = all_harmless
        self._open: frozenset[int] = frozenset()

    def accept(self, parameters: str) -> bool:
        """Whether this sequence may pass; if so, it takes effect."""
        if self._all_harmless:
            self._open = _SOMETHING if parameters.strip("0;") else frozenset()
            return True
        effect = _effect(parameters)
        if effect is None:
            return False
        closes, opens = effect
        self._open = self._open - closes | opens
        return True

    def reset(self) -> str:
        """What must follow the text to switch off what it left on."""
        return _RESET if self._open else ""


@lru_cache(1024)
def _effect(parameters: str) -> tuple[frozenset[int], frozenset[int]] | None:
    """What a sequence switches off and on; None if it is not harmless."""
    codes = [int(code or "0") for code in parameters.split(";")]
    closed, opened = set[int](), set[int]()
    while codes:
        if not _apply(codes, closed, opened):
            return None
    return frozenset(closed), frozenset(opened)


def _apply(codes: list[int], closed: set[int], opened: set[int]) -> bool:
    """Take one attribute from the front; False if it is not harmless."""
    match codes.pop(0):
        case code if code in _CLOSES:
            closed |= _CLOSES[code]
            opened -= _CLOSES[code]
        case 38:
            opened.add(30)
            return _extended(codes)
        case code if code in _STYLES or code in _COLOURS:
            opened.add(code if code in _STYLES else 30)
        case code:
            return code in _NOTHING_TO_CLOSE
    return True


def _extended(codes: list[int]) -> bool:
    match codes:
        case [5, index, *rest]:
            codes[:] = rest
            return _palette(index)
        case [2, red, green, blue, *rest] if max(red, green, blue) <= 255:
            codes[:] = rest
            return _readable(red, green, blue)
        case _:
            return False


def _palette(index: int) -> bool:
    if index < 16:
        return index not in (0, 15)
    if index >= 232:  # grey, from dark to light; higher values are lighter than any
        return _readable(*([8 + (index - 232) * 10] * 3))
    index -= 16
    return _readable(_CUBE[index // 36], _CUBE[index // 6 % 6], _CUBE[index % 6])


def _readable(red: int, green: int, blue: int) -> bool:
    """Neither near black nor near white (by luminance, in thousandths of 255)."""
    luminance = 299 * red + 587 * green + 114 * blue
    return 50_000 <= luminance <= 225_000 or max(red, green, blue) - min(red, green, blue) >= 100
