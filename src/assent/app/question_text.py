"""A waiting approval as plain lines: exactly what would happen, made safe, with the possible answers.

For places that print lines (the headless terminal, `assent sessions show`); it asks nobody.
"""

from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from assent.app.style import Style
from assent.app.trial_text import trial_lines, trial_title, yes_to
from assent.app.wording import description, one_line, safe, short_quotes
from assent.app.wrapping import wrapped
from assent.approval import (
    Approval,
    AskDetails,
    Details,
    EditDetails,
    ExecDetails,
    Grant,
    InfoDetails,
    Lasts,
    McpDetails,
    Outcome,
    Question,
)
from assent.sandbox.profiles import PROFILES
from assent.scheduler.call import AwaitingApproval
from assent.screen import make_safe
from assent.trial import Trial
from assent.web.destinations import from_url

KEYS: dict[Outcome, str] = {
    "proceed_once": "y",
    "proceed_always": "a",
    "proceed_always_server": "s",
    "proceed_always_tool": "t",
    "modify_with_editor": "e",
    "try_first": "t",  # a command, which is not a server's tool
    "run_directly": "d",
    "cancel": "n",
}


def question_lines(call: AwaitingApproval, style: Style, *, parts: bool = True, output: bool = True) -> Iterator[str]:
    """What needs approval, and why. `parts`: with what the model asks, which may also be shown one by one. `output`:
    with what a trial printed, which may have been shown while it ran.
    """
    title = f"? {question_title(call.approval.details)}"
    yield from _prose(title, lambda line: style.yellow(style.bold(line)), style)
    if parts or not isinstance(call.approval.details, AskDetails):
        yield from (f"  {line}" for line in _body(call.approval.details, style, output=output))
    if said := description(call.request):
        yield from _prose(f"  the model says: {safe(said, 'label')}", style.dim, style)
    if files := unapproved_files(call.approval):
        yield from _prose(f"  ! {files}", style.yellow, style)
    for warning in hidden_characters(call.approval.details):
        yield from _prose(f"  ! {one_line(warning)}", style.red, style)
    if call.approval.untried:
        yield from _prose(f"  it cannot be tried first: {one_line(call.approval.untried)}", style.dim, style)
    if call.approval.no_always:
        yield from _prose(f"  {no_always_in_words(call.approval)}", style.dim, style)
    yield from _prose(f"  asked because: {one_line(short_quotes(call.approval.why))}", style.dim, style)
    if call.tried_by is not None:
        yield style.dim("  it is being tried")


def _prose(text: str, colour: Callable[[str], str], style: Style) -> Iterator[str]:
    return map(colour, wrapped(text, style.width))


def no_always_in_words(approval: Approval) -> str:
    """Why "always" is not among the answers."""
    return f'No "always" here: {one_line(short_quotes(approval.no_always)).rstrip(".")}.'


def unapproved_files(approval: Approval) -> str:
    """Which files would run that nobody has approved as they are now; empty if there are none."""
    named = [f"{safe(one.path, 'label')} ({'changed' if one.changed else 'new'})" for one in approval.unapproved]
    return f"Runs files that you have not approved: {', '.join(named)}" if named else ""


def option_lines(approval: Approval) -> Iterator[str]:
    """The keys offered, with what they mean here; a question of the model is not answered with keys."""
    for key, outcome in offered_keys(approval).items():
        yield f"{key}  {_meaning(outcome, approval)}"
        if outcome == "proceed_always":
            for number, scope in enumerate(approval.scopes[1:], start=2):
                yield f"a{number} always: {one_line(scope_in_words(scope))}"


def offered_keys(approval: Approval) -> dict[str, Outcome]:
    """A question of the model is declined: "no" may be an answer to it."""
    keys = KEYS | {"cancel": "d"} if isinstance(approval.details, AskDetails) else KEYS
    return {key: outcome for outcome, key in keys.items() if outcome in approval.options}


def is_yes_or_no(details: Details) -> bool:
    """Whether yes or no answers it, and not only allows or refuses it."""
    return isinstance(details, AskDetails) and [one.type for one in details.questions] == ["yesno"]


