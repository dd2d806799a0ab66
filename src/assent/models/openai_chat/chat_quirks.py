"""How chat-completions servers differ, as data: what each accepts and needs back. `chat_servers` fills it in."""

from typing import Literal

from msgspec import Struct

from assent.models.model_protocol import Effort


class Quirks(Struct, frozen=True, kw_only=True):
    """The defaults are for a server about which nothing is known."""

    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    asks_usage: bool = True
    """Whether `stream_options` may be sent. A server without it reports the usage unasked, or never."""
    efforts: tuple[Effort, ...] = ("low", "medium", "high")
    """What `effort_field` accepts, from low to high; empty: there is no such field."""
    effort_field: Literal["reasoning_effort", "reasoning", "thinking"] = "reasoning_effort"
    replays: Literal["", "reasoning_content", "reasoning_details"] = ""
    """The name of the field in which the model needs its thoughts back."""
    ids: Literal["short", "nine"] = "short"
    """`nine`: exactly nine letters and digits."""
    user_after_tool: bool = True
    """Whether a user message may follow a tool message. If not, a short model message goes in between."""
    takes_files: bool = False
    """Whether a PDF may be sent."""
    reads_written_calls: bool = True
    """Whether a reply that consists of nothing but a call, written as text, counts as a call."""
    is_openai: bool = False
    """It has OpenAI's own models, and accepts `prompt_cache_key`."""
    key_header: Literal["authorization", "api-key"] = "authorization"
    path: Literal["chat", "azure"] = "chat"
    """`azure`: the deployment and the version of the API are in the address."""
