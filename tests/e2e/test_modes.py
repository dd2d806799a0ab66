"""Who decides when nobody is there: modes, allow-lists, and the refusal of everything else."""

import os
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.fake_gemini import FakeGemini
from support.program import Json, Program, asks_for, read, replace, says, shell, write

BATCH = (shell("echo ran > ran.txt", "run"), write("new.txt", "hello\n", "write"), read("old.txt", "read"))


def run_batch(program: Program, *args: str) -> dict[str, Json]:
    """How each call of the batch ended, by its id."""
    (program.folder / "old.txt").write_text("old\n")
    ended = program.run("-p", "go", "-m", program.scenario(asks_for(*BATCH), says("Done.")), *args)
    assert (ended.code, ended.out) == (0, "Done.\n")
    finished = {event["call_id"]: event for event in program.events_of_type("call.finished")}
    assert (program.folder / "ran.txt").exists() == (finished["run"]["status"] == "success")
    assert (program.folder / "new.txt").exists() == (finished["write"]["status"] == "success")
    return finished


def statuses(finished: dict[str, Json]) -> dict[str, str]:
    return {call_id: event["status"] for call_id, event in finished.items()}


@pytest.mark.spec("B12")
@pytest.mark.spec("G6")
def test_without_a_terminal_what_would_ask_is_refused_and_the_rest_runs(program: Program):
    finished = run_batch(program)
    assert statuses(finished) == {"run": "error", "write": "error", "read": "success"}
    assert finished["run"]["failure"]["type"] == "approval_unavailable"
    assert "nobody can give it" in finished["run"]["result"]["response"]["error"]
    assert program.events_of_type("approval.requested") == []


@pytest.mark.spec("G6")
def test_refused_and_failed_calls_are_in_the_json_result_and_its_status_is_honest(program: Program):
    calls = (write("a.txt", "x\n"), read("nowhere.txt"))
    model = program.scenario(asks_for(*calls, text="I will write it."), says("I could not."))
    result = program.run("-p", "go", "-m", model, "-o", "json").result
    assert (result["status"], result["response"]) == ("refused", "I could not.")
    first, second = result["calls"]
    assert (first["tool"], first["status"], first["about"]) == ("write_file", "refused", "a.txt")
    assert "nobody can give it" in first["reason"]
    assert (second["tool"], second["status"]) == ("read_file", "failed")
    allowed = program.run("-p", "go", "-m", model, "-o", "json", "--approval-mode", "auto_edit").result
    assert allowed["status"] == "success" and [call["tool"] for call in allowed["calls"]] == ["read_file"]


def test_whoever_reads_the_output_is_told_how_to_be_asked(program: Program):
    calls = (write("a.txt", "x\n"), write("b.txt", "x\n", "two"), shell("touch canary"))
    model = program.scenario(asks_for(*calls), says("Done."))
    for output in ("text", "json"):
        refused = program.run("-p", "go", "-m", model, "-o", output)
        assert refused.code == 0, "the documented meaning of 0: the model answered"
        first, last = refused.err.splitlines()[-2:]
        assert first == "3 calls were refused because nobody could be asked."
        assert '--allowed-tools "write_file,run_shell_command(ITS FIRST WORDS)"' in last and "--ask wait" in last
    allowed = program.run("-p", "go", "-m", model, "--approval-mode", "yolo")
    assert "--ask wait" not in allowed.err


@pytest.mark.spec("B12")
async def test_the_model_is_told_that_nobody_could_be_asked(program: Program):
    async with FakeGemini({"replies": [asks_for(shell("touch canary")), says("Then please run it yourself.")]}) as fake:
        ended = await program.run_beside("-p", "go", env=key_for(fake))
        last = fake.requests[-1].body["contents"][-1]["parts"]
    assert (ended.code, ended.out) == (0, "Then please run it yourself.\n")
    (response,) = [part["functionResponse"] for part in last]
    assert (response["name"], response["id"]) == ("run_shell_command", "run")
    assert "needs approval" in response["response"]["error"]
    assert not (program.folder / "canary").exists()


