"""Sets up the sandbox of a workspace and tests it: the same for sessions and for `assent sandbox check`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.config import BadSettings, Settings, data_folder
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


class SandboxReport(Struct, frozen=True, kw_only=True):
    enabled: bool
    approved: SandboxName
    mechanism: str
    problem: str
    """Why there is no sandbox; empty if there is one."""
    profiles: tuple[ProfileReport, ...]
    untried: str = ""
    """Why commands cannot be tried first in this folder; empty if they can."""
    landlock: ProfileReport | None = None
    """The only profile that there is without bubblewrap, if the kernel can do it."""


def confinement(env: Mapping[str, str], folder: str) -> "Confinement":
    from assent.sandbox.confinement import workspace_confinement

    return workspace_confinement(env, folder)


def allowed_domains(settings: Settings, path: Path) -> tuple[str, ...]:
    """Where every command may connect to. Raises BadSettings."""
    if not settings.sandbox.domains:
        return ()
    from assent.policy.rules import BadRule, check_domains

    try:
        check_domains(settings.sandbox.domains, f"{path}: sandbox.domains")
    except BadRule as error:
        raise BadSettings(str(error)) from error
    return settings.sandbox.domains


async def check_sandbox(env: Mapping[str, str], folder: str, settings: Settings) -> SandboxReport:
    """Tries every profile, also if one of them fails."""
    from assent.files.trial_store import TrialStore
    from assent.sandbox.bubblewrap import bubblewrap
    from assent.sandbox.trials import Trials

    found = confinement(env, folder)
    problem = await found.problem()
    return SandboxReport(
        enabled=settings.sandbox.enabled,
        approved=settings.sandbox.approved,
        mechanism=bubblewrap() or "none",
        problem=problem,
        profiles=await _profiles(found),
        untried=await Trials(found, TrialStore(trials_folder(env)), folder).problem(),
        landlock=await _landlock(found) if problem else None,
    )


def trials_folder(env: Mapping[str, str]) -> str:
    """Where what trials change is kept."""
    return str(data_folder(env) / "trials")


async def _landlock(found: "Confinement") -> ProfileReport | None:
    """What still works without bubblewrap."""
    from assent.sandbox.profiles import READ_ONLY
    from assent.sandbox.self_test import in_words, tried_with_landlock

    if await found.landlock_problem():
        return None
    probes, _ = await tried_with_landlock()
    shown = tuple(ProbeReport(in_words(probe), probe.holds) for probe in probes)
    return ProfileReport(READ_ONLY.name, READ_ONLY.summary, shown)


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
