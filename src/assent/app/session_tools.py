"""The built-in tools of a session: declared at once, and loaded when one of them is needed for the first time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.app.context_loading import memory_file
from assent.config import Settings, data_folder
from assent.files.private_folder import PrivateFolder
from assent.files.workspace import Workspace
from assent.secrets.mask import Masker
from assent.tools.declared import builtin_facts
from assent.tools.registry import Registry
from assent.tools.support.background_processes import BackgroundCommands

if TYPE_CHECKING:
    from assent.tools.tool import AnyTool


class ToolPlace(Struct, frozen=True, kw_only=True):
    """Where the tools work."""

    env: Mapping[str, str]
    folder: str
    workspace: Workspace
    outputs: PrivateFolder
    domains: tuple[str, ...] = ()
    """What commands in the sandbox may connect to without asking."""
    background: BackgroundCommands | None = None
    """What runs commands that go on after their call."""


def promise_builtin_tools(
    registry: Registry, place: ToolPlace, settings: Settings, masker: Masker, *, watched: bool, typing: bool
) -> None:
    """`watched`: somebody sees what commands print while they run. `typing`: a person can type into them."""
    registry.promise(builtin_facts(), lambda: _load(place, settings, masker, watched=watched, typing=typing))


def _load(place: ToolPlace, settings: Settings, masker: Masker, *, watched: bool, typing: bool) -> "list[AnyTool]":
    from assent.app.sandbox_setup import confinement, trials_folder
    from assent.tools.builtin import builtin_tools
    from assent.tools.shell import TERMINAL

    return builtin_tools(
        place.workspace,
        limits=settings.commands,
        terminal=TERMINAL if watched else None,
        typing=typing,
        background=place.background,
        outputs=place.outputs,
        memory=memory_file(place.env),
        contents=PrivateFolder(str(data_folder(place.env) / "contents")),
        environment=settings.environment,
        masker=masker,
        confinement=(lambda: confinement(place.env, place.folder)) if settings.sandbox.enabled else None,
        approved=settings.sandbox.approved,
        domains=place.domains,
        trials=trials_folder(place.env),
    )