@pytest.mark.spec("G6")
@pytest.mark.spec("C6")
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("default", {"run": "error", "write": "error", "read": "success"}),
        ("auto_edit", {"run": "error", "write": "success", "read": "success"}),
        ("yolo", {"run": "success", "write": "success", "read": "success"}),
        ("plan", {"run": "error", "write": "error", "read": "success"}),
    ],
)
def test_each_approval_mode_lets_through_what_it_says(program: Program, mode: str, expected: dict[str, str]):
    finished = run_batch(program, "--approval-mode", mode)
    assert statuses(finished) == expected
    if mode == "plan":
        assert "plan mode is read-only" in finished["run"]["failure"]["message"]


@pytest.mark.spec("C6")
def test_the_mode_of_the_settings_is_the_default_and_the_flag_goes_first(program: Program):
    program.home.mkdir()
    (program.home / "settings.toml").write_text('approval_mode = "auto_edit"\n')
    assert statuses(run_batch(program)) == {"run": "error", "write": "success", "read": "success"}
    ended = program.run("-p", "go", "-m", program.scenario(says("x")), "--approval-mode", "plan", "-o", "stream-json")
    assert ended.of_type("session.created")[0]["mode"] == "plan"


@pytest.mark.spec("G6")
@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        (["write_file"], {"run": "error", "write": "success", "read": "success"}),
        (["run_shell_command(echo ran > ran.txt)"], {"run": "error", "write": "error", "read": "success"}),
        (["run_shell_command(echo ran)"], {"run": "error", "write": "error", "read": "success"}),
        (["write_file,run_shell_command"], {"run": "success", "write": "success", "read": "success"}),
        (["write_file(other)", "run_shell_command(echo)"], {"run": "error", "write": "error", "read": "success"}),
    ],
)
def test_allowed_tools_need_no_question_and_nothing_beyond_them_is_allowed(
    program: Program, allowed: list[str], expected: dict[str, str]
):
    flags = [word for rule in allowed for word in ("--allowed-tools", rule)]
    assert statuses(run_batch(program, *flags)) == expected


@pytest.mark.spec("B12")
def test_plan_mode_is_stronger_than_an_allowed_tool(program: Program):
    finished = run_batch(program, "--approval-mode", "plan", "--allowed-tools", "write_file,run_shell_command")
    assert statuses(finished) == {"run": "error", "write": "error", "read": "success"}


@pytest.mark.spec("D1")
@pytest.mark.spec("B6")
def test_commands_of_a_batch_that_only_read_run_side_by_side(program: Program):
    """What each of them waits for comes when both have begun: one after the other they would wait for ever."""
    fifos = [program.folder / name for name in ("here", "there")]
    for fifo in fifos:
        os.mkfifo(fifo)
    threading.Thread(target=_write_when_all_are_read, args=(fifos,), daemon=True).start()
    model = program.scenario(asks_for(shell("cat here", "one"), shell("cat there", "two")), says("Done."))
    ended = program.run("-p", "go", "-m", model, "--approval-mode", "yolo", "-o", "stream-json")
    displays = {event["call_id"]: event["display"]["text"] for event in ended.of_type("call.finished")}
    assert displays == {"one": "for here\n", "two": "for there\n"}


def _write_when_all_are_read(fifos: list[Path]) -> None:
    with ExitStack() as stack:
        writers = [stack.enter_context(fifo.open("w")) for fifo in fifos]  # each waits for its reader
        for fifo, writer in zip(fifos, writers, strict=True):
            writer.write(f"for {fifo.name}\n")


@pytest.mark.spec("B6")
def test_calls_of_a_batch_that_may_write_keep_their_order(program: Program):
    calls = [
        shell("sleep 0.1; echo one > log", "one"),
        shell("echo two >> log", "two"),
        replace("log", "one\ntwo", "all"),
        read("log"),
    ]
    model = program.scenario(asks_for(*calls), says("Done."))
    ended = program.run("-p", "go", "-m", model, "--approval-mode", "yolo", "-o", "stream-json")
    assert ended.result["stats"]["tools"]["success"] == 4
    assert (program.folder / "log").read_text() == "all\n"


@pytest.mark.spec("F10")
def test_telemetry_has_a_record_of_every_prompt_call_and_error(program: Program):
    run_batch(program, "--approval-mode", "auto_edit")
    program.run("-p", "and now", "--resume", "-m", program.scenario(name="empty"))
    ended = program.run("sessions", "export", "latest", "--telemetry")
    records = [(line["name"], line.get("function_name"), line.get("decision")) for line in ended.lines]
    assert records[0] == ("user_prompt", None, None)
    assert sorted(records[1:4], key=str) == [
        ("tool_call", "read_file", "auto_accept"),
        ("tool_call", "run_shell_command", "reject"),
        ("tool_call", "write_file", "auto_accept"),
    ]
    assert [name for name, _, _ in records[4:]] == ["user_prompt", "error"]
    assert ended.lines[-1]["prompt_id"].endswith("########1")


