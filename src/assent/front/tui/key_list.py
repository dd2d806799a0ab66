"""All keys and what they do, for `/help`: taken from the bindings of the widgets and from the table of answers."""

from collections.abc import Iterable, Mapping

from textual.binding import Binding, BindingType

from assent.front.tui.answer_keys import ANSWER_WORDS
from assent.front.tui.prompt.prompt_input import PromptInput
from assent.front.tui.prompt.readline_area import ReadlineArea
from assent.front.tui.question_panel import ApprovalPanel
from assent.front.tui.review import ReviewScreen
from assent.front.tui.transcript import Transcript
from assent.front.tui.viewer import ViewerScreen

SPELLED = {
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "escape": "Esc",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "underscore": "_",
}
TYPED = {
    "Enter": "send; with an empty input, send the held messages",
    "Up, Down": "earlier and later messages; with an empty input, Up takes back the last queued one",
    "Tab": "complete, or go to the question",
    "/": "a command of Assent",
    "@PATH": "include a file, a picture or a resource",
    "!COMMAND": "run a command yourself; /include gives its output to the model",
    "//": "send text that begins with a slash",
}
"""What the input makes of keys and text without a binding."""


def key_sections(app: Iterable[BindingType]) -> Mapping[str, Mapping[str, str]]:
    return {
        "Everywhere": _listed(app),
        "In the input": TYPED | _listed([*PromptInput.BINDINGS, *ReadlineArea.BINDINGS]),
        "At a question": {**ANSWER_WORDS, **_listed(ApprovalPanel.BINDINGS)},
        "In the transcript (Ctrl-Up)": _listed(Transcript.BINDINGS),
        "On the whole screen": _listed([*ViewerScreen.BINDINGS, *ReviewScreen.BINDINGS]),
    }


def _listed(bindings: Iterable[BindingType]) -> dict[str, str]:
    return {key_words(each.key): each.description for each in bindings if isinstance(each, Binding)}


def key_words(keys: str) -> str:
    """`alt+b,alt+left` as people write it."""
    return ", ".join("-".join(map(_spelled, key.split("+"))) for key in keys.split(","))


def _spelled(part: str) -> str:
    return SPELLED.get(part) or (part if len(part) == 1 else part.capitalize())
