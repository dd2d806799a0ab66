"""Short texts that every front end uses: what a call is about, how long something took, how much there is of it.

Also `safe`, which all untrusted text goes through on its way to a screen. This module is imported at every start, so
whatever is slow is imported later.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assent.approval import Mode
    from assent.events import Attached, CallFinished, CallRequest, ChatCompressed, ContextSource, OutputPruned
    from assent.scheduler.call import Terminal
    from assent.screen import Context


def safe(text: str, context: "Context" = "prompt") -> str:
    """Untrusted text, made safe to show; see `assent.screen` for the contexts."""
    from assent.screen import make_safe  # takes 7 ms

    return make_safe(text, context).text


def one_line(text: str) -> str:
    """All of it, safe and without line breaks; a `label` would be cut."""
    return safe(text).replace("\n", " ")


def clause(text: str) -> str:
    """A sentence as it stands before the end of another one: without its full stop."""
    return text if text.endswith("..") else text.removesuffix(".")


def call_about(request: "CallRequest") -> str:
    """What a call is about: its tool's summary, or else its first text argument. The model's words: make them safe."""
    return request.about or first_text(request)


def first_text(request: "CallRequest") -> str:
    return next((value for value in request.args.values() if isinstance(value, str)), "")


def description(request: "CallRequest") -> str:
    """What the model says a command is for; empty if it says nothing. Untrusted text."""
    said = request.args.get("description", "") if request.tool == "run_shell_command" else ""
    return said if isinstance(said, str) else ""


def who(by: str, me: str = "") -> str:
    """Who did something, as people would say it: `you` for oneself. The log has exactly who and from where, as in
    `ann@pid42` or `ann@127.0.0.1`. A name may come from others, so make it safe."""
    if not by:
        return "someone"
    return "you" if by == me else by.rpartition("@")[0] or by


def editing(by: str, me: str = "") -> str:
    name = who(by, me)
    return f"{name} {'are' if name == 'you' else 'is'} editing it"


MODES: "dict[Mode, str]" = {
    "default": "asks before every change, and every command not known to be harmless",
    "auto_edit": "edits files in the folder without asking; still asks about commands",
    "auto_try": "tries commands in a copy of the workspace first, and asks about what they did",
    "contained": "runs commands in a sandbox without asking: they write only to the workspace, without network",
    "plan": "only reads, changes nothing",
    "yolo": "runs everything without asking",
}

_MAX_NAMED = 8
_MAX_QUOTED = 60


def attached_words(attached: "Sequence[Attached]") -> str:
    """What is included with a prompt and what was left out, in one safe line; empty if it mentions nothing."""
    along = [f"{safe(one.name, 'label')}{f' ({one.about})' if one.about else ''}" for one in attached if one.parts]
    left_out = [f"{safe(one.name, 'label')}: {safe(one.problem, 'label')}" for one in attached if one.problem]
    with_them = f"with {_some(along, ', ')}" if along else ""
    without = f"left out {_some(left_out, '; ')}" if left_out else ""
    return "; ".join(filter(None, (with_them, without)))


def _some(names: list[str], between: str) -> str:
    more = len(names) - _MAX_NAMED
    return between.join([*names[:_MAX_NAMED], *([f"and {more} more"] if more > 0 else [])])


def prompt_command(server: str, prompt: str) -> str:
    """The slash command for a prompt of an MCP server; unusual characters become `_`."""
    import re

    return re.sub(r"[^\w.:-]+", "_", f"{server}:{prompt}", flags=re.ASCII)[:80]


def duration(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else span(milliseconds / 1000)


def took(call: "CallFinished | Terminal") -> str:
    """How long it ran, without the time it waited for a person; empty for one that ended before it ran."""
    if call.ran_ms is not None:
        return duration(call.ran_ms)
    return duration(call.duration_ms) if _succeeded(call) else ""


def _succeeded(call: "CallFinished | Terminal") -> bool:
    """Whether it certainly ran. Old logs do not say how long."""
    from assent.events import CallFinished
    from assent.scheduler.call import Success

    return call.status == "success" if isinstance(call, CallFinished) else isinstance(call, Success)


def ended_badly(call: "CallFinished | Terminal") -> str:
    """How the command of a call failed, even though the call itself succeeded."""
    from assent.parts import TerminalDisplay

    return safe(call.display.ended, "label") if isinstance(call.display, TerminalDisplay) else ""


def span(seconds: float) -> str:
    """Never in milliseconds: for columns, and for how long people take."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{seconds:.1f} s"


def count(number: int, thing: str, things: str = "") -> str:
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def short_number(number: int) -> str:
    """1234 → 1.2k"""
    if number < 1000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.1f}M"


def shortened_words(event: "ChatCompressed | OutputPruned") -> str:
    """How a long conversation was shortened."""
    from assent.events import OutputPruned

    what = "Old output was removed" if isinstance(event, OutputPruned) else "The conversation was compressed"
    before, after = event.tokens_before, event.tokens_after
    if not event.window:
        return f"{what}: about {before:,} tokens before, {after:,} now"
    full, left = share(before / event.window), share(after / event.window)
    return f"{what}: about {before:,} tokens before ({full} of the context window), {after:,} now ({left})"


def short_quotes(text: str) -> str:
    """A reason without long quotations: the command itself is shown once, next to it."""
    import re

    return re.sub(r"`([^`]+)`", lambda quoted: f"`{_shortened(quoted[1])}`", text)


def _shortened(quoted: str) -> str:
    line = " ".join(quoted.split())
    return line if len(line) <= _MAX_QUOTED else line[: _MAX_QUOTED - 1].rstrip() + "…"


def untrusted_words(sources: "Sequence[ContextSource]", folder: str) -> str:
    """Which instructions for the model are not used because nobody has trusted them; empty if there are none."""
    names = [safe(source.path.removeprefix(f"{folder}/"), "label") for source in sources if source.problem]
    if not names:
        return ""
    them = "it is" if len(names) == 1 else "they are"
    return f"Not used, because {them} not trusted: {_some(names, ', ')}. To read and trust it, use /trust."


def share(part: float) -> str:
    """0.314 → 31%"""
    return "<1%" if 0 < part < 0.01 else f"{part:.0%}"
