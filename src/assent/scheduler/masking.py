"""Masks the secrets in a call's result, so that neither the log nor the model nor anyone else gets them.

Only results are masked, before they are recorded. The request and what was approved stay unchanged, because the digest
covers them.
"""

from msgspec.structs import replace

from assent.events import CallFinished
from assent.parts import Display, Failure, MarkdownDisplay, PlainDisplay, TerminalDisplay
from assent.secrets.mask import Masker

NOTE = (
    "Secrets in this result are masked, each as `[secret: what it was]`. Do not write such a mark into a file: "
    "read_file shows the real content."
)


def masked(event: CallFinished, masker: Masker) -> CallFinished:
    result, failure = event.result, event.failure
    response = masker.data(result.response)
    if response != result.response:
        result = replace(result, response={**response, "masked": NOTE})
    if failure is not None:
        failure = Failure(failure.type, masker.text(failure.message))
    return replace(event, result=result, display=_display(event.display, masker), failure=failure)


def _display(display: Display | None, masker: Masker) -> Display | None:
    match display:
        case PlainDisplay(text=text) | MarkdownDisplay(text=text) | TerminalDisplay(text=text):
            return replace(display, text=masker.text(text))
        case _:
            return display
