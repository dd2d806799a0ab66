"""Which exact secrets to mask: those of our own environment, the keys of models, and those of MCP servers."""

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from assent.app.stored_keys import StoredKeys
from assent.config import Settings
from assent.mcp_config import McpServer
from assent.secrets.mask import Masker, Unmasked


def result_masker(
    env: Mapping[str, str], settings: Settings, servers: Iterable[McpServer], keys: StoredKeys | None = None
) -> Masker:
    """For the results of tools. It reads the environment only when there is something to mask."""
    return export_masker(env, settings, servers, keys) if settings.mask_secrets else Unmasked()


def export_masker(
    env: Mapping[str, str], settings: Settings, servers: Iterable[McpServer] = (), keys: StoredKeys | None = None
) -> Masker:
    """For what leaves the machine, whatever the settings say about results."""
    return Masker(lambda: _known(env, settings, servers) | (keys or StoredKeys(env, settings)).known())


def _known(env: Mapping[str, str], settings: Settings, servers: Iterable[McpServer]) -> dict[str, str]:
    from assent.secrets.variables import known_values

    def blocked(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in settings.environment.block)

    of_servers = known_values((pair for server in servers for pair in _given(server)), lambda name: name in _LOGINS)
    return {value: kind.removeprefix("$") for value, kind in of_servers.items()} | known_values(env.items(), blocked)


_LOGINS = ("Authorization", "Cookie")


def _given(server: McpServer) -> Iterator[tuple[str, str]]:
    """What is in the entry itself; `$NAME` comes from the environment."""
    yield from server.entry.env.items()
    for name, value in server.entry.headers.items():
        yield name.title(), value.rpartition(" ")[2]
