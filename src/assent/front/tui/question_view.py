"""A question as lines: exactly and completely what would happen, in a form that the proposal cannot imitate."""

from collections.abc import Iterator
from typing import Any, cast

import msgspec
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from assent.app.question_text import (
    hidden_characters,
    is_yes_or_no,
    no_always_in_words,
    option_words,
    sandbox_in_words,
    unapproved_files,
)
from assent.app.wording import safe, short_quotes
from assent.approval import Approval, AskDetails, EditDetails, ExecDetails, InfoDetails, McpDetails, Question
from assent.front.tui.ask_draft import AskDraft
from assent.front.tui.ask_keys import chosen_at_once, ticked_later
from assent.front.tui.diff_view import DrawnHunk, View, draw_hunks
from assent.front.tui.text_style import TextStyler, barred, indented
from assent.front.tui.trial_view import TrialLines
from assent.hunks import Hunk, accept_parts, can_split, hunks, split
from assent.parts import JsonObject

FACT_WIDTH = 8
CLICKED = "answer"
"""The meta data of what can be clicked: the key that it stands for."""


class QuestionView:
    """Draws one approval. It knows where its hunks are and which are chosen."""

    def __init__(self, approval: Approval, said: str = "") -> None:
        """`said`: what the model says the call is for."""
        self.approval = approval
        self._said = said
        self.view: View = "unified"
        details = approval.details
        self.hunks = hunks(details.diff) if isinstance(details, EditDetails) else ()
        """The parts of an edit; a person may split them further."""
        self._is_split = False
        trial = details.trial if isinstance(details, ExecDetails) else None
        self._trial = None if trial is None else TrialLines(trial)
        self.numbers = tuple(hunk.number for hunk in self.hunks) if self._trial is None else self._trial.numbers
        """The parts that can be chosen."""
        self.chosen = set(self.numbers)
        self.current = 0
        self.draft = AskDraft(details.questions) if isinstance(details, AskDetails) else None
        self.choice: int | None = None
        """If the options of a question are a list to select from: the selected one. The list is then at the end, right
        above the other answers.
        """
        self.tops: list[int] = []
        """The line at which each hunk, or each option to select from, starts."""

    # --- hunks ---

    @property
    def partial(self) -> tuple[int, ...] | None:
        """The chosen hunks, if not all; None for the whole change."""
        return None if len(self.chosen) == len(self.numbers) else tuple(sorted(self.chosen))

    def choice_of_parts(self) -> dict[str, Any]:
        """How an answer names what was chosen: by numbers, or as text if these are not the hunks that everyone sees."""
        details = self.approval.details
        if self.partial is None:
            return {}
        if not self._is_split or not isinstance(details, EditDetails):
            return {"hunks": self.partial}
        return {"content": accept_parts(details.old or "", details.new, self.hunks, self.partial)}

    @property
    def can_split(self) -> bool:
        """Whether the current part is in several pieces, and some of them can be accepted as edited content."""
        editable = "modify_with_editor" in self.approval.options
        return editable and bool(self.hunks) and can_split(self.hunks[self.current])

    def split(self) -> None:
        """The pieces are chosen if the part was."""
        before, here = len(self.hunks), self.current
        self.hunks = split(self.hunks, here)
        more = len(self.hunks) - before
        pieces = range(here, here + more + 1) if here in self.chosen else ()
        self.chosen = {number + more if number > here else number for number in self.chosen - {here}} | set(pieces)
        self.numbers = tuple(hunk.number for hunk in self.hunks)
        self._is_split = True

    def toggle(self) -> None:
        if self.numbers:
            self.chosen ^= {self.numbers[self.current]}

    def go(self, step: int) -> int | None:
        """The line of the next or the previous part."""
        if not self.numbers:
            return None
        self.current = min(max(self.current + step, 0), len(self.numbers) - 1)
        return self.tops[self.current] if self.current < len(self.tops) else None

    def reacts_to(self, key: str, *, scrolls: bool) -> bool:
        """Whether a key that could also be typed changes how this is shown, or which parts are chosen."""
        match key:
            case "v":
                return bool(self.hunks)
            case "s":
                return self.can_split
            case "o":
                return isinstance(self.approval.details, ExecDetails) and bool(self.approval.details.executes)
            case "left_square_bracket" | "right_square_bracket":
                return len(self.numbers) > 1
            case "space":
                return len(self.numbers) > 1 or scrolls
            case _:
                return False

    # --- drawing ---

    def lines(self, styler: TextStyler, width: int) -> list[Strip]:
        body = list(self._body(styler, width))
        if self._trial is not None:
            body += self._trial.draw(styler, width, self.view, self.chosen, self.current, len(body))
            self.tops = self._trial.tops
        if files := unapproved_files(self.approval):
            body += styler.text(f"! {files}", styler.palette.warn, width)
        for warning in hidden_characters(self.approval.details):
            body += styler.text(f"⚠ {warning}", styler.palette.bad, width)
        if self.approval.untried:
            body += styler.text(f"It cannot be tried first: {self.approval.untried}", styler.palette.dim, width)
        if self.approval.no_always:
            body += styler.text(no_always_in_words(self.approval), styler.palette.dim, width)
        why = _sentence(short_quotes(self.approval.why))
        body += styler.text(f"Asked because {why}", styler.palette.dim, width)
        return [*body, *self._list(styler, width, len(body))]

    def _list(self, styler: TextStyler, width: int, top: int) -> list[Strip]:
        """The options, one below the other, with a mark at the selected one."""
        if self.draft is None or self.choice is None:
            return []
        rows: list[Strip] = []
        self.tops = []
        for place, words in enumerate(option_words(self.draft.question)):
            self.tops.append(top + len(rows))
            style = Style(bold=place == self.choice, meta={CLICKED: f"{place + 1}"})
            mark, key = "›" if place == self.choice else " ", self._own_key(place)
            rows += _foreign(styler, f"{mark} {place + 1}. {words}{key}", style, width)
        self.tops.append(top + len(rows))
        return rows

    def _own_key(self, place: int) -> str:
        return f" ({'yn'[place]})" if is_yes_or_no(self.approval.details) else ""

    def _body(self, styler: TextStyler, width: int) -> Iterator[Strip]:
        match self.approval.details:
            case EditDetails() as details:
                yield from self._edit(styler, details, width)
            case ExecDetails() as details:
                yield from _exec(styler, details, width)
                if self._said:
                    yield from _foreign(styler, f"the model says: {self._said}", styler.palette.dim, width)
            case InfoDetails() as details:
                yield from _info(styler, details, width)
            case McpDetails() as details:
                whose = ("runs", details.command) if details.command else ("server", details.server)
                yield from _fact(styler, *whose, "", width)
                yield from _fact(styler, "tool", details.tool, "", width)
                yield from _tree(details.args, styler, width)
                yield from styler.text(details.unseen, styler.palette.warn, width) if details.unseen else ()
                yield from styler.text("Its own description:", styler.palette.dim, width) if details.description else ()
                yield from _foreign(styler, details.description, styler.palette.dim, width)
            case AskDetails(questions=questions):
                for question in questions:
                    yield from _asked(styler, question.question, width)
                    if self.choice is None:
                        numbers = len(chosen_at_once(questions) or ticked_later(questions))
                        yield from _options(styler, question, numbers, width)

    def _edit(self, styler: TextStyler, details: EditDetails, width: int) -> Iterator[Strip]:
        if details.protected:
            yield from styler.text(f"⚠ protected: {details.protected}", styler.palette.bad, width)
        before = 1 if details.protected else 0
        drawn: list[DrawnHunk] = draw_hunks(
            styler, self.hunks, details.path, width, self.view, lambda hunk: self._header(styler, hunk)
        )
        self.tops = [part.top + before for part in drawn]
        for part in drawn:
            yield from part.strips
        if not self.hunks:
            yield from styler.text("(no line changes)", styler.palette.dim, width)

    def _header(self, styler: TextStyler, hunk: Hunk) -> Text:
        if len(self.hunks) == 1:
            return Text(hunk.header, style=styler.palette.dim)
        box = "[x]" if hunk.number in self.chosen else "[ ]"
        here = "▶" if hunk.number == self.current else " "
        words = f"{here}{box} part {hunk.number + 1} of {len(self.hunks)}  +{hunk.added} -{hunk.removed}"
        return Text(words, style=f"bold {styler.palette.accent}" if hunk.number == self.current else styler.palette.dim)


