"""`/help`: every command and every key; in two columns where there is room, otherwise one below the other."""

from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from rich.cells import cell_len
from rich.text import Text
from textual.strip import Strip

from assent.front.tui.slash.slash_command import Group, SlashCommand
from assent.front.tui.slash.slash_helpers import named
from assent.front.tui.text_style import TextStyler
from assent.front.tui.viewer import Document

NAME_WIDTH = 26
TWO_COLUMNS = 64
"""The width from which names and meanings are side by side."""
INDENT = 4

Sections = Mapping[str, Mapping[str, str]]


def help_document(commands: Sequence[SlashCommand], keys: Sections) -> Document:
    sections = {**_by_group(commands), **keys}

    def draw(styler: TextStyler, width: int) -> list[Strip]:
        return [strip for title, rows in sections.items() for strip in _section(styler, title, rows, width)]

    text = "\n\n".join(_plain(title, rows) for title, rows in sections.items())
    return Document("Help: commands and keys", draw, text)


def _by_group(commands: Iterable[SlashCommand]) -> Sections:
    groups: dict[str, dict[str, str]] = {group: {} for group in get_args(Group)}
    for command in commands:
        also = f" (also {', '.join('/' + alias for alias in command.aliases)})" if command.aliases else ""
        groups[command.group][named(command.call)] = named(command.help) + also
    return {group: rows for group, rows in groups.items() if rows}


def _section(styler: TextStyler, title: str, rows: Mapping[str, str], width: int) -> Iterable[Strip]:
    yield from styler.lines(Text(title, style="bold"), width)
    for name, meaning in rows.items():
        yield from _row(styler, name, meaning, width)
    yield Strip.blank(0)


def _row(styler: TextStyler, name: str, meaning: str, width: int) -> list[Strip]:
    shown = Text(f"  {name}", style=styler.palette.accent)
    beside = width >= TWO_COLUMNS and cell_len(name) <= NAME_WIDTH
    indent = NAME_WIDTH + INDENT if width >= TWO_COLUMNS else INDENT
    lines = styler.lines(Text(meaning), max(width - indent, 1))
    if not beside:
        return [*styler.lines(shown, width), *(_moved(strip, indent) for strip in lines)]
    first, *rest = lines or [Strip.blank(0)]
    (head,) = styler.lines(shown, width)
    return [Strip.join([head.extend_cell_length(indent), first]), *(_moved(strip, indent) for strip in rest)]


def _moved(strip: Strip, by: int) -> Strip:
    return Strip.join([Strip.blank(by), strip])


def _plain(title: str, rows: Mapping[str, str]) -> str:
    return "\n".join([title, *(f"  {name}: {meaning}" for name, meaning in rows.items())])
