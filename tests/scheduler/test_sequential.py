"""A batch has the results of its calls one after another, whatever they are and in whatever order they are answered.

Hypothesis makes batches of reads, edits and commands over a few files, with an answer for each call that asks. They run
once as one batch and once singly: each call must say the same, and the files must be the same in the end.
"""

import asyncio
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from assent.approval import ExecDetails
from assent.events import GateKind
from assent.scheduler.batch import Batch
from assent.scheduler.refusals import Refused
from assent.tools.tool import Invocation, Live, Permit, Resources, Tool, ToolResult
from support.tools_harness import Spec, ToolsHarness, read, replace, said, statuses, write


class ScriptParams(Struct):
    steps: list[tuple[str, str, str]]
    pauses: int


class Script(Invocation):
    """Does to files what a command might, in several steps, and lets others go on in between."""

    def __init__(self, folder: Path, params: ScriptParams) -> None:
        self._folder, self._params = folder, params

    def describe(self) -> str:
        return "script"

    async def should_confirm(self) -> ExecDetails:
        return ExecDetails(command="./script", roots=(), directory="/", risk="high", risk_reason="")

    def resources(self) -> Resources:
        return Resources(anything="write")

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        seen = list[str]()
        for step, name, text in self._params.steps:
            for _ in range(self._params.pauses):
                await asyncio.sleep(0)
            seen.append(_do(step, self._folder / name, text))
        return ToolResult(" ".join(seen))


def _do(step: str, path: Path, text: str) -> str:
    before = path.read_text() if path.is_file() else "nothing"
    match step:
        case "append":
            path.write_text(f"{before}{text}")
        case "delete":
            path.unlink(missing_ok=True)
        case "link":
            path.unlink(missing_ok=True)
            os.symlink(text, path)
        case _:
            pass
    return before


class ScriptTool(Tool[ScriptParams]):
    name = "script"
    display_name = "Script"
    description = "A command."
    kind = "execute"
    params = ScriptParams

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def invocation(self, params: ScriptParams) -> Invocation:
        return Script(self._folder, params)


def script(steps: list[tuple[str, str, str]], pauses: int) -> Spec:
    return "script", {"steps": steps, "pauses": pauses}


FILES = st.sampled_from(["a", "b", "d/c"])
WORDS = st.sampled_from(["one", "two", "three"])
STEPS = st.one_of(
    st.tuples(st.sampled_from(["append", "delete", "look"]), st.sampled_from(["a", "b"]), WORDS),
    st.just(("link", "b", "a")),
)
FILE_CALLS = st.one_of(
    st.builds(read, FILES),
    st.builds(write, FILES, WORDS.map(lambda word: f"{word}\n")),
    st.builds(replace, FILES, WORDS, WORDS),
    st.just(("list_directory", {"dir_path": "d"})),
    st.just(("grep_search", {"pattern": "one", "dir_path": "."})),
)
CALLS = st.one_of(
    FILE_CALLS,
    st.builds(
        script,
        st.lists(STEPS, min_size=1, max_size=3),
        st.integers(0, 5),
    ),
)
ANSWERS = st.lists(st.sampled_from(["yes", "yes", "no"]), min_size=8, max_size=8)
START = {"a": "one\n", "b": "two\n"}


class Run:
    """The calls over a folder of their own, with the answers that they get."""

    def __init__(self, folder: Path, answers: list[str], gate: GateKind, seed: int | None) -> None:
        for name, text in START.items():
            (folder / name).write_text(text)
        self.folder = folder
        self.bench = ToolsHarness(folder, gate=gate, tools=(ScriptTool(folder),))
        self._answers = answers
        self._random = None if seed is None else random.Random(seed)
        """Who is answered next; without it the first who asks."""

    async def all(self, batches: list[list[Spec]]) -> tuple[list[tuple[str, str]], dict[str, str]]:
        ended = [call for specs in batches for call in await self._finish(self.bench.schedule(*specs))]
        found = {str(path.relative_to(self.folder)): path for path in self.folder.rglob("*")}
        files = {name: path.read_text() for name, path in found.items() if path.is_file()}
        told = zip(statuses(ended), [said(call) for call in ended], self._answers, strict=False)
        return [_unless_refused(*each) for each in told], files

    async def _finish(self, batch: Batch) -> list[Any]:
        results = asyncio.ensure_future(batch.results())
        while not results.done():
            await self.bench.settle()
            if waiting := sorted(self.bench.waiting(), key=lambda call_id: int(call_id[1:])):
                await self._answer(waiting[0] if self._random is None else self._random.choice(waiting))
            else:
                await asyncio.wait([results], timeout=0.001)
        return results.result()

    async def _answer(self, call_id: str) -> None:
        answer = self._answers[int(call_id[1:]) - 1]
        edited = answer == "edit" and "modify_with_editor" in self.bench.waiting()[call_id].options
        try:
            if edited:
                await self.bench.answer(call_id, content=f"edited {call_id}\n")
            else:
                await self.bench.answer(call_id, "cancel" if answer == "no" else "proceed_once")
        except Refused:  # the edited text is what the file holds already
            await self.bench.answer(call_id, "cancel")


def _unless_refused(status: str, told: str, answer: str) -> tuple[str, str]:
    """Whether a call is refused or could not have been done anyway depends on when it was asked."""
    return ("not done", "") if answer == "no" and status != "ok" else (status, told)


def compare(calls: list[Spec], answers: list[str], gate: GateKind, seed: int | None) -> None:
    async def both() -> None:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            together = await Run(Path(os.path.realpath(one)), answers, gate, seed).all([calls])
            singly = await Run(Path(os.path.realpath(other)), answers, gate, None).all([[call] for call in calls])
            assert together == singly

    asyncio.run(both())


@given(st.lists(CALLS, min_size=2, max_size=8), ANSWERS, st.sampled_from(["batch", "eager"]), st.integers(0, 9))
@settings(max_examples=150)
def test_a_batch_that_is_answered_in_any_order_does_what_its_calls_do_singly(
    calls: list[Spec], answers: list[str], gate: GateKind, seed: int
):
    compare(calls, answers, gate, seed)


@given(
    st.lists(FILE_CALLS, min_size=2, max_size=8),
    st.lists(st.sampled_from(["yes", "no", "edit"]), min_size=8, max_size=8),
    st.sampled_from(["batch", "eager"]),
)
@settings(max_examples=100)
def test_a_batch_with_edited_proposals_does_what_its_calls_do_singly(
    calls: list[Spec], answers: list[str], gate: GateKind
):
    """In the order of the request, and without commands: what a person edits, they must see as it will be."""
    compare(calls, answers, gate, None)


@pytest.mark.parametrize("gate", ["batch", "eager"])
def test_a_call_that_had_nothing_to_do_is_judged_again_when_the_call_before_it_is_refused(gate: GateKind):
    """The second write changes nothing as long as the first may still run; the third builds on whichever runs."""
    calls = [write("a", "two\n"), write("a", "two\n"), write("a", "one\n")]
    compare(calls, ["no"] + ["yes"] * 7, gate, 0)
    compare(calls, ["no", "no"] + ["yes"] * 6, gate, 0)
    compare([*calls, write("a", "three\n")], ["no", "yes", "no"] + ["yes"] * 5, gate, 0)
