"""A prompt of an MCP server, written as `/server:prompt name=value …`, or with the values in order.

Its text comes from the server and is sent as if typed: the person chose it, and sees it in the conversation.
"""

import shlex
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from assent.app.wording import prompt_command, safe

if TYPE_CHECKING:
    from assent.mcp.offers import Argument, Prompt, PromptServers


class NoText(Exception):
    """There is nothing to send; the message is for the person."""


FetchPrompt = Callable[["Prompt", Mapping[str, str]], Awaitable[str]]


async def render_prompt(prompt: "Prompt", typed: str, fetch: FetchPrompt) -> str:
    """The text to send. Raises NoText, and whatever `fetch` raises."""
    name = prompt_command(prompt.server, prompt.name)
    try:
        given = arguments(prompt, typed)
    except ValueError as error:
        raise NoText(f"{error}. Usage: /{name} {usage(prompt)}".rstrip()) from error
    text = await fetch(prompt, given)
    if not text.strip():
        raise NoText(f"The server {prompt.server} returned no text for /{name}.")
    return text


async def expand_prompt(manager: "PromptServers | None", typed: str) -> str:
    """What to send for a text that may name a server's prompt; other texts stay as they are. Raises NoText."""
    if manager is None or not typed.startswith("/"):
        return typed
    name, *rest = typed[1:].split(maxsplit=1) or [""]
    offered = {prompt_command(prompt.server, prompt.name): prompt for prompt in manager.prompts()}
    if name in offered:
        return await render_prompt(
            offered[name], "".join(rest), lambda prompt, given: fetch_prompt(manager, prompt, given)
        )
    server, found, _ = name.partition(":")
    status = next((status for status in manager.status() if found and status.server == server), None)
    if status is not None and status.state != "ready":
        raise NoText(f"The server {server} is not connected: {status.reason or status.state}")
    if status is not None:
        there = ", ".join(f"/{each}" for each in offered if each.startswith(f"{server}:")) or "none"
        raise NoText(f"The server {server} has no prompt /{safe(name, 'label')}; available: {there}")
    return typed


async def fetch_prompt(manager: "PromptServers | None", prompt: "Prompt", given: Mapping[str, str]) -> str:
    """The text from the server. Raises NoText."""
    from assent.mcp.manager import NoSuchServer
    from assent.parts import Text
    from assent.tools.tool import ToolFailed

    if manager is None:
        raise NoText("There are no MCP servers here.")
    try:
        parts = await manager.prompt(prompt.server, prompt.name, given)
    except NoSuchServer as error:
        raise NoText(str(error)) from error
    except ToolFailed as error:
        raise NoText(error.failure.message) from error
    return "\n\n".join(part.text if isinstance(part, Text) else f"[{part.mime}, left out]" for part in parts)


def arguments(prompt: "Prompt", typed: str) -> dict[str, str]:
    """The values by name. Unnamed values go to the remaining arguments in order, and the last takes the rest.

    Raises ValueError, with a message for the person.
    """
    names = [argument.name for argument in prompt.arguments]
    given: dict[str, str] = {}
    rest: list[str] = []
    for word in shlex.split(typed):
        name, found, value = word.partition("=")
        if found and name in names:
            given[name] = value
        else:
            rest.append(word)
    free = [name for name in names if name not in given]
    if rest and not free:
        raise ValueError(f"There is no argument for {safe(rest[0], 'label')!r}")
    while rest:
        place = free.pop(0)
        given[place] = rest.pop(0) if free else " ".join(rest)
        rest = rest if free else []
    missing = [argument.name for argument in prompt.arguments if argument.needed and not given.get(argument.name)]
    if missing:
        raise ValueError(f"This needs {safe(' and '.join(missing), 'label')}")
    return given


def help_of(prompt: "Prompt") -> str:
    return safe(prompt.description, "label") or f"from the server {prompt.server}"


def usage(prompt: "Prompt") -> str:
    return " ".join(_usage(argument) for argument in prompt.arguments)


def _usage(argument: "Argument") -> str:
    named = f"{safe(argument.name, 'label')}=…"
    return named if argument.needed else f"[{named}]"


def argument_help(argument: "Argument") -> str:
    return ", ".join(filter(None, ("required" if argument.needed else "", safe(argument.description, "label"))))
