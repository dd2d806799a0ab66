"""What the UI shows and loads when a session has been opened: what is left out and why, the history of the input, and
what keeps the model from being used.
"""

from typing import TYPE_CHECKING

from assent.app.wording import untrusted_words
from assent.commands import SetModel

if TYPE_CHECKING:
    from assent.app.session_client import SessionClient
    from assent.front.tui.terminal_app import AssentApp

WELCOME = (
    "Ask something about this folder. Before anything is changed, run or fetched, you see exactly what, and decide. "
    "/help lists commands and keys."
)


async def introduce(app: "AssentApp", client: "SessionClient", note: str) -> None:
    """`note` replaces the welcome of a session in which nothing was said."""
    commands, host = app.context.commands, app.host
    commands.set_custom(host.custom_commands())
    commands.set_prompts(host.server_prompts())
    await commands.learn(app.context)
    for problem in host.problems:
        app.note(problem, "warning")
    app.prompt.remember(await host.prompts())
    if note or not client.state.prompts:
        app.note(note or WELCOME, "info")
    if left_out := untrusted_words(client.state.context, client.state.folder):
        app.note(left_out, "warning")


async def check_model(app: "AssentApp", client: "SessionClient") -> None:
    """In the background: without a key, people are told at once, not after their first prompt."""
    check = await app.host.check_model(client.state.model)
    if app.client is not client:
        return
    if check.problem:
        app.note(check.problem, "warning")
    elif check.model:
        await app.send(SetModel(check.model, by=client.me))
