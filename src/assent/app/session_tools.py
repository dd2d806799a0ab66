"""The built-in tools of a session: declared at once, and loaded when one of them is needed for the first time."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.app.context_loading import memory_file
from assent.config import BadSettings, Settings, data_folder
from assent.files.private_folder import PrivateFolder
from assent.files.workspace import Workspace
from assent.secrets.mask import Masker
from assent.tools.declared import builtin_facts, search_facts
from assent.tools.registry import Registry
from assent.tools.support.background_processes import BackgroundCommands
from assent.tools.support.known_contents import KnownContents

if TYPE_CHECKING:
    from assent.tools.tool import AnyTool


class ToolPlace(Struct, frozen=True, kw_only=True):
    """Where the tools work."""

    env: Mapping[str, str]
    folder: str
    workspace: Workspace
    outputs: PrivateFolder
    contents: PrivateFolder | None = None
    """For undo; None: the folder for all sessions."""
    domains: tuple[str, ...] = ()
    """What commands in the sandbox may connect to without asking."""
    background: BackgroundCommands | None = None
    """What runs commands that continue after their call."""
    known: KnownContents | None = None
    """What the model knows of files."""


def excluded_tools(settings: Settings, path: Path) -> frozenset[str]:
    """The built-in tools that the settings withhold from the model. Raises BadSettings."""
    included, excluded = settings.include_tools, frozenset(settings.exclude_tools)
    if included is None and not excluded:
        return excluded
    known = frozenset(facts.name for facts in (*builtin_facts(), *search_facts()) if facts.for_model)
    for key, names in {"include_tools": included or (), "exclude_tools": excluded}.items():
        if unknown := sorted(frozenset(names) - known):
            raise BadSettings(
                f"{path}: {key}: there is no built-in tool {unknown[0]!r}; choose from {', '.join(sorted(known))}"
            )
    return excluded if included is None else excluded | (known - frozenset(included))


def promise_builtin_tools(
    registry: Registry, place: ToolPlace, settings: Settings, masker: Masker, *, watched: bool, typing: bool
) -> None:
    """`watched`: someone sees what commands print while they run. `typing`: a person can type into them."""
    registry.promise(builtin_facts(), lambda: _load(place, settings, masker, watched=watched, typing=typing))


def _load(place: ToolPlace, settings: Settings, masker: Masker, *, watched: bool, typing: bool) -> "list[AnyTool]":
    from assent.app.sandbox_setup import confinement, trials_folder
    from assent.tools.builtin import builtin_tools
    from assent.tools.support.shell_options import TERMINAL, ShellOptions

    commands = ShellOptions(
        limits=settings.commands,
        terminal=TERMINAL if watched else None,
        typing=typing,
        background=place.background,
        environment=settings.environment,
        outputs=place.outputs,
        masker=masker,
        confinement=(lambda: confinement(place.env, place.folder)) if settings.sandbox.enabled else None,
        approved=settings.sandbox.approved,
        domains=place.domains,
        trials=trials_folder(place.env),
    )
    contents = place.contents or PrivateFolder(str(data_folder(place.env) / "contents"))
    memory = memory_file(place.env)
    return builtin_tools(place.workspace, commands, memory=memory, contents=contents, known=place.known)
