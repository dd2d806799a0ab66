"""Text for the screen: makes any text of a model, a tool, a file or an MCP server safe to show to a person.

One function for every place that shows foreign text (threats T15, T18, T20). Nothing is executed and nothing
vanishes: what a terminal would obey or an eye would miss is shown as `\\x1b` or `<U+200B>`, padding is folded
with a count, and `suspicious` says in short sentences what was found. The contexts:

- `prompt`: a question. Only newline and tab stay; padding is folded early.
- `output`: a pane that is read. Harmless colours stay, and what ordinary writing needs (emoji, CR LF, ...).
- `label`: one line, cut with a count.
- `html`: like `output` without colours, escaped for insertion as text into a page.

It knows nothing of terminals' widths, of dialogs or of policy. Plain text costs one search.
"""

import re
from collections.abc import Mapping
from functools import cache
from html import escape
from typing import Any, Literal, cast, get_args

import msgspec

from assent.lookalikes import FOREIGN, Lookalikes
from assent.screen_chars import COMBINING, HIDDEN, SPELLING, TYPOGRAPHY, describe, mark
from assent.screen_colours import Colours

Context = Literal["prompt", "output", "label", "html"]

LABEL_LENGTH = 120
_REPEATS = 8  # the same hidden character more often than this is counted instead of repeated
_MIXTURE = 64  # a longer run of different hidden characters in a prompt or label is cut with a count
_SHOWN_OF_MIXTURE = 8
_STACKED = 8  # more combining marks on one letter paint over its neighbours
_MOST_NOTES = 16


class SafeText(msgspec.Struct, frozen=True):
    """Text that may be shown, and why a person should look twice at it."""

    text: str
    suspicious: tuple[str, ...] = ()


def make_safe(text: str, context: Context) -> SafeText:
    """The whole text at once; plain text comes back as it is."""
    if _is_plain(text, context):
        return SafeText(text)
    stream = SafeStream(context)
    shown = stream.feed(text) + stream.close()
    return SafeText(shown, stream.suspicious)


def check_text(request: Mapping[str, Any]) -> dict[str, Any]:
    """`{"text", "context"}` to `{"text", "suspicious"}`, for JSON lines."""
    context = request.get("context", "prompt")
    if context not in get_args(Context):
        raise ValueError(f"context must be one of {', '.join(get_args(Context))}, not {context!r}")
    safe = make_safe(str(request["text"]), cast(Context, context))
    return {"text": safe.text, "suspicious": list(safe.suspicious)}


class SafeStream:
    """The same for text that arrives in chunks; where the chunks end changes nothing.

    What cannot be judged yet (half an escape sequence, blanks that may become padding) is held back until the
    next chunk or `close`. `suspicious` is complete after `close`.
    """

    def __init__(self, context: Context) -> None:
        self.suspicious: tuple[str, ...] = ()
        self._rules = _rules(context)
        self._before = ""  # the last characters judged: whether a joiner is ordinary depends on them
        self._held: list[str] = []
        self._held_goes_on: re.Pattern[str] | None = None
        self._notes: dict[str, None] = {}
        self._folded: dict[str, int] = {}
        self._words = Lookalikes()
        self._colours = Colours()
        self._length = 0

    def feed(self, chunk: str) -> str:
        """The part of the text that can be shown now."""
        self._words.feed(chunk)
        if self._held_goes_on is not None and self._held_goes_on.fullmatch(chunk):
            self._held.append(chunk)  # not scanned again: a run of any length costs linear time
            return ""
        buffer = self._before + "".join(self._held) + chunk
        return self._judge(buffer, self._rules.complete_until(buffer, len(self._before)))

    def close(self) -> str:
        """The rest, and what switches off colours that the text left on."""
        buffer = self._before + "".join(self._held)
        rest = self._judge(buffer, len(buffer))
        folded = [f"{count} {what} folded" for what, count in self._folded.items()]
        self.suspicious = (*self._notes, *folded, *self._words.close())
        cut = self._length - LABEL_LENGTH
        if self._rules.context == "label" and cut > 0:
            return f"{rest}… (+{cut} characters)"
        return rest + self._colours.reset()

    def _judge(self, buffer: str, end: int) -> str:
        shown = self._fit(self._render(buffer, len(self._before), end))
        self._held = [buffer[end:]] if end < len(buffer) else []
        self._held_goes_on = self._rules.run_of(buffer[end]) if self._held else None
        self._before = buffer[max(0, end - 2) : end]
        return shown

    def _render(self, buffer: str, start: int, end: int) -> str:
        rules, pieces = self._rules, list[str]()
        for match in rules.scan.finditer(buffer, start, end):
            pieces.append(rules.plain(buffer[start : match.start()]))
            pieces.append(rules.plain(self._replace(match.group(), match.lastgroup)))
            start = match.end()
        pieces.append(rules.plain(buffer[start:end]))
        return "".join(pieces)

    def _replace(self, found: str, kind: str | None) -> str:
        match kind:
            case "colour" if self._colours.accept(found[2:-1]):
                return found
            case "colour":
                self._note(found[0])
                return mark(found[0]) + found[1:]
            case "spelling" if self._rules.reading:
                return found
            case "spelling":
                return mark(found)
            case "typography":
                return found
            case _:
                return self._mark_run(found, kind)

    def _mark_run(self, found: str, kind: str | None) -> str:
        match kind:
            case "blanks":
                return f" <{self._fold('blanks', len(found))}> "
            case "lines":
                return f"\n<{self._fold('newlines', found.count(chr(10)))}>\n"
            case "stack":
                return found[:_STACKED] + f"<{self._fold('combining marks', len(found) - _STACKED)}>"
            case "mixture":
                shown = "".join(self._hidden(char) for char in found[:_SHOWN_OF_MIXTURE])
                return shown + f"<{self._fold('hidden characters', len(found) - _SHOWN_OF_MIXTURE)}>"
            case "repeat":
                return f"{self._hidden(found[0])}×{len(found)}"
            case _:
                return self._hidden(found)

    def _hidden(self, char: str) -> str:
        self._note(char)
        return mark(char)

    def _note(self, char: str) -> None:
        if char in "\n\t":
            return  # a label shows them because it has one line, not because they deceive
        full = len(self._notes) >= _MOST_NOTES
        self._notes.setdefault("and other hidden characters" if full else describe(char))

    def _fold(self, what: str, count: int) -> str:
        self._folded[what] = self._folded.get(what, 0) + count
        return f"{count} {what} folded"

    def _fit(self, shown: str) -> str:
        if self._rules.context != "label":
            return shown
        room = max(0, LABEL_LENGTH - self._length)
        self._length += len(shown)
        return shown[:room]


