"""OpenAI's own models: the Responses API. Servers that speak its older chat completions are elsewhere."""
