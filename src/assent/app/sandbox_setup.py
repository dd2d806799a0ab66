"""Sets up the sandbox of a workspace and tests it: the same for sessions and for `assent sandbox check`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.config import Settings
from assent.plan import SandboxName

if TYPE_CHECKING:  # needed with the first command only
    from assent.sandbox.confinement import Confinement


class ProbeReport(Struct, frozen=True):
    text: str
    holds: bool


class ProfileReport(Struct, frozen=True):
    name: SandboxName
    summary: str
    probes: tuple[ProbeReport, ...] = ()


class SandboxReport(Struct, frozen=True):
    enabled: bool
    approved: SandboxName
    mechanism: str
    problem: str
    """Why there is no sandbox; empty if there is one."""
    profiles: tuple[ProfileReport, ...]


def confinement(env: Mapping[str, str], folder: str) -> "Confinement":
    from assent.sandbox.confinement import workspace_confinement

    return workspace_confinement(env, folder)


async def check_sandbox(env: Mapping[str, str], folder: str, settings: Settings) -> SandboxReport:
    """Tries every profile, also if one of them fails."""
    from assent.sandbox.bubblewrap import bubblewrap

    found = confinement(env, folder)
    problem = await found.problem()
    return SandboxReport(
        settings.sandbox.enabled,
        settings.sandbox.approved,
        bubblewrap() or "none",
        problem,
        await _profiles(found),
    )


async def _profiles(found: "Confinement") -> tuple[ProfileReport, ...]:
    from assent.sandbox.profiles import NETWORK, READ_ONLY, WORKSPACE
    from assent.sandbox.self_test import in_words, tried

    reports: list[ProfileReport] = []
    for profile in (READ_ONLY, WORKSPACE, NETWORK):
        try:
            probes, _ = await tried(profile, found.masks)
        except OSError:  # the report says why
            probes = []
        shown = tuple(ProbeReport(in_words(probe), probe.holds) for probe in probes)
        reports.append(ProfileReport(profile.name, profile.summary, shown))
    return tuple(reports)
