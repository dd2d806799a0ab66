"""The files that a command would execute, on the whole screen: with exactly the content that an answer covers.

They stand behind a bar, so that nothing in them looks like ours, and what could be overlooked is said above each.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.strip import Strip

from assent.app.call_states import AwaitingApproval
from assent.app.folder_view import ExecutedText
from assent.approval import Approval, ExecDetails
from assent.front.tui.documents import HIGHLIGHT_LIMIT
from assent.front.tui.host import NotHere
from assent.front.tui.text_style import TextStyler, barred
from assent.front.tui.viewer import Document, ViewerScreen
from assent.plan import ExecutedFile
from assent.screen import make_safe

if TYPE_CHECKING:
    from assent.front.tui.terminal_app import AssentApp

TITLE = "What the command would run"


async def show_executed(app: "AssentApp", call: AwaitingApproval) -> None:
    try:
        found = await app.host.executed_texts(_files(call.approval))
    except NotHere as error:
        app.panel.say(str(error))
        return
    text = "\n".join(f"# {file.path}\n{file.text}" for file in found)
    app.push_screen(ViewerScreen(Document(TITLE, lambda styler, width: draw(found, styler, width), text), app.styler))


def _files(approval: Approval) -> list[ExecutedFile]:
    """Those that nobody has approved yet come first."""
    details = approval.details
    new = {one.path for one in approval.unapproved}
    files = details.executes if isinstance(details, ExecDetails) else ()
    return sorted(files, key=lambda file: not any(file.path == one or file.path.endswith(f"/{one}") for one in new))


def draw(files: Sequence[ExecutedText], styler: TextStyler, width: int) -> list[Strip]:
    return [strip for file in files for strip in _file(file, styler, width)]


def _file(file: ExecutedText, styler: TextStyler, width: int) -> Iterator[Strip]:
    palette = styler.palette
    yield from styler.text(file.path, f"bold {palette.accent}", width)
    shown = make_safe(file.text, "prompt")
    for warning in (*([file.problem] if file.problem else []), *shown.suspicious):
        yield from styler.text(f"⚠ {warning}", palette.bad, width)
    yield from barred(_content(file.path, shown.text.removesuffix("\n"), styler, max(width - 2, 8)), palette.dim)
    yield Strip.blank(width)


def _content(path: str, text: str, styler: TextStyler, width: int) -> list[Strip]:
    from rich.syntax import Syntax

    lexer = Syntax.guess_lexer(path, text) if len(text) <= HIGHLIGHT_LIMIT else "default"
    if lexer == "default":
        return styler.text(text, "", width) if text else []
    return styler.lines(Syntax(text, lexer, theme=styler.code_theme, line_numbers=True, word_wrap=True), width)
