"""How servers say why a reply ended. Gateways pass on the words of what is behind them, so any format has them all."""

from assent.parts import FinishReason

STOPPED = frozenset({
    "stop", "tool_calls", "tool_call", "tool_use", "function_call", "end_turn", "stop_sequence",
    "eos", "eos_token", "complete", "completed",
})  # fmt: skip
LIMITED = frozenset({
    "length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded",
})  # fmt: skip
BLOCKED = frozenset({"content_filter", "safety", "refusal", "sensitive"})


def finish_reason(word: str) -> FinishReason:
    word = word.lower()
    if word in STOPPED:
        return "stop"
    if word in LIMITED:
        return "max_tokens"
    return "safety" if word in BLOCKED else "other"


def later_word(first: str, later: str) -> str:
    """What counts if a server says it twice: a last `stop` does not complete a reply that was cut or withheld."""
    return first if finish_reason(first) in ("max_tokens", "safety") and finish_reason(later) == "stop" else later
