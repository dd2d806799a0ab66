"""How servers of chat completions differ, as data: what each takes and wants back. `chat_servers` fills it in."""

from typing import Literal

from msgspec import Struct

from assent.models.model_protocol import Effort


class Quirks(Struct, frozen=True, kw_only=True):
    """The defaults are those of a server of which nothing is known."""

    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    asks_usage: bool = True
    """Whether `stream_options` may be sent. A server without them tells the usage unasked, or never."""
    efforts: tuple[Effort, ...] = ("low", "medium", "high")
    """What `effort_field` takes, from little to much; empty: it has no such field."""
    effort_field: Literal["reasoning_effort", "reasoning", "thinking"] = "reasoning_effort"
    replays: Literal["", "reasoning_content", "reasoning_details"] = ""
    """The thoughts that the model wants back, by the name of their field."""
    ids: Literal["short", "nine"] = "short"
    """`nine`: exactly nine letters and digits."""
    user_after_tool: bool = True
    """Whether a person may speak right after a tool. If not, the model says a word in between."""
    takes_files: bool = False
    """Whether a PDF may be sent."""
    reads_written_calls: bool = True
    """Whether a reply that is nothing but a call written as text may be one: where the server leaves that to us."""
    is_openai: bool = False
    """It has OpenAI's own models, and takes `prompt_cache_key`."""
    key_header: Literal["authorization", "api-key"] = "authorization"
    path: Literal["chat", "azure"] = "chat"
    """`azure`: the deployment and the version of the API are in the address."""
