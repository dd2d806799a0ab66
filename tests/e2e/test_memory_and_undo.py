"""What a person sees of context files, compressed conversations and changes taken back, from the command line."""

import pytest

from support.program import Program, says


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