def key_for(fake: FakeGemini) -> dict[str, str]:
    return {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": fake.url}


@pytest.mark.spec("E3")
async def test_a_model_that_can_search_the_web_is_offered_the_search_and_gets_its_answer(program: Program):
    search = {"name": "web_search", "args": {"query": "how high?"}, "id": "search"}
    replies = [asks_for(search), says("8848 m."), says("It is 8848 m high.")]
    async with FakeGemini({"replies": replies}) as fake:
        ended = await program.run_beside("-p", "go", "--allowed-tools", "web_search", env=key_for(fake))
        first, asked, last = [request.body for request in fake.requests]
    assert (ended.code, ended.out) == (0, "It is 8848 m high.\n")
    assert "web_search" in [tool["name"] for tool in first["tools"][0]["functionDeclarations"]]
    assert (asked["tools"], asked["contents"][0]["parts"]) == ([{"googleSearch": {}}], [{"text": "how high?"}])
    (response,) = [part["functionResponse"]["response"] for part in last["contents"][-1]["parts"]]
    assert response["output"].startswith('Web search results for "how high?":\n\n8848 m.')
    scripted = program.run("-p", "go", "-m", program.scenario(asks_for(search), says("Done.")), "-o", "json")
    assert scripted.code == 0
    assert (
        program.events_of_type("call.finished", program.sessions()[-1])[0]["failure"]["type"] == "tool_not_registered"
    )


@pytest.mark.spec("J3")
@pytest.mark.parametrize("mode", ["auto_edit", "yolo"])
def test_an_existing_file_is_replaced_unseen_only_if_the_model_has_read_it_or_the_prompt_mentions_it(
    program: Program, mode: str
):
    unread, mentioned = program.folder / "unread.txt", program.folder / "mentioned.txt"
    for file in (unread, mentioned):
        file.write_text("mine\n")
    calls = (write("unread.txt", "new\n", "unread"), write("mentioned.txt", "new\n", "mentioned"))
    model = program.scenario(asks_for(*calls), asks_for(read("unread.txt"), calls[0] | {"id": "again"}), says("Done."))
    program.run("-p", "rewrite @mentioned.txt", "-m", model, "--approval-mode", mode)
    finished = {event["call_id"]: event for event in program.events_of_type("call.finished")}
    assert finished["unread"]["failure"]["type"] == "file_not_read"
    assert {statuses(finished)[call_id] for call_id in ("mentioned", "again")} == {"success"}
    assert (unread.read_text(), mentioned.read_text()) == ("new\n", "new\n")


@pytest.mark.spec("F11")
def test_resume_without_an_id_takes_no_session_of_another_folder_and_names_yolo(program: Program):
    model = program.scenario(says("Hello."), asks_for(shell("touch ran")), says("Done."))
    program.run("-p", "go", "-m", model, "--approval-mode", "yolo")
    (session,) = program.sessions()
    other = program.folder.parent / "other"
    other.mkdir()
    ended = program.run("-r", "-p", "on", cwd=other)
    assert ended.code == 42
    assert f"no session of this folder; the newest of all is {session}, of {program.folder}" in ended.err
    ended = program.run("-r", session, "-p", "on", "-m", model, cwd=other)
    assert f"This session works in {program.folder}." in ended.err
    assert "This session is in yolo mode: everything runs without asking." in ended.err


@pytest.mark.spec("F11")
def test_whoever_resumes_a_session_learns_that_its_folder_is_gone(program: Program):
    model = program.scenario(says("Hello."), says("Again."))
    gone, other = program.folder.parent / "gone", program.folder.parent / "other"
    gone.mkdir()
    other.mkdir()
    assert "no longer exists" not in program.run("-p", "go", "-m", model, cwd=gone).err
    (session,) = program.sessions()
    gone.rmdir()
    ended = program.run("-r", session, "-p", "on", "-m", model, cwd=other)
    assert f"The folder of this session no longer exists: {gone}" in ended.err