def _meaning(outcome: Outcome, approval: Approval) -> str:
    if (trial := tried(approval.details)) is not None:
        return _AFTER_A_TRIAL[outcome] if outcome in _AFTER_A_TRIAL else yes_to(trial)
    match outcome:
        case "proceed_always":
            return f"always: {one_line(scope_in_words(approval.scopes[0]))}"
        case _:
            return _MEANINGS[outcome]


def scope_in_words(scope: Grant) -> str:
    """For how long comes first: it matters most, and the end of a long line may be overlooked."""
    reach = scope.reach
    for end in _ENDS[scope.lasts]:
        reach = reach.removesuffix(end)
    return f"{_BEGINNINGS[scope.lasts]}: {reach if reach == scope.reach else f'{reach}.'}"


_BEGINNINGS: dict[Lasts, str] = {
    "session": "This session",
    "folder": "This folder, from now on",
    "everywhere": "Everywhere, from now on",
}
_ENDS: dict[Lasts, tuple[str, ...]] = {
    "session": (", for this session.",),
    "folder": (", in this folder, from now on.", ", from now on."),
    "everywhere": (", in every folder, from now on.",),
}
"""How the reach of a grant says the same."""
_MEANINGS: dict[Outcome, str] = {
    "proceed_once": "yes, once",
    "proceed_always_server": "always, for every tool of this server",
    "proceed_always_tool": "always, for this tool",
    "modify_with_editor": "edit first",
    "try_first": "try it first, in a copy of the workspace",
    "cancel": "no, with or without a reason: n use the other branch",
}
_AFTER_A_TRIAL: dict[Outcome, str] = {
    "try_first": "try it again",
    "run_directly": "run it directly, as if it had not been tried",
    "cancel": "discard it, with or without a reason: n use the other branch",
}


def tried(details: Details) -> Trial | None:
    return details.trial if isinstance(details, ExecDetails) else None


def question_title(details: Details) -> str:
    if (trial := tried(details)) is not None:
        return trial_title(trial)
    match details:
        case EditDetails(path=path, old=None):
            return f"Create {safe(path, 'label')}"
        case EditDetails(path=path):
            return f"Change {safe(path, 'label')}"
        case ExecDetails(risk=risk):
            return f"Run a command (risk: {risk})"
        case InfoDetails(urls=urls):
            return _request_title(urls)
        case McpDetails(tool=tool, command=command) if command:
            return f"Use {safe(tool, 'label')}, a tool of this project"
        case McpDetails(server=server, tool=tool):
            return f"Use {safe(tool, 'label')} of the server {safe(server, 'label')}"
        case AskDetails():
            return "The model asks you"


def _request_title(urls: tuple[str, ...]) -> str:
    if not urls:
        return "Access data"
    return "Fetch from the web" if from_url(urls[0]) is None else "Connect to a host"


def _body(details: Details, style: Style, *, output: bool) -> Iterator[str]:
    match details:
        case EditDetails(diff=diff, protected=protected):
            yield from (_diff_line(line, style) for line in safe(diff).splitlines())
            if protected:
                yield style.red(f"protected: {safe(protected, 'label')}")
        case ExecDetails():
            yield from _command(details, style, output=output)
        case InfoDetails(prompt=prompt, urls=urls):
            yield from safe(prompt).splitlines()
            yield from (style.cyan(line) for url in urls for line in _url_lines(url))
        case McpDetails(args=args, description=description, command=command):
            if command:
                yield style.bold(f"$ {safe(command, 'label')}")
            yield from safe(msgspec.json.format(msgspec.json.encode(args)).decode()).splitlines()
            who = "the project" if command else "the server"
            yield from (style.dim(f"{who} says: {line}") for line in safe(description).splitlines()[:1])
        case AskDetails(questions=questions):
            for question in questions:
                yield from asked_lines(question, style)


