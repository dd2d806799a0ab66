"""`assent -p` in a pipe: what comes out in each format, and that exactly one result ends it, however it ends."""

import os
import signal
import subprocess

import pytest

from support.fake_gemini import FakeGemini
from support.processes import alive
from support.program import Ended, Json, Program, asks_for, says, shell

FORMATS = ("text", "json", "stream-json")
DIFFERENT = ("text", "stream-json")
"""`json` is the last line of `stream-json`; where that is all there is, these two are enough."""


def check_stream(ended: Ended) -> None:
    """Every line is an object with a type; durable events have no gap; one result, at the end."""
    lines = ended.lines
    assert all(isinstance(line["type"], str) for line in lines)
    assert [line["type"] for line in lines].count("result") == 1
    assert lines[-1]["type"] == "result"
    assert "status" in lines[-1]
    numbers = [line["seq"] for line in lines[:-1] if line["seq"]]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True


def a_whole_turn(program: Program) -> str:
    return program.scenario(
        {
            "chunks": [
                {"thought": "**Looking**\nI list what is there."},
                {"text": "I look. "},
                {"call": {"name": "list_directory", "args": {"dir_path": "."}, "id": "look"}},
            ],
            "usage": {"input": 10, "output": 5},
        },
        says("All is well.", usage={"input": 20, "output": 3}),
    )


@pytest.mark.spec("G6")
def test_text_prints_the_answer_on_stdout_and_what_the_tools_do_on_stderr(program: Program):
    ended = program.run("-p", "hello", "-m", a_whole_turn(program))
    assert (ended.code, ended.out) == (0, "I look. \nAll is well.\n")
    assert "✓ list_directory ." in ended.err


@pytest.mark.spec("G6")
def test_json_prints_one_object_with_the_answer_and_the_counts(program: Program):
    ended = program.run("-p", "hello", "-m", a_whole_turn(program), "-o", "json")
    result = ended.result
    assert (ended.code, ended.err) == (0, "")
    assert (result["type"], result["status"], result["response"]) == ("result", "success", "All is well.")
    assert result["session_id"] == program.sessions()[0]
    assert result["stats"]["tokens"] == {"input": 30, "output": 8, "thoughts": 0, "cached": 0, "total": 38}
    assert result["stats"]["tools"]["success"] == 1


@pytest.mark.spec("G6")
@pytest.mark.spec("F1")
@pytest.mark.spec("F10")
def test_stream_json_prints_every_event_as_it_is_in_the_log_and_then_the_result(program: Program):
    ended = program.run("-p", "hello", "-m", a_whole_turn(program), "-o", "stream-json")
    assert (ended.code, ended.err) == (0, "")
    check_stream(ended)
    durable = [line for line in ended.lines if line.get("seq")]
    assert [(line["seq"], line["type"]) for line in durable] == [
        (event["seq"], event["type"]) for event in program.events()
    ]
    assert durable[0]["type"] == "session.created"
    (thought,) = ended.of_type("model.thought")
    assert (thought["subject"], thought["description"]) == ("Looking", "I list what is there.")
    assert [line["text"] for line in ended.of_type("model.text")] == ["I look. ", "All is well."]
    prompt_ids = {line["prompt_id"] for line in ended.lines if "prompt_id" in line}
    assert prompt_ids == {f"{program.sessions()[0]}########0"}


@pytest.mark.spec("G6")
@pytest.mark.parametrize("flags", [[], ["-p", "-"]])
def test_the_prompt_may_come_from_standard_input(program: Program, flags: list[str]):
    ended = program.run(*flags, "-m", program.scenario(says("Yes.")), stdin="is this read?\n")
    assert (ended.code, ended.out) == (0, "Yes.\n")
    assert program.events_of_type("prompt.submitted")[0]["text"] == "is this read?\n"


@pytest.mark.spec("G6")
def test_standard_input_goes_before_the_prompt(program: Program):
    program.run("-p", "Review this.", "-m", program.scenario(says("Fine.")), stdin="+ a change\n")
    assert program.events_of_type("prompt.submitted")[0]["text"] == "+ a change\n\n\nReview this."


