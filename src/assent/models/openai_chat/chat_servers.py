"""The chat-completions servers that Assent knows, as data. To add one, add an entry here and its name in the registry.

Prices are as of `PRICES_AS_OF`; for a model without one, the cost is unknown.
"""

from msgspec import Struct

from assent.config import Price
from assent.models.effort_levels import ALL_EFFORTS
from assent.models.openai_chat.chat_quirks import Quirks
from assent.models.provider import KnownModel

PRICES_AS_OF = "2026-08"
LOCAL_WINDOW = 32_768
"""Tokens. A guess for local models: if it were too large, a server would silently cut the conversation."""


class ChatServer(Struct, frozen=True, kw_only=True):
    name: str
    title: str
    base_url: str
    """Everything before `/chat/completions`."""
    base_url_variable: str
    key_variables: tuple[str, ...] = ()
    key_optional: bool = False
    key_page: str = ""
    default_model: str = ""
    default_window: int = 128_000
    is_local: bool = False
    quirks: Quirks = Quirks()
    models: tuple[KnownModel, ...] = ()
    prices_source: str = ""


OPENAI_QUIRKS = Quirks(
    limit_field="max_completion_tokens",
    efforts=ALL_EFFORTS,
    takes_files=True,
    reads_written_calls=False,
    is_openai=True,
)

SERVERS = (
    ChatServer(
        name="openai-chat",
        title="OpenAI, chat completions",
        base_url="https://api.openai.com/v1",
        base_url_variable="OPENAI_BASE_URL",
        key_variables=("OPENAI_API_KEY",),
        key_page="https://platform.openai.com/api-keys",
        quirks=OPENAI_QUIRKS,
    ),
    ChatServer(
        name="azure",
        title="Azure OpenAI",
        base_url="",
        base_url_variable="AZURE_OPENAI_ENDPOINT",
        key_variables=("AZURE_OPENAI_API_KEY",),
        key_page="https://portal.azure.com",
        quirks=Quirks(
            limit_field="max_completion_tokens",
            efforts=ALL_EFFORTS,
            takes_files=True,
            reads_written_calls=False,
            is_openai=True,
            key_header="api-key",
            path="azure",
        ),
    ),
    ChatServer(
        name="openrouter",
        title="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        base_url_variable="OPENROUTER_BASE_URL",
        key_variables=("OPENROUTER_API_KEY",),
        key_page="https://openrouter.ai/keys",
        quirks=Quirks(
            efforts=("none", "minimal", "low", "medium", "high", "xhigh"),
            effort_field="reasoning",
            replays="reasoning_details",
            takes_files=True,
        ),
    ),
    ChatServer(
        name="groq",
        title="Groq",
        base_url="https://api.groq.com/openai/v1",
        base_url_variable="GROQ_BASE_URL",
        key_variables=("GROQ_API_KEY",),
        key_page="https://console.groq.com/keys",
        quirks=Quirks(limit_field="max_completion_tokens"),
    ),
    ChatServer(
        name="deepseek",
        title="DeepSeek",
        base_url="https://api.deepseek.com",
        base_url_variable="DEEPSEEK_BASE_URL",
        key_variables=("DEEPSEEK_API_KEY",),
        key_page="https://platform.deepseek.com/api_keys",
        default_model="deepseek-v4-flash",
        quirks=Quirks(
            efforts=("none", "high"),
            effort_field="thinking",
            replays="reasoning_content",
            reads_written_calls=False,
        ),
        models=(
            KnownModel(name="deepseek-v4-flash", window=1_000_000, price=Price(0.14, 0.28, 0.0028)),
            KnownModel(name="deepseek-v4-pro", window=1_000_000, price=Price(0.435, 0.87, 0.0036)),
        ),
        prices_source="LiteLLM's list of prices",
    ),
    ChatServer(
        name="mistral",
        title="Mistral",
        base_url="https://api.mistral.ai/v1",
        base_url_variable="MISTRAL_BASE_URL",
        key_variables=("MISTRAL_API_KEY",),
        key_page="https://console.mistral.ai/api-keys",
        quirks=Quirks(asks_usage=False, efforts=(), ids="nine", user_after_tool=False, reads_written_calls=False),
    ),
    ChatServer(
        name="xai",
        title="xAI",
        base_url="https://api.x.ai/v1",
        base_url_variable="XAI_BASE_URL",
        key_variables=("XAI_API_KEY",),
        key_page="https://console.x.ai",
        quirks=Quirks(reads_written_calls=False),
    ),
    ChatServer(
        name="together",
        title="Together AI",
        base_url="https://api.together.xyz/v1",
        base_url_variable="TOGETHER_BASE_URL",
        key_variables=("TOGETHER_API_KEY",),
        key_page="https://api.together.ai/settings/api-keys",
    ),
    ChatServer(
        name="fireworks",
        title="Fireworks AI",
        base_url="https://api.fireworks.ai/inference/v1",
        base_url_variable="FIREWORKS_BASE_URL",
        key_variables=("FIREWORKS_API_KEY",),
        key_page="https://fireworks.ai/account/api-keys",
    ),
    ChatServer(
        name="cerebras",
        title="Cerebras",
        base_url="https://api.cerebras.ai/v1",
        base_url_variable="CEREBRAS_BASE_URL",
        key_variables=("CEREBRAS_API_KEY",),
        key_page="https://cloud.cerebras.ai",
        quirks=Quirks(limit_field="max_completion_tokens"),
    ),
    ChatServer(
        name="litellm",
        title="LiteLLM",
        base_url="http://127.0.0.1:4000/v1",
        base_url_variable="LITELLM_BASE_URL",
        key_variables=("LITELLM_API_KEY",),
        key_optional=True,
        quirks=Quirks(efforts=ALL_EFFORTS, takes_files=True),
    ),
    ChatServer(
        name="ollama",
        title="Ollama",
        base_url="http://127.0.0.1:11434/v1",
        base_url_variable="OLLAMA_HOST",
        key_variables=("OLLAMA_API_KEY",),
        key_optional=True,
        is_local=True,
        default_window=LOCAL_WINDOW,
        quirks=Quirks(efforts=("none", "low", "medium", "high")),
    ),
    ChatServer(
        name="llamacpp",
        title="llama.cpp",
        base_url="http://127.0.0.1:8080/v1",
        base_url_variable="LLAMACPP_BASE_URL",
        key_variables=("LLAMACPP_API_KEY",),
        key_optional=True,
        is_local=True,
        default_window=LOCAL_WINDOW,
    ),
    ChatServer(
        name="lmstudio",
        title="LM Studio",
        base_url="http://127.0.0.1:1234/v1",
        base_url_variable="LMSTUDIO_BASE_URL",
        key_variables=("LMSTUDIO_API_KEY",),
        key_optional=True,
        is_local=True,
        default_window=LOCAL_WINDOW,
    ),
    ChatServer(
        name="vllm",
        title="vLLM",
        base_url="http://127.0.0.1:8000/v1",
        base_url_variable="VLLM_BASE_URL",
        key_variables=("VLLM_API_KEY",),
        key_optional=True,
        is_local=True,
        default_window=LOCAL_WINDOW,
    ),
    ChatServer(
        name="openai_chat",
        title="A chat-completions server",
        base_url="",
        base_url_variable="",
        key_optional=True,
        default_window=LOCAL_WINDOW,
    ),
)
"""The last one has no address: entries in the settings are based on it."""
