"""What a person sees of context files, compressed conversations and changes taken back, from the command line."""

import pytest

from support.program import Program, asks_for, read, says, shell, write


@pytest.mark.spec("F7")
@pytest.mark.spec("I4")
def test_a_context_file_that_is_not_trusted_is_named_with_what_to_do(program: Program):
    (program.folder / "AGENTS.md").write_text("Answer in rhymes.\n")
    scenario = program.scenario(says("Hello."), name="first")
    first = program.run("-p", "hi", "-m", scenario)
    assert first.code == 0
    assert f"{program.folder}/AGENTS.md: not loaded; review it and trust the folder with `assent trust`" in first.err
    shown = program.run("trust", "--yes")
    assert "! AGENTS.md\n    Answer in rhymes.\n" in shown.out
    again = program.run("-p", "hi", "-m", scenario, "-o", "stream-json")
    (loaded,) = again.of_type("context.loaded")
    (source,) = loaded["sources"]
    assert (source["path"], source["size"]) == (f"{program.folder}/AGENTS.md", 18)
    assert "problem" not in source


@pytest.mark.spec("F1")
@pytest.mark.spec("F6")
@pytest.mark.parametrize("output", ["text", "stream-json"])
def test_a_conversation_that_grows_too_long_is_compressed_and_that_is_said(program: Program, output: str):
    (program.folder / "a.txt").write_text("twenty-five characters...\n" * 1_000)
    (program.folder / "b.txt").write_text("b")
    program.home.mkdir()
    (program.home / "settings.toml").write_text("context_window = 2000\n")
    scenario = program.scenario(
        asks_for(read("a.txt", "one")), asks_for(read("b.txt", "two")), says("# Facts"), says("Done.")
    )
    ended = program.run("-p", "look", "-m", scenario, "-o", output)
    assert ended.code == 0
    (event,) = [each for each in program.events_of_type("chat.compressed") if not each.get("problem")]
    assert event["tokens_before"] > 5_000 > 1_000 > event["tokens_after"]
    if output == "text":
        before, after = event["tokens_before"], event["tokens_after"]
        shares = f"about {before:,} tokens before ({before / 20:.0f}% of the context window), {after:,} now ("
        assert f"The conversation was compressed: {shares}" in ended.err
    else:
        assert ended.of_type("chat.compressed")[-1]["tokens_after"] == event["tokens_after"]


@pytest.mark.spec("J7")
def test_undo_takes_back_the_newest_change_and_shows_what_it_did(program: Program):
    (program.folder / "a.txt").write_text("old\n")
    writes = asks_for(write("a.txt", "new\n", "one"), write("b.txt", "b\n", "two"))
    scenario = program.scenario(asks_for(read("a.txt", "seen")), writes, says("Done."))
    program.run("-p", "go", "-m", scenario, "--approval-mode", "auto_edit")
    assert program.run("undo", "latest", "--list").out.split() == [
        "one",
        f"{program.folder}/a.txt",
        "two",
        f"{program.folder}/b.txt",
    ]
    newest = program.run("undo", "latest")
    assert (newest.code, newest.out.splitlines()[0]) == (0, "b.txt is deleted again.")
    assert not (program.folder / "b.txt").exists()
    named = program.run("undo", "latest", "on")
    assert named.code == 0 and "-new\n+old\n" in named.out
    assert (program.folder / "a.txt").read_text() == "old\n"
    nothing = program.run("undo", "latest")
    assert nothing.code == 42 and "no change that can be undone" in nothing.err
    again = program.run("undo", "latest", "one")
    assert again.code == 1 and "already as it was before" in again.err
    (asked, *_) = [e for e in program.events_of_type("call.requested") if e["request"]["tool"] == "undo"]
    assert asked["request"]["initiator"] == "person"


@pytest.mark.spec("J7")
def test_an_undone_change_is_listed_with_the_call_to_undo_to_make_it_again(program: Program):
    scenario = program.scenario(asks_for(write("a.txt", "new\n", "one")), says("Done."))
    program.run("-p", "go", "-m", scenario, "--approval-mode", "auto_edit")
    program.run("undo", "latest")
    (line,) = program.run("undo", "latest", "--list").out.splitlines()
    undo, path, words = line.split(maxsplit=2)
    assert (path, words) == (f"{program.folder}/a.txt", "(undone; to make the change again, undo this call)")
    (session,) = program.sessions()
    nothing = program.run("undo", "latest")
    assert nothing.code == 42 and f"assent undo {session} {undo}" in nothing.err
    assert program.run("undo", "latest", undo).code == 0
    assert (program.folder / "a.txt").read_text() == "new\n"
    assert program.run("undo", "latest", "--list").out == f"one  {path}\n"


@pytest.mark.spec("J7")
@pytest.mark.parametrize("name", ["1", "#1"])
def test_a_call_can_be_undone_by_its_number(program: Program, name: str):
    scenario = program.scenario(asks_for(write("a.txt", "a\n", "one"), write("b.txt", "b\n", "two")), says("Done."))
    program.run("-p", "go", "-m", scenario, "--approval-mode", "auto_edit")
    assert "▸ 1: write_file a.txt" in program.run("sessions", "show").out
    assert program.run("undo", "latest", name).out.startswith("a.txt is deleted again.")
    wrong = program.run("undo", "latest", "7")
    assert wrong.code == 42 and "there is no call 7" in wrong.err


@pytest.mark.spec("J7")
def test_undo_of_a_session_with_an_open_turn_waits_in_its_queue(program: Program):
    scenario = program.scenario(
        asks_for(write("a.txt", "new\n", "one")), asks_for(shell("touch x", "two")), says("Done.")
    )
    args = ("-p", "go", "-m", scenario, "--approval-mode", "auto_edit", "--ask", "wait", "-o", "stream-json")
    with program.start(*args) as running:
        running.until_type("approval.requested")
        ended = program.run("undo", "latest")
        assert (ended.code, ended.out.split(".")[0]) == (56, "Recorded")
        running.until_type("prompts.queued")
        program.run("answer", "latest", "two", "no")
        assert running.wait().code == 130
    assert (program.folder / "a.txt").exists()
    assert program.run("undo", "latest").code == 0
    assert not (program.folder / "a.txt").exists()


@pytest.mark.spec("E3")
def test_a_question_of_the_model_is_answered_from_another_terminal(program: Program):
    asked = {"name": "ask_user", "args": {"questions": [{"question": "Which?", "type": "text"}]}, "id": "q"}
    scenario = program.scenario(asks_for(asked), says("Done."))
    with program.start("-p", "go", "-m", scenario, "--ask", "wait", "-o", "stream-json") as running:
        running.until_type("approval.requested")
        assert program.run("answer", "latest", "q", "yes").code == 1
        answered = program.run("answer", "latest", "q", "yes", "--say", "This one")
        assert "The model asks you" in answered.err and answered.code == 0
        assert running.wait().code == 0
    (finished,) = program.events_of_type("call.finished")
    assert finished["result"]["response"] == {"answers": {"0": "This one"}}