@pytest.mark.spec("G6")
def test_an_input_that_is_left_open_and_silent_is_left_out_and_said(program: Program):
    with program.start("-p", "Go.", "-m", program.scenario(says("Gone.")), stdin=subprocess.PIPE) as running:
        ended = running.wait()
    assert (ended.code, ended.out) == (0, "Gone.\n")
    assert "nothing arrived on standard input" in ended.err
    assert program.events_of_type("prompt.submitted")[0]["text"] == "Go."


@pytest.mark.spec("G6")
@pytest.mark.parametrize("prompt", [["-p", "Go."], ["-p", "-"], []])
def test_a_slow_command_in_front_of_the_pipe_is_waited_for_and_that_is_said(program: Program, prompt: list[str]):
    os.mkfifo(program.folder / "slow")
    reading, writing = os.pipe()
    producer = subprocess.Popen(["cat", str(program.folder / "slow")], stdout=writing)
    os.close(writing)
    with program.start(*prompt, "-m", program.scenario(says("Gone.")), stdin=reading) as running:
        os.close(reading)
        running.until_error("waiting for standard input")
        (program.folder / "slow").write_text("late words")
        assert running.wait().code == 0
    producer.wait()
    assert program.events_of_type("prompt.submitted")[0]["text"].startswith("late words")


@pytest.mark.spec("G6")
@pytest.mark.parametrize("stdin", ["", " \n\t"])
def test_standard_input_that_is_blank_changes_nothing(program: Program, stdin: str):
    program.run("-p", "Go.", "-m", program.scenario(says("Gone.")), stdin=stdin)
    assert program.events_of_type("prompt.submitted")[0]["text"] == "Go."


@pytest.mark.spec("G6")
def test_bytes_that_are_no_text_do_not_stop_a_prompt(program: Program):
    ended = program.run("-p", "caf\udce9", "-m", program.scenario(says("Oui.")), stdin=b"caf\xe9\n")
    assert (ended.code, ended.out) == (0, "Oui.\n")
    assert program.events_of_type("prompt.submitted")[0]["text"] == "caf�\n\n\ncaf�"


# --- what cannot work ---

UNUSABLE: dict[str, tuple[list[str], bytes, str]] = {
    "an empty prompt": (["-p", ""], b"", "the prompt is empty"),
    "a blank prompt": (["-p", " \n"], b"\n", "the prompt is empty"),
    "binary input": (["-p", "what is this?"], b"\x7fELF\0\0", "standard input is not text"),
    "too much input": (["-p", "what is this?"], b"a" * 8_000_001, "standard input is longer than"),
    "a bad rule": (["-p", "x", "--allowed-tools", "write file!"], b"", "cannot read the rule 'write file!'"),
    "empty brackets": (["-p", "x", "--allowed-tools", "run_shell_command()"], b"", "empty parentheses"),
    "an unknown session": (["-p", "x", "--resume", "nope"], b"", "there is no session 'nope'"),
    "no session at all": (["-p", "x", "--resume"], b"", "there are no sessions yet"),
    "no terminal to ask on": (["-p", "x", "--ask", "inline"], b"", "needs a terminal"),
}


@pytest.mark.spec("G6")
@pytest.mark.parametrize("output", DIFFERENT)
@pytest.mark.parametrize("case", UNUSABLE)
def test_what_cannot_be_used_is_refused_with_one_result_and_code_42(program: Program, case: str, output: str):
    args, stdin, said = UNUSABLE[case]
    ended = program.run(*args, "-m", program.scenario(says("never")), "-o", output, stdin=stdin)
    assert ended.code == 42
    check_failure(ended, output, "input", said)
    assert program.sessions() == []


def check_failure(ended: Ended, output: str, kind: str, said: str) -> None:
    assert "Traceback" not in ended.err
    if output == "text":
        assert ended.out == ""
        assert said in ended.err
    else:
        result = ended.result
        assert (result["type"], result["status"], result["error"]["type"]) == ("result", "error", kind)
        assert said in result["error"]["message"]
    if output == "stream-json":
        check_stream(ended)