class _Rules:
    """The compiled patterns of one context."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.reading = context in ("output", "html")
        self._padding, blanks, lines = _PADDING[context]
        hidden = HIDDEN + (r"\n\t" if context == "label" else "")
        self.scan = re.compile("|".join(_alternatives(context, hidden, blanks, lines)))
        self.trouble = re.compile("|".join(_troubles(context, hidden, blanks, lines)))
        self._hidden = re.compile(f"[{hidden}{COMBINING}]")
        self._hidden_run = re.compile(f"[{hidden}{COMBINING}]+")
        self._padding_run = re.compile(f"[{self._padding}]+")
        self._half_colour = re.compile(r"\x1b\[[0-9;]{0,40}" if context == "output" else r"(?!)")

    def plain(self, text: str) -> str:
        return escape(text) if self.context == "html" else text

    def complete_until(self, buffer: str, start: int) -> int:
        """Where the part begins that the next chunk might still change."""
        end = len(buffer.rstrip(self._padding))
        if end < len(buffer):
            return max(start, end)
        escape_at = buffer.rfind("\x1b", max(start, end - 42))
        if escape_at >= 0 and self._half_colour.fullmatch(buffer, escape_at):
            end = escape_at
        while end > start and self._hidden.match(buffer, end - 1):
            end -= 1
        return end

    def run_of(self, char: str) -> re.Pattern[str]:
        """What a chunk must consist of to be nothing but more of a run that is held back."""
        return self._padding_run if char in self._padding else self._hidden_run


# Which characters may be padding, and how much of it is folded. A question is strict, since blanks push its end
# out of sight; where text is only read, tables need their blanks. CR LF ends a line only where CR is not marked.
_PADDING: dict[Context, tuple[str, str, str]] = {
    "prompt": (" \t\n", r"[ \t]{33,}+", r"\n(?:[ \t]*+\n){4,}+"),
    "label": (" ", " {9,}+", "(?!)"),
    "html": (" \t\r\n", r"[ \t]{81,}+", r"\r?\n(?:[ \t]*+\r?\n){9,}+"),
    "output": (" \t\r\n", r"[ \t]{201,}+", r"\r?\n(?:[ \t]*+\r?\n){39,}+"),
}


def _alternatives(context: Context, hidden: str, blanks: str, lines: str) -> list[str]:
    """What is looked for, the innocent readings first."""
    padding = [f"(?P<blanks>{blanks})", f"(?P<lines>{lines})"]
    spelling = f"(?P<spelling>{SPELLING})"
    marks = [
        rf"(?P<stack>[{COMBINING}]{{{_STACKED + 1},}}+)",
        rf"(?P<repeat>(?P<first>[{hidden}])(?P=first){{{_REPEATS},}}+)",
        rf"(?P<mixture>[{hidden}]{{{_MIXTURE + 1},}}+)",
        rf"(?P<hidden>[{hidden}]|\A[{COMBINING}])",
    ]
    if context in ("prompt", "label"):
        return [*padding, spelling, *marks]
    del marks[2]  # it would swallow colours and line ends
    colour = [r"(?P<colour>\x1b\[[0-9;]{0,40}m)"] if context == "output" else []
    return [*padding, spelling, f"(?P<typography>{TYPOGRAPHY})", *colour, *marks]


def _troubles(context: Context, hidden: str, blanks: str, lines: str) -> list[str]:
    """What plain text does not have."""
    markup = ["[&<>\"']"] if context == "html" else []
    return [f"[{hidden}]", rf"[{COMBINING}]{{{_STACKED + 1}}}", rf"\A[{COMBINING}]", blanks, lines, *markup]


@cache
def _rules(context: Context) -> _Rules:
    return _Rules(context)


def _is_plain(text: str, context: Context) -> bool:
    if context == "label" and len(text) > LABEL_LENGTH:
        return False
    return not _rules(context).trouble.search(text) and (text.isascii() or not FOREIGN.search(text))
