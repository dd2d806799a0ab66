"""The sandbox profiles, as data: what a command in each of them can write and reach.

They name no folder of this machine: `boxes.py` does that.
"""

from msgspec import Struct

from assent.plan import SandboxName


class Profile(Struct, frozen=True, kw_only=True):
    name: SandboxName
    confined: bool = True
    """False: the command can do whatever the person can."""
    writes: bool = False
    """It may write to the workspace, except to protected paths."""
    network: bool = False
    """It may connect to hosts, through a proxy that judges each of them."""
    sockets: bool = True
    """It may create sockets at all, which a program that only reads has no use for."""
    summary: str
    """For the person, after the words "in a sandbox:"."""


OFF = Profile(name="off", confined=False, writes=True, network=True, summary="not in a sandbox")
READ_ONLY = Profile(name="read-only", sockets=False, summary="it can write nothing and has no network")
WORKSPACE = Profile(name="workspace", writes=True, summary="it can write to the workspace and has no network")
NETWORK = Profile(
    name="network",
    writes=True,
    network=True,
    summary="it can write to the workspace and connect to hosts that you allow",
)

PROFILES: dict[SandboxName, Profile] = {one.name: one for one in (READ_ONLY, WORKSPACE, NETWORK, OFF)}
"""From the tightest to the widest."""
