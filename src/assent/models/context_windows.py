"""How many tokens a model can look at at once, as far as its name tells. A wrong guess costs an early compression."""

_WINDOWS = (("gemma", 256_000), ("gemini", 1_048_576))
_OTHERS = 128_000


def context_window(model: str) -> int:
    return next((size for start, size in _WINDOWS if model.startswith(start)), _OTHERS)
