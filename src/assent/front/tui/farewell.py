"""What the terminal says after the UI is closed: how to continue."""

from typing import TYPE_CHECKING

from assent.app.wording import count

if TYPE_CHECKING:
    from assent.front.tui.session_link import SessionLink


def farewell(link: "SessionLink", again: str = "assent --resume") -> list[str]:
    """`again`, followed by the session, is the command to return to it."""
    if not link.left_session:
        return []
    lines = [f"Continue with: {again} {link.left_session}"]
    if link.left_waiting:
        calls = "A call is" if link.left_waiting == 1 else f"{link.left_waiting} calls are"
        lines.insert(0, f"{calls} waiting for your answer, here or from elsewhere (assent answer).")
    if link.left_stopped:
        ended = count(link.left_stopped, "background command")
        lines.append(f"{ended} ended with the session; to keep one running, press k in /tasks.")
    return lines
