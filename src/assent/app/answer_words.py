"""How to answer a call from another terminal: the words for the outcomes, and the command to type."""

from assent.approval import Approval, AskDetails, ExecDetails, Outcome

SHORT_OUTCOMES: dict[str, Outcome] = {
    "yes": "proceed_once",
    "once": "proceed_once",
    "always": "proceed_always",
    "server": "proceed_always_server",
    "tool": "proceed_always_tool",
    "try": "try_first",
    "apply": "proceed_once",
    "direct": "run_directly",
    "discard": "cancel",
    "no": "cancel",
}

OF_TRIALS = ("apply", "direct", "discard")
"""They say what happens to the effects of a trial. A command that was not tried must not run because of one."""


def answer_command(session: str, call_id: str, approval: Approval) -> str:
    """The command, with the outcomes offered, except those that need a screen."""
    details = approval.details
    tried = isinstance(details, ExecDetails) and details.trial is not None
    other = ("once", "yes", "no") if tried else ("once", *OF_TRIALS)
    offered = [word for word, outcome in SHORT_OUTCOMES.items() if outcome in approval.options and word not in other]
    said = ' --say "…"' * len(details.questions) if isinstance(details, AskDetails) else ""
    return f"assent answer {session} {call_id} {'|'.join(offered)}{said}"
