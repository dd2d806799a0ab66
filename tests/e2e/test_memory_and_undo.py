"""What a person sees of context files, compressed conversations and changes taken back, from the command line."""

import pytest

from support.program import Program, asks_for, read, says


@pytest.mark.spec("F7")
@pytest.mark.spec("I4")
def test_a_context_file_that_is_not_trusted_is_named_with_what_to_do(program: Program):
    (program.folder / "AGENTS.md").write_text("Answer in rhymes.\n")
    scenario = program.scenario(says("Hello."), name="first")
    first = program.run("-p", "hi", "-m", scenario)
    assert first.code == 0
    assert f"{program.folder}/AGENTS.md: not loaded; look at it and trust the folder with `assent trust`" in first.err
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
        assert f"The conversation was compressed: about {before:,} tokens before, {after:,} now" in ended.err
    else:
        assert ended.of_type("chat.compressed")[-1]["tokens_after"] == event["tokens_after"]