@pytest.mark.spec("G6")
@pytest.mark.parametrize("args", [["--bogus"], ["-p"], ["-p", "x", "--approval-mode", "maybe"], ["-p", "x", "--out"]])
def test_a_wrong_command_line_says_where_to_look_and_ends_with_code_42(program: Program, args: list[str]):
    ended = program.run(*args)
    assert (ended.code, ended.out) == (42, "")
    assert ended.err.endswith("Try: assent --help\n")


@pytest.mark.spec("G6")
@pytest.mark.parametrize("output", DIFFERENT)
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (b"model = ", "line 1: invalid value"),
        (b'modell = "gemini-2.5-pro"', "there is no setting `modell`; did you mean `model`?"),
        (b"[commands]\nidle = 3", "there is no setting `commands.idle`"),
        (b'max_turns = "many"', "line 1: `max_turns` must be a whole number, not text"),
        (b'approval_mode = "yolo"', "use --approval-mode yolo at every start"),
        (b"\xff\xfe", "settings.toml"),
    ],
)
def test_a_broken_settings_file_is_named_and_ends_with_code_52(
    program: Program, settings: bytes, said: str, output: str
):
    program.home.mkdir()
    (program.home / "settings.toml").write_bytes(settings)
    ended = program.run("-p", "hello", "-m", program.scenario(says("never")), "-o", output)
    assert ended.code == 52
    check_failure(ended, output, "config", str(program.home / "settings.toml"))
    check_failure(ended, output, "config", said)


@pytest.mark.spec("G6")
@pytest.mark.parametrize("output", DIFFERENT)
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("-m", "nope"), "does not say which provider"),
        (("--allowed-tools", "no_such"), "--allowed-tools: there is no tool 'no_such'"),
        (("--allowed-tools", "a("), "cannot read the rule 'a('"),
        (("--resume", "nope"), "there is no session 'nope'"),
    ],
)
def test_a_wrong_value_of_an_option_ends_with_code_42(program: Program, args: tuple[str, ...], said: str, output: str):
    model = () if "-m" in args else ("-m", program.scenario(says("never")))
    ended = program.run("-p", "hello", *model, *args, "-o", output)
    assert ended.code == 42
    shown = ended.err if output == "text" else ended.result["error"]["message"]
    assert said in shown and "scripted" not in shown


@pytest.mark.spec("G6")
@pytest.mark.parametrize("tool", ["no_such", "a("])
def test_a_wrong_rule_in_the_settings_ends_with_code_52(program: Program, tool: str):
    program.home.mkdir()
    (program.home / "settings.toml").write_text(f'allowed_tools = ["{tool}"]\n')
    ended = program.run("-p", "hello", "-m", program.scenario(says("never")))
    assert ended.code == 52 and f"{program.home}/settings.toml: allowed_tools: " in ended.err


@pytest.mark.spec("F8")
@pytest.mark.parametrize("output", FORMATS)
def test_without_a_key_three_lines_say_how_to_get_one(program: Program, output: str):
    ended = program.run("-p", "hello", "-m", "gemini-2.5-pro", "-o", output)
    assert ended.code == 41
    check_failure(ended, output, "auth", "export GEMINI_API_KEY=")
    said = ended.err if output == "text" else ended.result["error"]["message"]
    assert len(said.strip().splitlines()) == 3
    assert program.sessions() == []


FAILING_REPLIES: dict[str, tuple[Json, int, str, str]] = {
    "auth": ({"chunks": [{"error": {"kind": "auth", "message": "key expired"}}]}, 41, "auth", "key expired"),
    "quota": ({"chunks": [{"error": {"kind": "quota", "message": "no more today"}}]}, 1, "quota", "no more today"),
    "bad request": ({"chunks": [{"error": {"kind": "bad_request", "message": "too long"}}]}, 1, "bad_request", "long"),
}


