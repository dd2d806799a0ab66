"""`assent -p '/name …'`: a custom command is filled in by the session, whose gate applies to all that it needs."""

import signal

import msgspec
import pytest

from support.program import Json, Program, Running, says
from support.terminal import Terminal

pytestmark = [pytest.mark.spec("G5"), pytest.mark.spec("G6")]
OFFER = "n]:"


def define(program: Program, name: str, prompt: str) -> None:
    path = program.home / "commands" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"prompt = '{prompt}'\n")


def sent(program: Program) -> list[str]:
    return [event["text"] for event in program.events_of_type("prompt.submitted")]


def ends_cancelled(running: Running, number: signal.Signals) -> None:
    running.signal(number)
    (*_, result) = map(msgspec.json.decode, running)
    assert (running.wait().code, result["status"]) == (130, "cancelled")


def test_a_custom_command_is_sent_with_its_arguments_files_and_output(program: Program):
    (program.folder / "rules.md").write_text("Use tabs.\n")
    define(program, "git/review", "{{args}}: @{rules.md} !{echo 7}")
    ended = program.run("-p", "/git:review src now", "-m", program.scenario(says("Fine.")))
    assert (ended.code, ended.out) == (0, "Fine.\n")
    assert sent(program) == ["src now: Use tabs. 7"]


def test_what_was_piped_in_stays_in_front_of_it(program: Program):
    define(program, "explain", "Explain it.")
    assert program.run("-p", "/explain", "-m", program.scenario(says("Fine.")), stdin="log line\n").code == 0
    assert sent(program) == ["log line\n\n\nExplain it."]


def test_if_its_command_needs_approval_and_nobody_can_give_it_nothing_is_sent(program: Program):
    define(program, "touchy", "It says !{touch canary}")
    ended = program.run("-p", "/touchy", "-m", program.scenario(says("Fine.")), "-o", "json")
    assert ended.code == 42 and sent(program) == []
    why = "/touchy was not sent: `touch canary` was refused: it needs approval, and nobody can be asked."
    assert ended.result["error"]["message"] == why
    assert not (program.folder / "canary").exists()


@pytest.mark.parametrize(("answer", "code", "texts"), [("y", 0, ["It says done"]), ("n", 42, [])])
def test_its_command_is_asked_about_on_a_terminal(program: Program, answer: str, code: int, texts: list[str]):
    define(program, "touchy", "It says !{touch canary && echo done}")
    with Terminal(program, "-p", "/touchy", "-m", program.scenario(says("Fine."))) as terminal:
        assert "touch canary && echo done" in terminal.until(OFFER)
        terminal.answer(answer)
        assert terminal.wait() == code
    assert sent(program) == texts and (program.folder / "canary").exists() == bool(texts)


def test_ctrl_c_stops_its_command_and_nothing_is_sent(program: Program):
    define(program, "slow", "It says !{sleep 600}")
    flags = ("-m", program.scenario(says("Fine.")), "-o", "stream-json", "--allowed-tools", "run_shell_command(sleep)")
    with program.start("-p", "/slow", *flags) as running:
        running.until_type("call.process")
        ends_cancelled(running, signal.SIGINT)
    assert sent(program) == []


@pytest.mark.parametrize("moment", ["session.created", "call.requested", "call.finished"])
def test_after_ctrl_c_nothing_more_of_it_runs(program: Program, moment: str):
    define(program, "slow", "It says !{sleep 0.2} !{touch one} !{sleep 600} !{touch two}")
    allowed = ("--allowed-tools", "run_shell_command(sleep)", "--allowed-tools", "run_shell_command(touch two)")
    flags = ("-m", program.scenario(says("Fine.")), "-o", "stream-json", "--ask", "wait", *allowed)
    with program.start("-p", "/slow", *flags) as running:
        running.until_type(moment)
        ends_cancelled(running, signal.SIGINT)
    assert sent(program) == []
    assert not (program.folder / "one").exists() and not (program.folder / "two").exists()


def test_a_terminal_that_is_closed_while_it_asks_leaves_no_question_behind(program: Program):
    define(program, "touchy", "It says !{touch canary}")
    flags = ("-m", program.scenario(says("Fine.")), "-o", "stream-json", "--ask", "wait")
    with program.start("-p", "/touchy", *flags) as running:
        running.until_type("approval.requested")
        ends_cancelled(running, signal.SIGHUP)
    (finished,) = program.events_of_type("call.finished")
    assert finished["status"] == "cancelled"


def test_the_commands_of_the_resumed_sessions_folder_are_the_ones_that_count(program: Program):
    elsewhere = program.folder.parent / "elsewhere"
    elsewhere.mkdir()
    for folder, name in ((program.folder, "mine"), (elsewhere, "other")):
        file = folder / ".assent" / "commands" / f"{name}.toml"
        file.parent.mkdir(parents=True)
        file.write_text(f"prompt = 'From {name}.'\n")
        assert program.run("trust", "--yes", cwd=folder).code == 0
    model = program.scenario(says("Hi."), says("Fine."), says("Fine."))
    session = program.run("-p", "hi", "-m", model, "-o", "json").result["session_id"]
    for name in ("mine", "other"):
        flags = ("--resume", session, "-m", model)
        assert program.run("-p", f"/{name}", *flags, cwd=elsewhere).code == 0
    assert sent(program) == ["hi", "From mine.", "/other"]


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("/nosuch x", "There is no command /nosuch; it is sent as text."),
        ("/compress", "/compress is a command of the terminal UI; here it is sent as text."),
        ("/tmp is full", ""),
        ("/v1/users returns 500", ""),
    ],
)
def test_what_only_looks_like_a_command_is_sent_as_text(program: Program, prompt: str, said: str):
    ended = program.run("-p", prompt, "-m", program.scenario(says("Fine.")))
    assert (ended.code, ended.err.strip()) == (0, said)
    assert sent(program) == [prompt]


def test_an_unfinished_turn_is_finished_before_the_command_is_sent(program: Program):
    define(program, "next", "Then: !{echo 7}")
    waiting: Json = {"chunks": [{"text": "Half"}, {"pause_ms": 600_000}]}
    with program.start("-p", "go", "-m", program.scenario(waiting), "-o", "stream-json") as running:
        session = running.until_type("model.text")["session"]
        running.kill()
    model = program.scenario(says("Whole."), says("And next."))
    ended = program.run("--resume", session, "-m", model, "-p", "/next", "-o", "json")
    assert (ended.code, ended.result["response"]) == (0, "And next.")
    assert sent(program) == ["go", "Then: 7"]
