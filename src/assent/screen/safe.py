"""Text for the screen: makes any text of a model, a tool, a file or an MCP server safe to show to a person.

One function for every place that shows untrusted text. Nothing is executed and nothing disappears: what a terminal
would obey or an eye would miss is shown as `\\x1b` or `<U+200B>`, padding is folded with a count, and `suspicious` says
in short sentences what was found. The contexts:

- `prompt`: a question. Only newline and tab stay; padding is folded early.
- `output`: a pane that is read. Harmless colours stay, and what ordinary writing needs (emoji, CR LF, ...).
- `terminal`: like `output`, with every colour; for a pane that draws them so that none can hide text.
- `label`: one line, cut with a count.
- `html`: like `output` without colours, escaped for insertion as text into a page.

It knows nothing about terminal widths, dialogs or policy. Plain text costs one search.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast, get_args

import msgspec

from assent.screen.chars import describe, mark
from assent.screen.colours import Colours
from assent.screen.screen_patterns import LABEL_LENGTH, STACKED, Context, ScreenPatterns, rules_of

__all__ = ["LABEL_LENGTH", "Context", "SafeStream", "SafeText", "check_text", "make_safe"]

_SHOWN_OF_MIXTURE = 8
_MAX_NOTES = 16
_MAX_MARKS = 10_000  # more distinct characters than any honest text has


class SafeText(msgspec.Struct, frozen=True):
    """Text that may be shown, and why a person should look twice at it."""

    text: str
    suspicious: tuple[str, ...] = ()


def make_safe(text: str, context: Context) -> SafeText:
    """The whole text at once; plain text is returned unchanged."""
    rules = rules_of(context)
    if rules.is_plain(text) and (context != "label" or len(text) <= LABEL_LENGTH):
        return SafeText(rules.escaped(text), _lookalikes(text))
    stream = SafeStream(context)
    return SafeText(stream.close(text), stream.suspicious)


def _lookalikes(text: str) -> tuple[str, ...]:
    if text.isascii():
        return ()
    from assent.screen.lookalikes import lookalikes  # its patterns take longer to compile than everything else

    return lookalikes(text)


def check_text(request: Mapping[str, Any]) -> dict[str, Any]:
    """`{"text", "context"}` to `{"text", "suspicious"}`, for JSON lines."""
    context = request.get("context", "prompt")
    if context not in get_args(Context):
        raise ValueError(f"context must be one of {', '.join(get_args(Context))}, not {context!r}")
    safe = make_safe(str(request["text"]), cast(Context, context))
    return {"text": safe.text, "suspicious": list(safe.suspicious)}


class SafeStream:
    """The same for text that arrives in chunks; where a chunk ends does not matter.

    Text that cannot be judged yet (half an escape sequence, spaces that may become padding) is held back until the
    next chunk or `close`. `suspicious` is complete after `close`.
    """

    def __init__(self, context: Context) -> None:
        self.suspicious: tuple[str, ...] = ()
        self._rules = rules_of(context)
        self._before = ""  # the last character judged: it decides whether a joiner is ordinary
        self._held: list[str] = []
        self._held_goes_on: re.Pattern[str] | None = None
        self._marks = _Marks(self._rules, self._note)
        self._innocent_marks = _Marks(self._rules)
        self._notes: dict[str, None] = {}
        self._folded: dict[str, int] = {}
        from assent.screen.lookalikes import Lookalikes

        self._words = Lookalikes()
        self._colours = Colours(all_harmless=context == "terminal")
        self._length = 0

    def feed(self, chunk: str) -> str:
        """The part of the text that can be shown now."""
        self._words.feed(chunk)
        if self._held_goes_on is not None and self._held_goes_on.fullmatch(chunk):
            self._held.append(chunk)  # not scanned again: a run of any length takes linear time
            return ""
        buffer = self._before + "".join(self._held) + chunk
        return self._judge(buffer, self._rules.complete_until(buffer, len(self._before)))

    def close(self, last: str = "") -> str:
        """The rest, and what switches off colours that the text left on."""
        self._words.feed(last)
        buffer = self._before + "".join(self._held) + last
        rest = self._judge(buffer, len(buffer))
        folded = [f"{count} {what} folded" for what, count in self._folded.items()]
        self.suspicious = (*self._notes, *folded, *self._words.close())
        cut = self._length - LABEL_LENGTH
        if cut > 0:  # only a label has a maximum length
            return f"{rest}… (+{cut} characters)"
        return rest + self._colours.reset()

    def _judge(self, buffer: str, end: int) -> str:
        shown = self._fit(self._render(buffer, len(self._before), end))
        self._held = [buffer[end:]] if end < len(buffer) else []
        self._held_goes_on = self._rules.run_of(buffer[end]) if self._held else None
        self._before = buffer[max(0, end - 1) : end]
        return shown

    def _render(self, buffer: str, start: int, end: int) -> str:
        rules, pieces = self._rules, list[str]()
        if rules.is_plain(buffer[start:end]):
            return rules.escaped(buffer[start:end])
        for match in rules.scan.finditer(buffer, start, end):
            found_at, found_until = match.span()
            if start < found_at:
                pieces.append(buffer[start:found_at].translate(self._marks))
            pieces.append(
                self._replace(buffer[found_at:found_until], match.lastgroup, buffer[found_until : found_until + 1])
            )
            start = found_until
        pieces.append(buffer[start:end].translate(self._marks))
        return rules.escaped("".join(pieces))

    def _replace(self, found: str, kind: str | None, after: str) -> str:
        match kind:
            case "innocent" if self._rules.reading:
                return found
            case "innocent":
                return found.translate(self._innocent_marks)
            case "line_end":
                return found
            case "colour" if not self._rules.stacks(after) and self._colours.accept(found[2:-1]):
                return found
            case "colour":
                return self._marks[ord(found[0])] + found[1:]
            case _:
                return self._folded_run(found, kind)

    def _folded_run(self, found: str, kind: str | None) -> str:
        match kind:
            case "blanks":
                return self._fold_blanks(found)
            case "lines" if self._rules.folds_lines(newlines := found.count("\n")):
                return f"\n<{self._fold('newlines', newlines)}>\n"
            case "lines":
                return self._rules.blanks.sub(lambda match: self._fold_blanks(match.group()), found)
            case "bare":
                more = len(found) - STACKED
                folded = f"<{self._fold('combining marks', more)}>" if more > 0 else ""
                return "".join(map(self._bare, found[:STACKED])) + folded
            case "stack":
                return found[:STACKED] + f"<{self._fold('combining marks', len(found) - STACKED)}>"
            case _ if found == found[0] * len(found):
                return f"{self._marks[ord(found[0])]}×{len(found)}"
            case _:
                shown = found[:_SHOWN_OF_MIXTURE].translate(self._marks)
                return shown + f"<{self._fold('hidden characters', len(found) - _SHOWN_OF_MIXTURE)}>"

    def _bare(self, char: str) -> str:
        self._note(char)
        return mark(char)

    def _note(self, char: str) -> None:
        if len(self._notes) > _MAX_NOTES or char in "\n\t":
            return  # a label shows its line endings because it has one line, not because they deceive
        note = describe(char)
        if note not in self._notes:
            full = len(self._notes) == _MAX_NOTES
            self._notes["and other hidden characters" if full else note] = None

    def _fold_blanks(self, found: str) -> str:
        return f" <{self._fold('blanks', len(found))}> "

    def _fold(self, what: str, count: int) -> str:
        self._folded[what] = self._folded.get(what, 0) + count
        return f"{count} {what} folded"

    def _fit(self, shown: str) -> str:
        if self._rules.context != "label":
            return shown
        room = max(0, LABEL_LENGTH - self._length)
        self._length += len(shown)
        return shown[:room]


class _Marks(dict[int, str]):
    """For `str.translate`: hidden characters become their marks, all others stay. Each is looked up once, and noted.

    The cache is cleared before it grows too large: a text may contain every character there is.
    """

    def __init__(self, rules: ScreenPatterns, note: Callable[[str], None] = lambda _: None) -> None:
        super().__init__()
        self._rules = rules
        self._note = note

    def __missing__(self, code: int) -> str:
        char = chr(code)
        shown = char
        if self._rules.hidden.match(char):
            self._note(char)
            shown = mark(char)
        if len(self) >= _MAX_MARKS:
            self.clear()
        self[code] = shown
        return shown
