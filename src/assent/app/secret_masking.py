"""Which exact secrets there are to mask: of our own environment, the model's key among them, and of MCP servers."""

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from assent.config import Settings
from assent.mcp_config import McpServer
from assent.secrets.mask import Masker, Unmasked


def result_masker(env: Mapping[str, str], settings: Settings, servers: Iterable[McpServer]) -> Masker:
    """For what comes out of tools. It looks at the environment when there is something to mask."""
    return export_masker(env, settings, servers) if settings.mask_secrets else Unmasked()


def export_masker(env: Mapping[str, str], settings: Settings, servers: Iterable[McpServer] = ()) -> Masker:
    """For what leaves the machine, whatever the settings say about results."""
    return Masker(lambda: _known(env, settings, servers))


def _known(env: Mapping[str, str], settings: Settings, servers: Iterable[McpServer]) -> dict[str, str]:
    from assent.secrets.variables import known_values

    def blocked(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in settings.environment.block)

    of_servers = known_values((pair for server in servers for pair in _given(server)), lambda name: name in _LOGINS)
    return {value: kind.removeprefix("$") for value, kind in of_servers.items()} | known_values(env.items(), blocked)


_LOGINS = ("Authorization", "Cookie")


def _given(server: McpServer) -> Iterator[tuple[str, str]]:
    """What stands in the entry itself; `$NAME` is of the environment."""
    yield from server.entry.env.items()
    for name, value in server.entry.headers.items():
        yield name.title(), value.rpartition(" ")[2]
