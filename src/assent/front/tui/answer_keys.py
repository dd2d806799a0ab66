"""Which keys answer a question, what they mean there, and how they are listed. Pure functions.

By default, Enter means no, and the keys are side by side. With `enter = "select"`, the answers are a numbered list:
the arrows move in it, Enter or a number takes one.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text

from assent.app.call_states import AwaitingApproval
from assent.app.question_text import offered_keys, tried
from assent.app.trial_text import yes_to
from assent.approval import AskDetails, EditDetails, ExecDetails
from assent.front.tui.ask_draft import AskDraft
from assent.front.tui.ask_keys import DIGITS, ask_keys
from assent.front.tui.diff_view import SPLIT_WIDTH
from assent.front.tui.question_view import CLICKED, QuestionView
from assent.front.tui.themes import Palette

EnterKey = Literal["no", "select"]
ANSWER_WORDS = {
    "y": "yes, once; for what was tried: apply it",
    "a": "always: for this session, for this folder, or everywhere",
    "n, Enter": "no",
    "r": "no, because…: the model reads your reason and goes on",
    "e": "edit the change in your editor, then decide",
    "i": "change the arguments, then decide",
    "t": "try a command first, in a copy of the workspace; a server's tool: always",
    "d": "run a command directly, without what was tried; if the model asks: decline to answer",
    "s": "always, for every tool of this server; in a change: split a part whose changes are apart",
    "o": "read the files that a command runs, as a yes covers them",
    "A": "yes to all questions that were shown to their end",
    "1–9": "choose an answer by its number; tick it, if you may choose several",
    "y, n": "where the model asks yes or no: Yes and No; a or Enter: own words",
    "y, Enter": "where the model asks something else: answer; a text is typed at once, and ↓ leads to these keys",
}
"""For `/help`: what each key means at a question that offers it."""
ANSWERS = frozenset(f"yasteindrA{DIGITS}")
YES = ANSWERS - frozenset("einr")
"""Keys that approve; they need the whole question to have been shown."""
MOVES = frozenset("fsv")
"""Letters that only change what is shown."""
READS = frozenset("o")
"""The same, at a command that runs files; elsewhere, they are typed."""


class Offer(Struct, frozen=True):
    key: str
    meaning: str
    harmless: bool = True
    """It allows nothing, so the question need not have been read."""
    moves: bool = False
    """It only changes what is shown, although its key is an answer elsewhere."""

    @property
    def answers(self) -> bool:
        """Whether it is an answer; other keys only move or change the view."""
        return self.key in ANSWERS and not self.moves


def offers(call: AwaitingApproval, view: QuestionView | None, width: int, enter: EnterKey, for_all: int) -> list[Offer]:
    """The keys of this question. `for_all`: how many questions a yes to all would answer."""
    if call.tried_by is not None:
        return [Offer("n", "no, stop it (Enter)" if enter == "no" else "no, stop it"), Offer("r", "no, because…")]
    if view is not None and view.draft is not None:
        listed = ask_keys(view.draft, selects=enter == "select")
        return [Offer(key, meaning, not needs_reading(key, call)) for key, meaning in listed]
    part = view is not None and view.partial is not None
    trial = tried(call.approval.details)
    words = _words(call, part=part)
    offered = offered_keys(call.approval)
    listed = [Offer(key, words[key], not needs_reading(key, call)) for key in offered if key in words]
    listed = [offer for offer in listed if not (part and offer.key in "astd")]
    listed += [] if trial is not None else [Offer("i", "change arguments")]
    refuse = "no" if trial is None else "discard"
    listed += [Offer("n", f"{refuse} (Enter)" if enter == "no" else refuse), Offer("r", "no, because…")]
    if for_all > 1:
        listed.append(Offer("A", f"yes to all {for_all}", harmless=False))
    return [*listed, *_moves(call, view, width)]


def line_offers(draft: AskDraft) -> list[Offer]:
    """The keys in the line of a question that is answered in own words."""
    return [Offer("Enter", f"answer {draft.number}".strip()), Offer("↓", "decline"), Offer("Esc", "back")]


def _words(call: AwaitingApproval, *, part: bool) -> dict[str, str]:
    words = {"y": "yes, these parts" if part else "yes, once", "a": "always…", "e": "edit first"}
    if "proceed_always" not in call.approval.options:  # `a` leads to these as well
        words |= {"s": "always for this server", "t": "always for this tool"}
    return words | _words_for_trials(call, part=part)


def _words_for_trials(call: AwaitingApproval, *, part: bool) -> dict[str, str]:
    """What the keys mean for a command, before and after it was tried."""
    if not {"try_first", "run_directly"} & set(call.approval.options):
        return {}
    trial = tried(call.approval.details)
    if trial is None:
        return {"t": "try it first"}
    return {"y": "apply these parts" if part else yes_to(trial), "t": "try it again", "d": "run it directly"}


def executes(call: AwaitingApproval) -> bool:
    """Whether it runs files that can be read."""
    details = call.approval.details
    return isinstance(details, ExecDetails) and bool(details.executes)


def needs_reading(key: str, call: AwaitingApproval) -> bool:
    """A trial changes nothing, and several questions of the model are answered one by one, each shown again."""
    match call.approval.details:
        case AskDetails(questions=questions):
            return key not in "dr" and len(questions) == 1
        case _:
            return key in YES and offered_keys(call.approval).get(key) != "try_first"


def _moves(call: AwaitingApproval, view: QuestionView | None, width: int) -> list[Offer]:
    moves: list[Offer] = []
    if view is not None and len(view.numbers) > 1 and "proceed_once" in call.approval.options:
        moves += [Offer("[ ]", "part"), Offer("space", "include or exclude it")]
    if view is not None and view.can_split:
        moves.append(Offer("s", "split it", moves=True))
    if executes(call):
        moves.append(Offer("o", "read what it runs"))
    diffs = isinstance(call.approval.details, EditDetails) or tried(call.approval.details) is not None
    if diffs and width > SPLIT_WIDTH:
        moves.append(Offer("v", "side by side" if view and view.view == "unified" else "one column"))
    return moves


# --- how they are shown ---


def legend(listed: Sequence[Offer], palette: Palette, width: int, *, seen: bool) -> Text:
    """Side by side where there is room; a key and its meaning stay together."""
    return wrapped([_labelled(offer, palette, seen=seen) for offer in listed], width)


def menu(
    listed: Sequence[Offer],
    chosen: int,
    palette: Palette,
    width: int,
    *,
    seen: bool,
    first: int = 0,
    numbered: bool = True,
) -> Text:
    """One answer on each line, the chosen one marked; other keys below. Those before `first` are listed above."""
    lines, margin = list[Text](), "  " if first else ""
    for place, offer in list(enumerate(answers(listed)))[first:]:
        style = palette.dim if _is_blocked(offer, seen=seen) else "bold" if place == chosen else ""
        mark = "›" if place == chosen else " "
        number = f"{place + 1}. " if numbered else ""
        lines.append(_clickable(Text(f"{margin}{mark} {number}{offer.meaning} ({offer.key})", style=style), offer))
    moves = [_labelled(offer, palette, seen=seen) for offer in listed if not offer.answers]
    return Text("\n").join([*lines, *([wrapped(moves, width)] if moves else [])])


def answers(listed: Sequence[Offer]) -> list[Offer]:
    return [offer for offer in listed if offer.answers]


def _labelled(offer: Offer, palette: Palette, *, seen: bool) -> Text:
    blocked = _is_blocked(offer, seen=seen)
    style = f"{palette.dim if blocked else palette.accent} reverse"
    label = Text.assemble((f" {offer.key} ", style), (f" {offer.meaning}", palette.dim if blocked else ""))
    return _clickable(label, offer) if offer.answers else label


def _clickable(label: Text, offer: Offer) -> Text:
    label.apply_meta({CLICKED: offer.key})  # not `@click`, which would draw it as a link
    return label


def _is_blocked(offer: Offer, *, seen: bool) -> bool:
    return not offer.harmless and not seen


def as_high(width: int, shown: Text, *others: Text) -> Text:
    """With as many lines as the highest of these, so that nothing moves when one takes the place of another."""
    lines = max(height(text, width) for text in (shown, *others))
    return shown.append("\n" * (lines - height(shown, width)))


def height(text: Text, width: int) -> int:
    """Lines on the screen; a long one takes several."""
    return sum(max(-(-cell_len(line) // width), 1) for line in text.plain.split("\n"))


def wrapped(offered: Sequence[Text], width: int) -> Text:
    lines = [Text()]
    for offer in offered:
        if lines[-1].cell_len and lines[-1].cell_len + 2 + offer.cell_len > width:
            lines.append(Text())
        lines[-1].append("  " if lines[-1].cell_len else "").append_text(offer)
    return Text("\n").join(lines)
