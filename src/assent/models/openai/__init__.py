"""OpenAI's own models: the Responses API. Servers with the older chat completions API are in `openai_chat`."""
