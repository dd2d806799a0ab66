"""The looks: dark, light, high contrast, no colour; each with a Textual theme and the colours of drawn text."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from textual.theme import Theme

if TYPE_CHECKING:
    from rich.style import StyleType


class Palette(Struct, frozen=True, kw_only=True):
    """Colours by meaning, for drawn text. Empty: the colour of the surrounding text."""

    accent: str
    dim: str
    good: str
    warn: str
    bad: str
    code: str
    added: str
    """Background of added lines."""
    removed: str
    shade: str
    """Background of what is set apart: prompts, code."""
    code_theme: str
    """The name of the Pygments style for code; empty for none."""
    ink: str
    ground: str
    """The colours of plain text and of the screen, as `#rrggbb`."""
    ansi: tuple[str, ...]
    """The 16 colours that programs use by number, as `#rrggbb`; none if there are no colours."""

    def styles(self) -> "dict[str, StyleType]":
        """Rich's style names for Markdown, in our colours."""
        heading = f"bold {self.accent}".strip()
        return {
            "markdown.h1": f"{heading} underline",
            "markdown.h2": heading,
            "markdown.h3": heading,
            "markdown.h4": heading,
            "markdown.h5": heading,
            "markdown.h6": heading,
            "markdown.code": self.code,
            "markdown.code_block": self.code,
            "markdown.block_quote": self.dim,
            "markdown.item.bullet": self.accent or "bold",
            "markdown.item.number": self.accent or "bold",
            "markdown.hr": self.dim,
            "markdown.link": f"{self.accent} underline".strip(),
            "markdown.link_url": self.dim,
            "markdown.table.border": self.dim,
            "markdown.table.header": "bold",
        }


class Look(Struct, frozen=True):
    theme: Theme
    palette: Palette
    help: str


LOOKS: dict[str, Look] = {
    "dark": Look(
        Theme(
            name="dark",
            primary="#7aa2f7",
            secondary="#9aa5ce",
            accent="#e0af68",
            foreground="#d5d9e8",
            background="#16171f",
            surface="#1d1f2b",
            panel="#262938",
            success="#9ece6a",
            warning="#e0af68",
            error="#f7768e",
        ),
        Palette(
            accent="#7aa2f7",
            dim="#8b90a8",
            good="#9ece6a",
            warn="#e0af68",
            bad="#f7768e",
            code="#e0af68",
            added="on #1e3327",
            removed="on #42232c",
            shade="on #20222e",
            code_theme="monokai",
            ink="#d5d9e8",
            ground="#16171f",
            ansi=(
                "#2a2d3d",
                "#f7768e",
                "#9ece6a",
                "#e0af68",
                "#7aa2f7",
                "#c792ea",
                "#5fd7d7",
                "#c8cde0",
                "#6b7194",
                "#ff9eb0",
                "#b9f27c",
                "#ffd080",
                "#a9c1ff",
                "#e0b8ff",
                "#93f0f0",
                "#ffffff",
            ),
        ),
        "light text on a dark background",
    ),
    "light": Look(
        Theme(
            name="light",
            primary="#1d4ed8",
            secondary="#475569",
            accent="#92400e",
            foreground="#1b1f2a",
            background="#fbfbf9",
            surface="#f1f1ec",
            panel="#e5e5de",
            success="#166534",
            warning="#92400e",
            error="#b91c1c",
            dark=False,
        ),
        Palette(
            accent="#1d4ed8",
            dim="#5b6270",
            good="#166534",
            warn="#92400e",
            bad="#b91c1c",
            code="#92400e",
            added="on #d9f2df",
            removed="on #fbdcdc",
            shade="on #efefe9",
            code_theme="friendly",
            ink="#1b1f2a",
            ground="#fbfbf9",
            ansi=(
                "#1b1f2a",
                "#b91c1c",
                "#166534",
                "#92400e",
                "#1d4ed8",
                "#86198f",
                "#0e7490",
                "#d6d6d0",
                "#5b6270",
                "#dc2626",
                "#15803d",
                "#a16207",
                "#2563eb",
                "#a21caf",
                "#0891b2",
                "#ffffff",
            ),
        ),
        "dark text on a light background",
    ),
    "contrast": Look(
        Theme(
            name="contrast",
            primary="#00ffff",
            secondary="#ffffff",
            accent="#ffff00",
            foreground="#ffffff",
            background="#000000",
            surface="#000000",
            panel="#1a1a1a",
            success="#00ff00",
            warning="#ffff00",
            error="#ff6b6b",
        ),
        Palette(
            accent="#00ffff",
            dim="#c8c8c8",
            good="#00ff00",
            warn="#ffff00",
            bad="#ff6b6b",
            code="#ffff00",
            added="on #003b00",
            removed="on #5a0000",
            shade="on #1a1a1a",
            code_theme="fruity",
            ink="#ffffff",
            ground="#000000",
            ansi=(
                "#000000",
                "#ff6b6b",
                "#00ff00",
                "#ffff00",
                "#7fb2ff",
                "#ff87ff",
                "#00ffff",
                "#e4e4e4",
                "#9e9e9e",
                "#ff9c9c",
                "#9cff9c",
                "#ffffaf",
                "#a8ccff",
                "#ffb8ff",
                "#afffff",
                "#ffffff",
            ),
        ),
        "white and strong colours on black",
    ),
    "plain": Look(
        Theme(
            name="plain",
            primary="#ffffff",
            secondary="#d0d0d0",
            accent="#ffffff",
            foreground="#e4e4e4",
            background="#121212",
            surface="#1c1c1c",
            panel="#262626",
            success="#ffffff",
            warning="#ffffff",
            error="#ffffff",
        ),
        Palette(
            accent="bold",
            dim="#a8a8a8",
            good="bold",
            warn="bold",
            bad="bold reverse",
            code="bold",
            added="",
            removed="",
            shade="on #1c1c1c",
            code_theme="",
            ink="#e4e4e4",
            ground="#121212",
            ansi=(),
        ),
        "no colour; symbols and bold text instead",
    ),
}
DEFAULT_LOOK = "dark"
WITHOUT_COLOURS = "plain"
"""With NO_COLOR, it is drawn in the terminal's own colours."""


def chosen_look(chosen: str, env: Mapping[str, str]) -> str:
    """The look chosen earlier; without a choice, NO_COLOR decides."""
    if chosen in LOOKS:
        return chosen
    return WITHOUT_COLOURS if env.get("NO_COLOR") else DEFAULT_LOOK