@pytest.mark.spec("G6")
@pytest.mark.spec("F8")
@pytest.mark.parametrize("output", DIFFERENT)
@pytest.mark.parametrize("case", FAILING_REPLIES)
def test_a_model_that_refuses_ends_the_turn_with_one_result(program: Program, case: str, output: str):
    reply, code, kind, said = FAILING_REPLIES[case]
    ended = program.run("-p", "hello", "-m", program.scenario(reply), "-o", output)
    assert ended.code == code
    check_failure(ended, output, kind, said)
    assert program.events()[-1]["status"] == "failed"


@pytest.mark.spec("G6")
@pytest.mark.parametrize("output", DIFFERENT)
@pytest.mark.parametrize(
    ("scenario", "said"), [(None, "cannot read the scenario"), (b'{"replys": []}', "replys"), (b"{", "is not valid")]
)
def test_a_model_that_cannot_be_opened_is_named(program: Program, scenario: bytes | None, said: str, output: str):
    path = program.folder / "broken.json"
    if scenario is not None:
        path.write_bytes(scenario)
    ended = program.run("-p", "hello", "-m", f"scripted:{path}", "-o", output)
    assert ended.code == 1
    check_failure(ended, output, "bad_request", said)
    assert program.sessions() == []


@pytest.mark.spec("G6")
@pytest.mark.parametrize("output", DIFFERENT)
def test_the_largest_number_of_turns_ends_with_code_53(program: Program, output: str):
    program.home.mkdir()
    (program.home / "settings.toml").write_text("max_turns = 2\n")
    looks = asks_for({"name": "list_directory", "args": {"dir_path": "."}}, repeat=9)
    ended = program.run("-p", "look", "-m", program.scenario(looks), "-o", output)
    assert ended.code == 53
    if output == "text":
        assert "Stopped: the limit of model requests (max_turns) was reached." in ended.err
    else:
        assert ended.result["status"] == "max_turns"
        assert ended.result["stats"]["requests"] == 2


# --- cancelling ---


@pytest.mark.spec("G6")
@pytest.mark.spec("D6")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_the_turn_and_the_result_says_so(program: Program, number: signal.Signals):
    model = program.scenario(asks_for(shell("echo begun; cat fifo")), says("never"))
    os.mkfifo(program.folder / "fifo")
    with program.start("-p", "go", "-m", model, "--approval-mode", "yolo", "-o", "stream-json") as running:
        pid = running.until_type("call.process")["pid"]
        running.until(lambda event: event["type"] == "call.output" and "begun" in event["text"])
        running.signal(number)
        ended = running.wait()
    assert (ended.code, ended.result["status"]) == (130, "cancelled")
    check_stream(ended)
    (finished,) = program.events_of_type("call.finished")
    assert (finished["status"], finished["display"]["text"]) == ("cancelled", "begun\n")
    assert not alive(pid)


@pytest.mark.spec("G6")
@pytest.mark.parametrize(("output", "said"), [("text", "Cancelled."), ("json", '"status": "cancelled"')])
def test_a_cancelled_request_to_the_model_is_not_success(program: Program, output: str, said: str):
    trace = program.folder / "trace"
    os.mkfifo(trace)
    model = program.scenario({"chunks": [{"text": "I think"}, {"pause_ms": 600_000}]})
    env = {"ASSENT_FAILPOINTS": str(trace)}
    with program.start("-p", "go", "-m", model, "-o", output, env=env) as running, trace.open() as hits:
        commits = 0
        while commits < 4:  # created, opened, put, submitted
            commits += "after commit" in hits.readline()
        running.signal(signal.SIGINT)
        while hits.readline():
            pass
        ended = running.wait()
    assert ended.code == 130
    assert said in ended.out + ended.err
    assert program.events()[-1]["status"] == "cancelled"


def test_a_command_that_failed_is_not_told_as_if_it_had_ended_well(program: Program):
    ended = program.run("-p", "go", "-m", program.scenario(asks_for(shell("ls nothing")), says("Well.")))
    assert "! run_shell_command ls nothing" in ended.err and ": exit 2" in ended.err
    assert "exit 2" in program.run("sessions", "show").out