def _options(styler: TextStyler, question: Question, numbered: int, width: int) -> Iterator[Strip]:
    """A click on an option is its number, or opens the answers where a number is not enough."""
    for number, words in enumerate(option_words(question), start=1):
        sign, key = (f"{number}", f"{number}") if number <= numbered else ("·", "y")
        yield from _foreign(styler, f"{sign}  {words}", Style(meta={CLICKED: key}), width, "│   ")


def _exec(styler: TextStyler, details: ExecDetails, width: int) -> Iterator[Strip]:
    palette = styler.palette
    command = styler.lines(Text(safe(details.command), style="bold", overflow="fold"), width - 2)
    yield from barred(command, palette.accent, "▌ ")
    colour = {"low": palette.dim, "medium": palette.warn, "high": palette.bad}[details.risk]
    sign = {"low": "·", "medium": "!", "high": "⚠"}[details.risk]
    yield from styler.text(f"{sign} {details.risk} risk: {short_quotes(details.risk_reason)}", colour, width)
    yield from _fact(styler, "in", details.directory, palette.dim, width)
    if words := sandbox_in_words(details):
        yield from styler.text(words, palette.dim, width)
    if details.roots:
        yield from _fact(styler, "runs", ", ".join(dict.fromkeys(details.roots)), palette.dim, width)


