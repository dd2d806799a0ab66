"""What a call ends with, with marks in place of its secrets: neither the log nor the model nor anybody else gets them.

Only results are masked, before they are recorded. What was asked for and approved stays as it is: the digest is of it.
"""

from msgspec.structs import replace

from assent.events import CallFinished
from assent.parts import Display, Failure, MarkdownDisplay, PlainDisplay, TerminalDisplay
from assent.secrets.mask import Masker

NOTE = (
    "Secrets in this result are masked, each as `[secret: what it was]`. Do not write such a mark into a file: "
    "read_file shows a file as it is."
)


def masked(event: CallFinished, masker: Masker) -> CallFinished:
    response = masker.data(event.result.response)
    if response != event.result.response:
        response["masked"] = NOTE
    return replace(
        event,
        result=replace(event.result, response=response),
        display=_display(event.display, masker),
        failure=None if event.failure is None else masked_failure(event.failure, masker),
    )


def masked_failure(failure: Failure, masker: Masker) -> Failure:
    return Failure(failure.type, masker.text(failure.message))


def _display(display: Display | None, masker: Masker) -> Display | None:
    match display:
        case PlainDisplay(text=text) | MarkdownDisplay(text=text) | TerminalDisplay(text=text):
            return replace(display, text=masker.text(text))
        case _:
            return display
