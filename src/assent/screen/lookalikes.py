"""Words written with letters that imitate ASCII ones (`сurl` with a Cyrillic с). Reports; changes no text.

Only letters from scripts with look-alikes count. Japanese, Korean or Arabic next to Latin is ordinary writing, and so
is a Greek letter that resembles nothing (`Δt`). Whole words of full-width or mathematical letters (`ｒｍ`) are ordinary
only next to Chinese, Japanese or Korean.
"""

import re

_CYRILLIC_TWINS = "асеорхуіјѕһԁԛԝѵӏАВЕІЈКМНОРСТХЅУ"
_GREEK_TWINS = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυϲϳ"
_CYRILLIC = r"\u0400-\u0482\u048a-\u052f\u1c80-\u1c8f\ua640-\ua69f"
_OTHERS = (
    r"\u0251\u0261\u0531-\u0587\u10a0-\u10ff\u13a0-\u13ff\uab70-\uabbf\u2c80-\u2cff\ua4d0-\ua4ff\u2102-\u2139"
    r"\u2160-\u217f\u24b6-\u24e9\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U0001d400-\U0001d7ff"
)
_PUNCTUATION = r"\u037e\u2024\u2044\u2215\u29f8"  # ; . / in disguise: they end a host name only visually

_STYLED = r"\uff21-\uff3a\uff41-\uff5a\u24b6-\u24e9\U0001d400-\U0001d7ff"
_TWINS = _CYRILLIC_TWINS + _GREEK_TWINS
_LETTER = rf"[\w\u24b6-\u24e9{_PUNCTUATION}]"

FOREIGN = re.compile(f"[{_CYRILLIC}{_GREEK_TWINS}{_OTHERS}{_PUNCTUATION}]")
_BETWEEN = rf"(?:(?![A-Za-z]|{FOREIGN.pattern}){_LETTER})*"  # not possessive: early 3.11 gets those wrong
_MIXED = re.compile(f"[A-Za-z]{_BETWEEN}{FOREIGN.pattern}|{FOREIGN.pattern}{_BETWEEN}[A-Za-z]")
_WORD = re.compile(f"{_LETTER}+")
_LATIN = re.compile("[A-Za-z]")
_FILLERS = re.compile("[\u115f\u1160\u3164\uffa0]")  # invisible, but letters to `\w`
_ONLY_TWINS = re.compile(f"[{_TWINS}]+")
_ONLY_STYLED = re.compile(f"[{_STYLED}]+")
_TWIN_WORD = re.compile(rf"[{_TWINS}](?<![^ ].)[{_TWINS}]+(?![^ ])")
_STYLED_WORD = re.compile(rf"[{_STYLED}](?<![^ ].)[{_STYLED}]+(?![^ ])")
_EAST_ASIAN = re.compile(r"[\u3041-\u9fff\uac00-\ud7af]")
_CLEARLY_FOREIGN = re.compile(rf"[{_CYRILLIC}\u0370-\u03ff\u1f00-\u1fff](?<![{_TWINS}])")
_SAMPLE = 24
_MAX_FOUND = 8


def lookalikes(text: str) -> tuple[str, ...]:
    """The suspicious words of a whole text."""
    if text.isascii() or not FOREIGN.search(text):
        return ()
    words = Lookalikes()
    words.feed(text)
    return words.close()


class Lookalikes:
    """Collects suspicious words across any number of pieces; where a piece ends does not matter."""

    def __init__(self) -> None:
        self._mixed: dict[str, None] = {}
        self._twins: dict[str, None] = {}
        self._styled: dict[str, None] = {}
        self._latin_seen = False
        self._foreign_seen = False
        self._east_asian_seen = False
        self._open: _Word | None = None

    def feed(self, text: str) -> None:
        self._latin_seen = self._latin_seen or _LATIN.search(text) is not None
        if not text.isascii():
            self._foreign_seen = self._foreign_seen or _CLEARLY_FOREIGN.search(text) is not None
            self._east_asian_seen = self._east_asian_seen or _EAST_ASIAN.search(text) is not None
        start, end = _inner(text)
        if start:
            self._add(text[:start])
        if start == len(text):
            return
        self._finish()
        self._look_through(text[start:end])
        if end < len(text):
            self._add(text[end:])

    def close(self) -> tuple[str, ...]:
        """The findings: mixed words; and words made only of look-alikes if nothing else is in their script, or in
        a script that goes with it.
        """
        self._finish()
        found = list(self._mixed)
        if self._latin_seen and not self._foreign_seen:
            found += self._twins
        if not self._east_asian_seen:
            found += self._styled
        return tuple(found[:_MAX_FOUND])

    def _look_through(self, text: str) -> None:
        """Whole words only. Each word is checked once, and no more kinds are kept than are reported."""
        if text.isascii() or not FOREIGN.search(text):
            return
        words = " ".join(dict.fromkeys(_WORD.findall(text)))
        _collect(self._mixed, _MIXED, words)
        if not self._foreign_seen:
            _collect(self._twins, _TWIN_WORD, words)
        if not self._east_asian_seen:
            _collect(self._styled, _STYLED_WORD, words)

    def _add(self, piece: str) -> None:
        self._open = self._open or _Word()
        self._open.add(piece)

    def _finish(self) -> None:
        word, self._open = self._open, None
        if word is None or not word.foreign:
            return
        if word.latin:
            _keep(self._mixed, word)
        elif word.only_twins and word.length > 1:
            _keep(self._twins, word)
        elif word.only_styled and word.length > 1:
            _keep(self._styled, word)


def _inner(text: str) -> tuple[int, int]:
    """Without the words at both ends, which may continue in the pieces before and after."""
    head = _WORD.match(text)
    tail = _WORD.match(text[::-1])
    return head.end() if head else 0, len(text) - tail.end() if tail else len(text)


def _collect(found: dict[str, None], pattern: re.Pattern[str], words: str) -> None:
    """The sentences about words (separated by a space) that match the pattern, until there are enough."""
    end = 0
    while len(found) < _MAX_FOUND and (match := pattern.search(words, end)):
        start = words.rfind(" ", 0, match.start()) + 1
        end = words.find(" ", match.end())
        end = end if end >= 0 else len(words)
        word = _Word()
        word.add(words[start:end])
        _keep(found, word)


def _keep(found: dict[str, None], word: "_Word") -> None:
    """No more than are reported, however long a stream is."""
    if len(found) < _MAX_FOUND:
        found.setdefault(word.sentence)


class _Word:
    """What must be known about a word, in constant space however long it grows."""

    def __init__(self) -> None:
        self.sample = ""
        self.length = 0
        self.latin = False
        self.foreign = ""
        self.only_twins = True
        self.only_styled = True

    @property
    def sentence(self) -> str:
        return f'look-alike letter <U+{ord(self.foreign):04X}> in "{self.sample}"'

    def add(self, piece: str) -> None:
        self.length += len(piece)
        self.latin = self.latin or _LATIN.search(piece) is not None
        self.only_twins = self.only_twins and _ONLY_TWINS.fullmatch(piece) is not None
        self.only_styled = self.only_styled and _ONLY_STYLED.fullmatch(piece) is not None
        if not self.foreign and (match := FOREIGN.search(piece)):
            self.foreign = match.group()
        self.sample += _FILLERS.sub("?", piece[: _SAMPLE - len(self.sample)])