def _info(styler: TextStyler, details: InfoDetails, width: int) -> Iterator[Strip]:
    from urllib.parse import unquote

    yield from _foreign(styler, details.prompt, "", width)
    for url in details.urls:
        yield from styler.text(url, f"bold {styler.palette.accent}", width)
        if (decoded := unquote(url)) != url:
            yield from styler.text("decoded:", styler.palette.dim, width)
            yield from _foreign(styler, decoded, styler.palette.dim, width)


def _fact(styler: TextStyler, name: str, value: str, style: str, width: int) -> list[Strip]:
    """A name and its value, which wraps below itself."""
    return indented(styler.text(value, style, width - FACT_WIDTH), FACT_WIDTH, name, style)


def _foreign(styler: TextStyler, text: str, style: str | Style, width: int, bar: str = "│ ") -> list[Strip]:
    """Foreign text behind a bar, however it wraps: none of its lines can look like ours."""
    lines = styler.text(text, style, width - len(bar)) if text else []
    return barred(lines, styler.palette.dim, bar)


def _asked(styler: TextStyler, text: str, width: int, bar: str = "│ ") -> list[Strip]:
    """A plan has many lines; a question of one line stands out from its options."""
    room = width - len(bar)
    if "\n" in text:
        return barred(styler.prose(text, room), styler.palette.dim, bar)
    line = styler.inline(text)
    line.style = "bold"
    return barred(styler.lines(line, room) if text else [], styler.palette.dim, bar)


def _tree(args: JsonObject, styler: TextStyler, width: int) -> Iterator[Strip]:
    """Arguments, one per line, nested ones below their name; a value of several lines goes below its name."""
    if not args:
        yield from styler.text("(no arguments)", styler.palette.dim, width)
    for depth, name, value in _leaves(args, 0):
        indent = "  " * min(depth, width // 8)
        head = Text.assemble(indent, (safe(name, "label"), styler.palette.accent), f": {safe(value)}" if value else "")
        if "\n" in head.plain or head.cell_len > width:
            yield from styler.lines(Text(indent + safe(name, "label"), styler.palette.accent, overflow="fold"), width)
            yield from _foreign(styler, value, "", width, f"{indent}│ ")
        else:
            yield from styler.lines(head, width)


def _leaves(value: Any, depth: int) -> Iterator[tuple[int, str, str]]:
    named = cast(JsonObject, value) if isinstance(value, dict) else {str(place): one for place, one in enumerate(value)}
    for name, inner in named.items():
        if isinstance(inner, dict | list) and inner:
            yield depth, name, ""
            yield from _leaves(inner, depth + 1)
        else:
            yield depth, name, inner if isinstance(inner, str) else msgspec.json.encode(inner).decode()


def _sentence(why: str) -> str:
    text = safe(why).strip()
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
