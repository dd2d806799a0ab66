"""What a summary of the conversation may not lose or reword: what the person asked for, the to-do list, and the files
that were changed. It is taken from the state, not from the model, and survives every further summary.
"""

from collections.abc import Iterator, Sequence

from assent.agent.compression import without_middle
from assent.session.state import SessionState

_PROMPT_SHARE = 0.05
"""Share of the window for the first request, and for the later ones together."""
_MAX_PROMPT = 4_000
_MOST_REQUESTS = 32_000
_MAX_FILES = 200
CHARACTERS = 4
"""Approximate characters of a token."""


def essentials(state: SessionState, kept: Sequence[str] = ()) -> str:
    """`kept` are the prompts that stay in the conversation."""
    return "\n\n".join(_sections(state, kept))


def _sections(state: SessionState, kept: Sequence[str]) -> Iterator[str]:
    first, window = state.first_prompt, state.conversation.window
    known = {*kept, state.latest_prompt if state.open_prompt else ""}
    if first and first not in known:
        longest = max(_MAX_PROMPT, int(window * _PROMPT_SHARE) * CHARACTERS)
        yield f"The user's first request, word for word:\n{without_middle(first, longest)}"
    if later := _newest([request for request in state.requests if request not in {first, *known}], window):
        yield "Later requests of the user, word for word:\n" + "\n".join(f"- {request}" for request in later)
    if state.todos:
        yield "Your to-do list:\n" + "\n".join(f"- [{todo.status}] {todo.description}" for todo in state.todos)
    changed = list(
        dict.fromkeys(change.path for call_id, change in state.changes.items() if call_id not in state.undone)
    )
    if changed:
        more = f"\n- and {len(changed) - _MAX_FILES:,} more" if len(changed) > _MAX_FILES else ""
        yield "Files that you changed:\n" + "\n".join(f"- {path}" for path in changed[-_MAX_FILES:]) + more


def _newest(requests: Sequence[str], window: int) -> list[str]:
    """As many as there is room for, in order. A long one loses its middle."""
    room = min(int(window * _PROMPT_SHARE) * CHARACTERS or _MAX_PROMPT, _MOST_REQUESTS)
    chosen: list[str] = []
    for request in reversed(dict.fromkeys(requests)):
        text = without_middle(request, _MAX_PROMPT)
        if (room := room - len(text)) < 0:
            break
        chosen.insert(0, text)
    return chosen
