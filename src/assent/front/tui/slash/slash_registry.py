"""All slash commands by name: finds one, suggests similar names, completes, and runs a typed line."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash import (
    approval_commands,
    background_commands,
    change_commands,
    choice_commands,
    folder_commands,
    info_commands,
    program_commands,
    reading_commands,
    session_commands,
)
from assent.front.tui.slash.slash_command import Group, SlashCommand, parse
from assent.front.tui.slash.slash_helpers import HOST_ERRORS, named

if TYPE_CHECKING:
    from assent.app.custom_commands import CustomCommand
    from assent.app.mcp_types import Prompt
    from assent.front.tui.slash.slash_context import SlashContext

MIN_SIMILARITY = 65


class SlashRegistry:
    def __init__(self, custom: "Iterable[CustomCommand]" = ()) -> None:
        self._commands: dict[str, SlashCommand] = {}
        built_in = (
            program_commands.help_command(self),
            *session_commands.COMMANDS,
            *change_commands.COMMANDS,
            *background_commands.COMMANDS,
            *choice_commands.COMMANDS,
            *approval_commands.COMMANDS,
            *folder_commands.COMMANDS,
            *info_commands.COMMANDS,
            *reading_commands.COMMANDS,
            *program_commands.COMMANDS,
        )
        for command in built_in:
            self._commands[command.name] = command
        self._aliases = {alias: command for command in built_in for alias in command.aliases}
        self.set_custom(custom)

    def set_custom(self, custom: "Iterable[CustomCommand]") -> None:
        """Replaces the custom commands; none of them overrides another command."""
        from assent.front.tui.slash.custom_command import custom_slash

        self._replace("Custom", map(custom_slash, custom))

    def set_prompts(self, prompts: "Iterable[Prompt]") -> None:
        """Replaces the prompts of MCP servers; the person's own commands take precedence."""
        from assent.front.tui.slash.server_prompt_command import prompt_slash

        self._replace("Prompts of MCP servers", map(prompt_slash, prompts))

    async def learn(self, context: "SlashContext") -> bool:
        """Asks the host again for the prompts that it fills in itself; returns whether anything has changed."""
        from assent.front.tui.slash.server_prompt_command import named_slash

        before = self.names()
        try:
            self._replace("Prompts on the server", map(named_slash, await context.host.named_prompts()))
        except HOST_ERRORS:  # keep those known so far
            return False
        return self.names() != before

    def _replace(self, group: Group, commands: Iterable[SlashCommand]) -> None:
        self._commands = {name: command for name, command in self._commands.items() if command.group != group}
        for command in commands:
            taken = self.find(command.name)
            if taken is None or (group == "Custom" and taken.group == "Prompts of MCP servers"):
                self._commands[command.name] = command

    def commands(self) -> Sequence[SlashCommand]:
        return tuple(self._commands.values())

    def names(self) -> frozenset[str]:
        """All names in use, including aliases."""
        return frozenset((*self._commands, *self._aliases))

    def find(self, name: str) -> SlashCommand | None:
        for spelled in (name, name.casefold()):
            if found := self._commands.get(spelled) or self._aliases.get(spelled):
                return found
        return None

    def unknown(self, name: str) -> str:
        """The message for an unknown name."""
        from rapidfuzz import fuzz, process

        near = process.extract(name.casefold(), self.names(), scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY, limit=2)
        guess = f"Did you mean {' or '.join(f'/{match[0]}' for match in near)}?" if near else "/help lists them."
        return f"Unknown command /{named(name)}. {guess}"

    def candidates(self) -> Sequence[Candidate]:
        """The names to offer, without the slash."""
        return [Candidate(command.name, command.help) for command in self.commands()]

    async def arguments(self, name: str, typed: str, context: "SlashContext") -> Sequence[Candidate]:
        """The possible arguments of this command."""
        command = self.find(name)
        try:
            return await command.complete(context, typed) if command is not None else ()
        except HOST_ERRORS:
            return ()

    async def run(self, line: str, context: "SlashContext") -> bool:
        """False if the line is not a command but text for the model."""
        typed = parse(line)
        if typed is None:
            return False
        command = self.find(typed.name)
        if command is None and await self.learn(context):
            command = self.find(typed.name)
        if command is None:
            context.complain(self.unknown(typed.name))
            return True
        try:
            await command.run(context, typed.argument)
        except HOST_ERRORS as error:
            context.complain(str(error))
        return True
