"""Collects the rules that apply in a folder: admin, user, workspace, command line. An untrusted folder can only make
them stricter.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assent.config import data_folder, settings_file
from assent.files.approved_files import ApprovedFiles
from assent.policy.kept_grants import KeptGrants
from assent.policy.rules import BadFlag, BadRule, Rule, allowed_form, check_tool
from assent.policy.trust import CONFIG_FOLDER, TrustStore

if TYPE_CHECKING:
    from assent.mcp.pins import PinStore
    from assent.policy.kept_grants import GrantKeeper
    from assent.shared_records import SharedRecords

__all__ = (
    "BadFlag",
    "BadRule",
    "Rule",
    "allowed_form",
    "approved_files",
    "collect_rules",
    "home_folder",
    "kept_grants",
    "pin_store",
    "policy_file",
    "trust_store",
    "workspace_policy_file",
)

ADMIN_FILE = Path("/etc/assent/policy.toml")


def policy_file(env: Mapping[str, str]) -> Path:
    return settings_file(env).with_name("policy.toml")


def workspace_policy_file(folder: str) -> Path:
    return Path(folder, CONFIG_FOLDER, "policy.toml")


def trust_store(env: Mapping[str, str]) -> TrustStore:
    if (shared := shared_records(env)) is not None:
        from assent.policy.shared_grants import SharedTrustStore

        return SharedTrustStore(shared, home_folder(env))
    return TrustStore(data_folder(env) / "trust.json", home_folder(env))


def approved_files(env: Mapping[str, str], folder: str) -> ApprovedFiles:
    """What people have approved for execution, in all sessions."""
    if (shared := shared_records(env)) is not None:
        from assent.files.shared_approvals import SharedApprovals

        return SharedApprovals(shared, folder)
    return ApprovedFiles(data_folder(env) / "executed.json", folder)


def kept_grants(env: Mapping[str, str], folder: str) -> "GrantKeeper":
    """What people have allowed beyond a session, here and everywhere."""
    if (shared := shared_records(env)) is not None:
        from assent.policy.shared_grants import SharedGrants

        return SharedGrants(shared, folder)
    return KeptGrants(data_folder(env) / "grants.json", folder)


def pin_store(env: Mapping[str, str]) -> "PinStore":
    """The tools of MCP servers as people have first seen or accepted them."""
    if (shared := shared_records(env)) is not None:
        from assent.mcp.shared_pins import SharedPins

        return SharedPins(shared)
    from assent.mcp.pins import PinStore

    return PinStore(data_folder(env) / "mcp.json")


def shared_records(env: Mapping[str, str]) -> "SharedRecords | None":
    """None if all this is in the data folder, because the log is on this machine."""
    place = env.get("ASSENT_LOG", "")
    if not place.startswith(("postgresql://", "postgres://")):
        return None
    from assent.app.shared_state import records_at

    return records_at(place)


def home_folder(env: Mapping[str, str]) -> str:
    return os.path.realpath(env.get("HOME", "/"))


def collect_rules(
    env: Mapping[str, str], folder: str, known_tools: Iterable[str], given: Iterable[Rule] = ()
) -> tuple[Rule, ...]:
    """Raises BadRule for an invalid file."""
    workspace, own = workspace_policy_file(folder), policy_file(env)
    known, given = tuple(known_tools), tuple(given)
    written = any(os.path.lexists(path) for path in (ADMIN_FILE, own, workspace))
    if written or any(rule.tool not in known for rule in given):
        known += _optional_tools()
    for rule in given:
        if rule.tool not in known:
            _check_given(rule, known)
    if not written:
        return given
    from assent.policy.rulefile import load_rules

    trusted = trust_store(env).rules(Path(folder)).state == "trusted"
    _check_admin_file()
    return (
        *load_rules(ADMIN_FILE, "admin", known),
        *load_rules(own, "user", known),
        *load_rules(workspace, "workspace", known, only_tighten=not trusted),
        *given,
    )


def _check_given(rule: Rule, known: tuple[str, ...]) -> None:
    try:
        check_tool(rule.tool, rule.place or "--allowed-tools", known)
    except BadRule as error:
        raise error if rule.place else BadFlag(str(error)) from error


def _optional_tools() -> tuple[str, ...]:
    """Tools that only some models or servers provide; a rule may name them anywhere."""
    from assent.mcp.resource_tools import ListResourcesTool, ReadResourceTool
    from assent.tools.web_search import WebSearchTool

    return WebSearchTool.name, ListResourcesTool.name, ReadResourceTool.name


def _check_admin_file() -> None:
    """Rules above the user's own must not be writable by others."""
    try:
        about = ADMIN_FILE.stat()
    except FileNotFoundError:
        return
    if about.st_uid != 0 or stat.S_IMODE(about.st_mode) & 0o022:
        raise BadRule(f"{ADMIN_FILE} must belong to root and be writable by root only")
