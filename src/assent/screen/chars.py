"""Which characters can deceive a reader, as pieces of regular expressions, and how each is shown and named.

`HIDDEN` is every character that is invisible, moves the cursor, changes the text direction, or looks like a space
without being one: at least the Unicode categories Cc (except newline and tab), Cf, Cs, Co, Zl, Zp and Zs (except the
space), and all default-ignorable characters; a test compares it with `unicodedata`. Ranges instead of categories: a
compiled class is cheap to search, and newly assigned emoji do not count as hidden. Characters above U+FFFF are kept
apart because a class without them is ten times faster.
"""

import re
from functools import cache, lru_cache

ESCAPES = r"\x1b\x9b"
CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
DIRECTION = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
BLANKS = r"\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000"
SELECTORS = r"\u180b-\u180d\u180f\ufe00-\ufe0f"
PRIVATE = r"\ue000-\uf8ff"
BROKEN = r"\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
INVISIBLE = (
    r"\xad\u034f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d"
    r"\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
)
HIGH_TAGS = r"\U000e0000-\U000e007f"
HIGH_SELECTORS = r"\U000e0100-\U000e01ef"
HIGH_PRIVATE = r"\U000f0000-\U0010ffff"
HIGH_BROKEN = "".join(rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(1, 15))
HIGH_INVISIBLE = (
    r"\U000110bd\U000110cd\U00013430-\U00013455\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    r"\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
)
LOW = CONTROLS + DIRECTION + BLANKS + SELECTORS + PRIVATE + BROKEN + INVISIBLE
HIGH = HIGH_TAGS + HIGH_SELECTORS + HIGH_PRIVATE + HIGH_BROKEN + HIGH_INVISIBLE
HIDDEN = f"(?:[{LOW}]|[{HIGH}])"

# Marks that stack on the preceding letter; enough of them paint over the lines around. First those without a script,
# then Cyrillic, Hebrew, Arabic, Syriac, Thai, Lao, Tibetan and Japanese ones.
COMBINING = r"\u0300-\u034e\u0350-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
STACKING = COMBINING + (
    r"\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0730-\u074a"
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f7e\u0f80-\u0f84\u3099\u309a\ua66f-\ua67d"
)

_EMOJI = (
    r"\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935"
    r"\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_JOINING = r"\u0620-\u06ff\u0750-\u077f\u08a0-\u08c9\u0900-\u0dff"  # Arabic, Persian, Indic scripts need joiners
_WIDE = r"[^\x00-\u3000]"  # East Asian letters and signs; anything else up there is reported anyway if it is hidden
# Hidden characters that ordinary writing needs at exactly this position. Each is identified by the character itself,
# which ends the lookbehind, and by its neighbours: emoji sequences and joined letters;
SPELLING = (
    rf"(?<=[{_EMOJI}][\ufe0e\ufe0f])|(?<=[0-9#*]\ufe0f)(?=\u20e3)"
    rf"|(?:(?<=[{_EMOJI}]\u200d)|(?<=[{_EMOJI}]\ufe0f\u200d))(?=[{_EMOJI}])"
    rf"|(?<=[{_JOINING}][\u200c\u200d])(?=[{_JOINING}])"
)
# and in text that is only read: French spacing, digit groups, the ideographic space.
TYPOGRAPHY = (
    r"(?<=[\xa0\u202f])(?:(?=[!?;:»%€])|(?<=«.)|(?<=[0-9].)(?=[0-9]))"
    rf"|(?<=\u3000)(?:(?={_WIDE})|(?<={_WIDE}.))"
)
ORDINARY = r"\ufe0e\ufe0f\u200c\u200d\xa0\u202f\u3000"  # everything above that can be meant

_KINDS = (
    (ESCAPES, "terminal escape sequence"),
    (r"\r", "carriage return {mark}"),
    (CONTROLS, "control character {mark}"),
    (DIRECTION, "text direction control {mark}"),
    (BLANKS, "unusual space {mark}"),
    (HIGH_TAGS, "hidden tag characters"),
    (SELECTORS + HIGH_SELECTORS, "variation selector {mark}"),
    (PRIVATE + HIGH_PRIVATE, "private-use character {mark}"),
    (BROKEN + HIGH_BROKEN, "broken character {mark}"),
    (COMBINING, "combining mark {mark} without a letter"),
    ("", "hidden character {mark}"),
)


_SHORT = {"\n": "\\n", "\t": "\\t"}


@cache
def _kinds() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(f"[{chars}]" if chars else ""), sentence) for chars, sentence in _KINDS)


def mark(char: str) -> str:
    """The visible form of a hidden character: `\\x1b` for what a terminal obeys, `<U+200B>` for the rest."""
    code = ord(char)
    if code >= 0x20 or char == "\r":
        return f"<U+{code:04X}>"
    return _SHORT.get(char) or f"\\x{code:02x}"


@lru_cache(1024)
def describe(char: str) -> str:
    """One short sentence that says what is wrong with this character."""
    sentence = next(sentence for pattern, sentence in _kinds() if pattern.match(char))
    return sentence.format(mark=mark(char))
