"""All slash commands by name: finds one, proposes what was perhaps meant, completes, and runs a typed line."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash import (
    approval_commands,
    change_commands,
    choice_commands,
    info_commands,
    program_commands,
    session_commands,
)
from assent.front.tui.slash.slash_command import Group, SlashCommand, parse
from assent.front.tui.slash.slash_helpers import TROUBLES, named

if TYPE_CHECKING:
    from assent.app.custom_commands import CustomCommand
    from assent.app.mcp_types import Prompt
    from assent.front.tui.slash.slash_context import SlashContext

NEAR_ENOUGH = 60


class SlashRegistry:
    def __init__(self, custom: "Iterable[CustomCommand]" = ()) -> None:
        self._commands: dict[str, SlashCommand] = {}
        built_in = (
            program_commands.help_command(self),
            *session_commands.COMMANDS,
            *change_commands.COMMANDS,
            *choice_commands.COMMANDS,
            *approval_commands.COMMANDS,
            *info_commands.COMMANDS,
            *program_commands.COMMANDS,
        )
        for command in built_in:
            self._commands[command.name] = command
        self._aliases = {alias: command for command in built_in for alias in command.aliases}
        self.set_custom(custom)

    def set_custom(self, custom: "Iterable[CustomCommand]") -> None:
        """Replaces the custom ones; none of them takes a name that is taken."""
        from assent.front.tui.slash.custom_command import custom_slash

        self._replace("Custom", map(custom_slash, custom))

    def set_prompts(self, prompts: "Iterable[Prompt]") -> None:
        """Replaces those that servers offer; what the person has wins."""
        from assent.front.tui.slash.server_prompt_command import prompt_slash

        self._replace("Prompts of servers", map(prompt_slash, prompts))

    async def learn(self, context: "SlashContext") -> bool:
        """Asks the host again for the prompts that it fills itself. Has anything changed?"""
        from assent.front.tui.slash.server_prompt_command import named_slash

        before = self.names()
        try:
            self._replace("Prompts on the server", map(named_slash, await context.host.named_prompts()))
        except TROUBLES:  # what was there may still be
            return False
        return self.names() != before

    def _replace(self, group: Group, commands: Iterable[SlashCommand]) -> None:
        self._commands = {name: command for name, command in self._commands.items() if command.group != group}
        for command in commands:
            taken = self.find(command.name)
            if taken is None or (group == "Custom" and taken.group == "Prompts of servers"):
                self._commands[command.name] = command

    def commands(self) -> Sequence[SlashCommand]:
        return tuple(self._commands.values())

    def names(self) -> frozenset[str]:
        """All that is taken, aliases too."""
        return frozenset((*self._commands, *self._aliases))

    def find(self, name: str) -> SlashCommand | None:
        for spelled in (name, name.casefold()):
            if found := self._commands.get(spelled) or self._aliases.get(spelled):
                return found
        return None

    def unknown(self, name: str) -> str:
        """What to say about a name that nobody has."""
        from rapidfuzz import fuzz, process

        near = process.extract(name.casefold(), self.names(), scorer=fuzz.ratio, score_cutoff=NEAR_ENOUGH, limit=2)
        guess = f"Did you mean {' or '.join(f'/{match[0]}' for match in near)}?" if near else "/help lists them."
        return f"Unknown command /{named(name)}. {guess}"

    def candidates(self) -> Sequence[Candidate]:
        """The names to offer, without the slash."""
        return [Candidate(command.name, command.help) for command in self.commands()]

    async def arguments(self, name: str, typed: str, context: "SlashContext") -> Sequence[Candidate]:
        """What the argument of this command may be."""
        command = self.find(name)
        try:
            return await command.complete(context, typed) if command is not None else ()
        except TROUBLES:
            return ()

    async def run(self, line: str, context: "SlashContext") -> bool:
        """False when the line is no command but text for the model."""
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
        except TROUBLES as error:
            context.complain(str(error))
        return True
