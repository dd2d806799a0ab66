"""Settings: defaults < the user's file < environment < flags. A workspace can only add tools, once it is trusted.

Everything Assent stores is in one folder, readable only by its owner.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from assent.events import GateKind
from assent.mcp_config import BadServer, McpServer, Servers, read_servers
from assent.parts import Effort
from assent.plan import SandboxName
from assent.safe_open import read_regular


class BadSettings(ValueError):
    """The settings cannot be used; the message names the file and the place."""


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """What a model costs, in dollars per million tokens."""

    input: float
    output: float
    """Thoughts count as output."""
    cached: float | None = None
    """For input that came from the provider's cache; the same as `input`, if not set."""
    cache_written: float | None = None
    """For input that was written to the provider's cache; the same as `input`, if not set."""


class CommandLimits(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a command may use before it is stopped; 0 means no limit."""

    idle_seconds: Annotated[float, Meta(ge=0)] = 300.0
    """Without any output."""
    total_seconds: Annotated[float, Meta(ge=0)] = 0.0
    input_seconds: Annotated[float, Meta(ge=0)] = 300.0
    """For a person to type what the command asks for."""
    output_mb: Annotated[int, Meta(ge=0)] = 256
    memory_mb: Annotated[int, Meta(ge=0)] | None = None
    """For all its processes together; four fifths of the machine's memory, if not set."""
    processes: Annotated[int, Meta(ge=0)] = 4_000
    """At the same time; in a sandbox, threads count as well."""
    file_mb: Annotated[int, Meta(ge=0)] = 10_000
    """For each file that it writes."""
    open_files: Annotated[int, Meta(ge=0)] = 16_384
    """For each process."""


class SpendingLimits(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the model may use before Assent sends no more requests: `[limits]`. 0 means no limit."""

    requests_per_session: Annotated[int, Meta(ge=0)] = 0
    tokens_per_session: Annotated[int, Meta(ge=0)] = 0
    dollars_per_session: Annotated[float, Meta(ge=0)] = 0.0
    requests_per_day: Annotated[int, Meta(ge=0)] = 0
    """For all sessions together, from midnight to midnight. Likewise below."""
    tokens_per_day: Annotated[int, Meta(ge=0)] = 0
    dollars_per_day: Annotated[float, Meta(ge=0)] = 0.0


class Environment(Struct, frozen=True, forbid_unknown_fields=True):
    """Which of your variables commands get, where names and values alone would mislead: `[environment]`."""

    allow: tuple[str, ...] = ()
    """Names, possibly with `*`, that are passed on even though they look secret."""
    block: tuple[str, ...] = ()
    """Names that hold a secret even though they do not look like it. Takes precedence over `allow`."""


class ToolCommands(Struct, frozen=True, forbid_unknown_fields=True):
    """Commands of a project that list its own tools and call them: `[tools]`. They run in trusted folders only."""

    discovery_command: str | tuple[str, ...] = ()
    """Prints the tool declarations as JSON."""
    call_command: str | tuple[str, ...] = ()
    """Gets the tool's name as its last argument and the parameters as JSON on its standard input."""
    timeout: Annotated[float, Meta(gt=0)] = 600.0
    """Seconds per call."""
    discovery_timeout: Annotated[float, Meta(gt=0)] = 30.0


class ProjectCommands(Struct, frozen=True):
    """The same, checked: a list of words, never a line for a shell."""

    discovery: tuple[str, ...]
    call: tuple[str, ...]
    timeout: float
    discovery_timeout: float
    place: str
    """Where it is defined: `file: tools`."""


ProviderName = Annotated[str, Meta(pattern="^[a-z][a-z0-9_-]*$")]


class OwnProvider(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The user's own provider, or a built-in one elsewhere: `[providers.NAME]`. Its models are `NAME:model`."""

    kind: str = ""
    """Its API: `openai_chat`, or the name of a built-in provider. Default: the built-in provider of this name, or
    `openai_chat` if there is none."""
    base_url: str = ""
    key_variable: str = ""
    """The environment variable that holds its key. `[keys]` and `assent login NAME` work as well."""
    default_model: str = ""
    context_window: Annotated[int, Meta(gt=0)] | None = None
    """Of its models, in tokens."""


class KeyReference(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a key is kept, instead of the key itself."""

    command: str | tuple[str, ...] = ()
    """Prints the key: `{ command = "pass show anthropic" }`. Never a line for a shell."""
    keyring: str = ""
    """The entry of the system's keyring: `{ keyring = "SERVICE/USER" }`."""


class Webhook(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A URL that `assent serve` notifies of waiting questions: `[[webhooks]]`."""

    url: Annotated[str, Meta(pattern="^https?://[^/]+")]
    format: Literal["json", "ntfy", "slack"] = "json"
    secret_variable: str = ""
    """The environment variable with the secret that signs requests; for ntfy, its access token."""
    delay: Annotated[float, Meta(ge=0)] = 10.0
    """Seconds: a question that is answered sooner is not reported."""
    owner: str = ""
    """Whose sessions it covers; those of the user who runs the server, if not set."""


class PushSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Web push to the browsers that are logged in to `assent serve`: `[push]`."""

    delay: Annotated[float, Meta(ge=0)] = 5.0
    """Seconds: a question that is answered sooner is not reported."""
    services: tuple[str, ...] = ()
    """Origins of push services besides those of the well-known browsers: `["https://push.example.org"]`."""


class SandboxSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What commands can do, whatever their words say: `[sandbox]`."""

    enabled: bool = True
    """Commands that run without asking are confined: those that only read can write nothing, and others can write
    only to the workspace."""
    approved: SandboxName = "off"
    """The profile of commands that run as they are written: because you approved them, or in yolo mode."""
    domains: tuple[str, ...] = ()
    """Hosts that every command in the sandbox `network` may connect to: `["packages.example.org", "*.example.com"]`."""


class BlobSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a cluster keeps whole outputs, contents for undo and files of prompts: `[blobs]`."""

    url: str = ""
    """`s3://BUCKET/PREFIX`; in the database of the log, if not set."""
    endpoint: str = ""
    """The server's URL, if it is not Amazon's: `https://minio.example.org`. Buckets are named in its paths."""
    region: str = "us-east-1"


class AuditSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The record of who decided what: `[audit]`."""

    keep_days: Annotated[int, Meta(ge=1)] | None = None
    """How long records are kept; forever, if not set."""


Notice = Literal["bell", "title", "osc9", "osc777", "osc99"]


class TerminalSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The terminal UI: `[terminal]`."""

    enter: Literal["no", "select"] = "no"
    """What Enter answers to a question: no, or what is selected with the arrows, as in other tools."""
    notify: tuple[Notice, ...] = ("bell", "title")
    """How a question gets your attention. `osc9`, `osc777` and `osc99` are desktop notifications; which one works
    depends on the terminal."""


class Settings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The user's settings file, `settings.toml`."""

    model: str = ""
    """If not set, the first provider with a key decides, then a server on this machine."""
    small_model: str | None = None
    """A cheaper model for summaries and titles. If not set, `model` writes summaries, and sessions get no titles."""
    effort: Effort | None = None
    """How much the model should think; up to the provider, if not set."""
    max_tokens: Annotated[int, Meta(gt=0)] | None = None
    """The longest reply; as long as the model can, if not set."""
    fallback_model: str | None = None
    """A smaller model that takes over when the quota of `model` is used up."""
    approval_mode: Literal["default", "auto_edit", "auto_try", "contained", "plan"] = "default"
    """yolo is not a setting: it needs a flag at every start."""
    gate: GateKind = "batch"
    allowed_tools: tuple[str, ...] = ()
    include_tools: tuple[str, ...] | None = None
    """The built-in tools that the model is offered; by default all."""
    exclude_tools: tuple[str, ...] = ()
    """Those that it is not offered."""
    max_turns: int = 100
    approval_ttl: float | None = None
    """Seconds after which an unanswered approval expires; never, if not set."""
    commands: CommandLimits = CommandLimits()
    sandbox: SandboxSettings = SandboxSettings()
    limits: SpendingLimits = SpendingLimits()
    terminal: TerminalSettings = TerminalSettings()
    audit: AuditSettings = AuditSettings()
    blobs: BlobSettings = BlobSettings()
    mcp: Servers = Servers()
    tools: ToolCommands = ToolCommands()
    environment: Environment = Environment()
    mask_secrets: bool = True
    """In the output of commands, web pages and MCP servers. False keeps secrets visible; exports are masked anyway."""
    compression_threshold: float = 0.5
    """The share of the model's context window above which the conversation is compressed; 0 means never."""
    context_window: int | None = None
    """In tokens; derived from the model's name, if not set."""
    webhooks: tuple[Webhook, ...] = ()
    push: PushSettings = PushSettings()
    providers: dict[ProviderName, OwnProvider] = {}
    keys: dict[ProviderName, str | KeyReference] = {}
    """Keys by provider. With a key itself in it, the file must be readable by its owner only."""
    prices: dict[str, Price] = {}
    """Prices by model, where Assent's own list is outdated or incomplete: `[prices."gemini-2.5-pro"]`."""


def data_folder(env: Mapping[str, str]) -> Path:
    if home := env.get("ASSENT_HOME"):
        return Path(home)
    base = env.get("XDG_DATA_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".local" / "share")
    return Path(base) / "assent"


def settings_file(env: Mapping[str, str]) -> Path:
    if home := env.get("ASSENT_HOME"):
        return Path(home) / "settings.toml"
    base = env.get("XDG_CONFIG_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".config")
    return Path(base) / "assent" / "settings.toml"


def load_settings(env: Mapping[str, str]) -> Settings:
    path = settings_file(env)
    try:
        text = read_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except OSError as error:
        raise BadSettings(f"cannot read {path}: {error.strerror}") from error
    return parse_settings(text, path)


def parse_settings(text: bytes, path: Path) -> Settings:
    settings = _decode(text, path, Settings)
    mcp_servers(settings.mcp, path, "user")
    project_commands(settings.tools, path)
    _check_keys(settings.keys, path)
    return settings


def _check_keys(keys: Mapping[str, str | KeyReference], path: Path) -> None:
    for name, key in keys.items():
        place = f"{path}: keys.{name}"
        if isinstance(key, KeyReference):
            if bool(_words(key.command, f"{place}.command")) == bool(key.keyring):
                raise BadSettings(f"{place}: give either `command` or `keyring`")
            if key.keyring and not all(key.keyring.rpartition("/")[::2]):
                raise BadSettings(f'{place}.keyring: write "SERVICE/USER"')


def key_command(key: KeyReference) -> tuple[str, ...]:
    """The command's words; empty if there is none."""
    return _words(key.command, "command")


def mcp_servers(listed: Servers, path: Path, tier: Literal["user", "workspace"]) -> tuple[McpServer, ...]:
    try:
        return read_servers(listed, str(path), tier)
    except BadServer as error:
        raise BadSettings(str(error)) from error


def project_commands(given: ToolCommands, path: Path) -> ProjectCommands | None:
    """None if there are none. Raises BadSettings."""
    place = f"{path}: tools"
    discovery = _words(given.discovery_command, f"{place}.discovery_command")
    call = _words(given.call_command, f"{place}.call_command")
    if bool(discovery) != bool(call):
        raise BadSettings(f"{place}: give both `discovery_command` and `call_command`")
    return ProjectCommands(discovery, call, given.timeout, given.discovery_timeout, place) if call else None


def _words(command: str | tuple[str, ...], place: str) -> tuple[str, ...]:
    if not command:
        return ()
    import shlex

    try:
        words = tuple(shlex.split(command)) if isinstance(command, str) else command
    except ValueError as error:
        raise BadSettings(f"{place}: {error}") from error
    if any("\0" in word for word in words) or (words and not words[0]):
        raise BadSettings(f"{place}: this is not a valid command")
    return words


class WorkspaceSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`.assent/settings.toml` of a folder: what it may configure once it is trusted."""

    mcp: Servers = Servers()
    tools: ToolCommands = ToolCommands()


def parse_workspace_settings(
    text: bytes, path: Path, own: Path
) -> tuple[tuple[McpServer, ...], ProjectCommands | None]:
    """`own` is the person's settings file, where everything else can be set."""
    not_here = f"cannot be set by a folder, only in your own settings, {own}"
    settings = _decode(text, path, WorkspaceSettings, dict.fromkeys(Settings.__struct_fields__, not_here))
    return mcp_servers(settings.mcp, path, "workspace"), project_commands(settings.tools, path)


def only_adds_tools(text: bytes) -> bool:
    """Whether a folder's settings can be left out without anything becoming less strict than they mean: whatever else
    they contain may have been meant as a restriction."""
    try:
        return msgspec.toml.decode(text, type=dict[str, object]).keys() <= set(WorkspaceSettings.__struct_fields__)
    except (UnicodeDecodeError, msgspec.MsgspecError):
        return False


S = TypeVar("S", bound=Struct)


def _decode(text: bytes, path: Path, type_: type[S], elsewhere: Mapping[str, str] = MappingProxyType({})) -> S:
    try:
        return msgspec.toml.decode(text, type=type_)
    except UnicodeDecodeError as error:
        raise BadSettings(f"{path}: this is not UTF-8 text (byte {error.start})") from error
    except msgspec.MsgspecError as error:
        from assent.settings_words import in_words

        raise BadSettings(f"{path}: {in_words(str(error), text.decode(), type_, elsewhere)}") from error