@pytest.mark.spec("D2")
def test_a_command_that_nobody_watches_has_no_terminal(program: Program):
    model = program.scenario(asks_for(shell("test -t 1 || test -t 2 || echo a pipe")), says("Well."))
    program.run("-p", "go", "-m", model, "--approval-mode", "yolo")
    (finished,) = program.events_of_type("call.finished")
    assert finished["result"]["response"]["output"] == "Output: a pipe\nExit Code: 0"


# --- a reader that goes away ---


@pytest.mark.parametrize("output", FORMATS)
def test_a_disk_that_is_full_is_named_instead_of_a_traceback(program: Program, output: str):
    command = program.command("-p", "go", "-m", program.scenario(says("Well.")), "-o", output)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command, cwd=program.folder, env=program.env, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (1, b"assent: cannot write the output: No space left on device\n")


@pytest.mark.spec("G6")
@pytest.mark.parametrize("output", FORMATS)
def test_a_reader_that_goes_away_early_is_no_traceback(program: Program, output: str):
    model = program.scenario({"chunks": [{"text": "0123456789\n", "repeat": 20_000}]})
    with program.start("-p", "go", "-m", model, "-o", output) as running:
        assert running.process.stdout is not None
        running.process.stdout.close()
        code = running.process.wait()
        assert (code, running.errors()) == (0, "")


@pytest.mark.spec("G6")
@pytest.mark.parametrize("args", [["--help"], ["sessions", "list"], ["sessions", "export"], ["sessions", "show"]])
def test_commands_whose_reader_goes_away_are_no_traceback_either(program: Program, args: list[str]):
    program.run("-p", "go", "-m", program.scenario({"chunks": [{"text": "0123456789\n", "repeat": 20_000}]}))
    with program.start(*args) as running:
        assert running.process.stdout is not None
        running.process.stdout.close()
        code = running.process.wait()
        assert (code, running.errors()) == (0, "")


@pytest.mark.spec("G6")
@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_closed_streams_are_no_traceback(program: Program, closed: str):
    model = program.scenario(says("Still here."))
    done = subprocess.run(
        ["bash", "-c", f'exec "$@" {closed}', "bash", *program.command("-p", "go", "-m", model)],
        cwd=program.folder,
        env=program.env,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Still here.\n", b"")


@pytest.mark.spec("G6")
def test_output_is_utf_8_whatever_the_environment_says(program: Program):
    ended = program.run("-p", "go", "-m", program.scenario(says("Käse ✓")), env={"PYTHONIOENCODING": "ascii"})
    assert (ended.code, ended.out) == (0, "Käse ✓\n")


@pytest.mark.spec("G6")
def test_the_version_is_printed_whatever_else_is_asked(program: Program):
    ended = program.run("--version", "-p", "go", "-m", program.scenario(says("never")))
    assert ended.code == 0
    assert ended.out.startswith("assent ")
    assert program.sessions() == []


@pytest.mark.spec("G6")
def test_help_documents_every_exit_code(program: Program):
    ended = program.run("--help")
    for code in (0, 1, 41, 42, 52, 53, 56, 57, 58, 74, 130):
        assert f"\n  {code} " in ended.out


@pytest.mark.spec("G6")
def test_a_folder_whose_name_is_no_text_is_refused_clearly(program: Program):
    folder = os.fsencode(program.folder) + b"/caf\xe9"
    os.mkdir(folder)
    ended = program.run("-p", "go", "-m", program.scenario(says("never")), cwd=folder)
    assert ended.code == 42
    assert "is not valid UTF-8" in ended.err


@pytest.mark.spec("F8")
async def test_a_key_that_the_provider_refuses_ends_with_code_41(program: Program):
    refused = {"chunks": [{"error": {"kind": "auth", "message": "API key not valid"}}]}
    async with FakeGemini({"replies": [refused]}) as fake:
        ended = await program.run_beside("-p", "hello", "-o", "stream-json", env=key_for(fake))
    assert (ended.code, ended.result["error"]["type"]) == (41, "auth")
    assert "aistudio.google.com/apikey" in ended.result["error"]["message"]
    check_stream(ended)


def key_for(fake: FakeGemini) -> dict[str, str]:
    return {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