def _command(details: ExecDetails, style: Style, *, output: bool) -> Iterator[str]:
    narrower = replace(style, width=max(0, style.width - 2))
    yield from (style.bold(f"$ {line}") for line in safe(details.command).split("\n"))
    yield f"in {safe(details.directory, 'label')}"
    if words := sandbox_in_words(details):
        yield from _prose(words, str, narrower)
    colour = {"low": style.dim, "medium": style.yellow, "high": style.red}[details.risk]
    yield from _prose(f"{details.risk} risk: {one_line(short_quotes(details.risk_reason))}", colour, narrower)
    if details.trial is not None:
        yield from trial_lines(details.trial, style, output=output)


def sandbox_in_words(details: ExecDetails) -> str:
    """Where the command runs, if that needs saying."""
    behind = "in the background" if details.background else ""
    return ", ".join(filter(None, (behind, _box_in_words(details))))


def _box_in_words(details: ExecDetails) -> str:
    """Empty if nobody expects a sandbox."""
    profile = PROFILES[details.sandbox]
    if not profile.confined:
        return "outside the sandbox" if details.wider else ""
    paths = [f"also writes to {safe(path, 'label')}" for path in details.writable]
    hosts = [safe(entry, "label") for entry in details.domains]
    without_asking = [f"without asking, it may connect to {', '.join(hosts)}"] if hosts else []
    return "; ".join([f"in a sandbox: {profile.summary}", *paths, *without_asking])


def _url_lines(url: str) -> list[str]:
    """The whole URL and, where it differs, its decoded form."""
    from assent.web.urls import preview

    return preview(url).shown.splitlines()


def asked_lines(question: Question, style: Style) -> Iterator[str]:
    """One question of the model, with its options."""
    narrower = replace(style, width=max(0, style.width - 14))  # it is indented, and may have a number
    for line in safe(question.question).splitlines():
        yield from _prose(line, style.bold, narrower)
    for number, words in enumerate(option_words(question), start=1):
        yield from _prose(f"  {number}  {words}", str, narrower)


def option_words(question: Question) -> list[str]:
    """The options as they are shown, each with its whole description, because people choose by it."""
    if question.type == "yesno":
        return option_labels(question)
    both = (": ".join(filter(None, (option.label, option.description))) for option in question.options)
    return [one_line(words) for words in both]


def option_labels(question: Question) -> list[str]:
    """What each option answers; a model may give two options the same label."""
    return ["Yes", "No"] if question.type == "yesno" else [one.label for one in question.options]


NONE_OF_THESE = "none of these"
"""The answer if several options can be ticked and none is."""


def _diff_line(line: str, style: Style) -> str:
    match line[:1]:
        case "+":
            return style.green(line)
        case "-":
            return style.red(line)
        case "@":
            return style.cyan(line)
        case _:
            return line


def exact_text(details: Details) -> str:
    """What would happen, word for word."""
    match details:
        case EditDetails(diff=text) | ExecDetails(command=text):
            return text
        case InfoDetails(prompt=prompt, urls=urls):
            return "\n".join(_destinations(prompt, urls))
        case McpDetails(args=args, command=command):
            return (f"{command}\n" if command else "") + msgspec.json.format(msgspec.json.encode(args)).decode()
        case AskDetails(questions=questions):
            return msgspec.json.format(msgspec.json.encode(questions)).decode()


def _destinations(prompt: str, urls: tuple[str, ...]) -> tuple[str, ...]:
    """A host comes first, on its own line, because the words about it quote a command; a URL follows its words."""
    hosts = [str(wanted) for url in urls if (wanted := from_url(url)) is not None]
    return (*hosts, prompt) if hosts else (prompt, *(line for url in urls for line in _url_lines(url)))


def hidden_characters(details: Details) -> tuple[str, ...]:
    """What a person might overlook: invisible characters, and anything odd about a URL."""
    warnings = details.warnings if isinstance(details, InfoDetails) else ()
    trial = tried(details)
    diffs = "".join(effect.diff for effect in trial.effects) if trial is not None else ""
    return (*warnings, *make_safe(exact_text(details) + diffs, "prompt").suspicious)
