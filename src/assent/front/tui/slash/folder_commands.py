"""`/trust`: shows what the folder brings along, and trusts exactly what was shown."""

from typing import TYPE_CHECKING

from textual.content import Content

from assent.app.wording import safe
from assent.commands import ReloadContext
from assent.front.tui.slash.slash_command import SlashCommand
from assent.front.tui.slash.slash_helpers import carry_out, named
from assent.front.tui.small_screens import ReviewScreen

if TYPE_CHECKING:
    from assent.app.folder_trust import Untrusted
    from assent.front.tui.slash.slash_context import SlashContext

LATER = "Its rules, commands and MCP servers take effect in the next session you open here."


async def trust(context: "SlashContext", argument: str) -> None:
    shown = context.host.untrusted()
    if shown is None:
        context.say("There is nothing to trust: this folder has no configuration of its own, or you already trust it.")
        return
    if shown.problem:
        context.say(f"Not trusted, because this folder's settings are invalid: {safe(shown.problem)}")
        return
    if await context.push(
        ReviewScreen("Trust this folder's files?", _contents(shown), {"y": "trust them as they are"})
    ):
        context.host.trust(shown)
        if await carry_out(context, ReloadContext(by=context.client.me)):
            configures = any(name.startswith(".assent/") for name in shown.contents)
            context.say("Trusted as it is now." + (f" {LATER}" if configures else ""))


def _contents(shown: "Untrusted") -> Content:
    sections = [Content("The model would follow these instructions, and these settings would apply:"), Content("")]
    for name, text in shown.contents.items():
        sections += [Content.styled(named(name), "bold"), Content(safe(text).rstrip("\n")), Content("")]
    return Content("\n").join(sections)


COMMANDS = (
    SlashCommand(
        name="trust",
        help="Look at this folder's AGENTS.md and settings, and trust them",
        run=trust,
        group="Approvals",
    ),
)
