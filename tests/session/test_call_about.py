"""What a call is about is the tool's to say. It is recorded with the call, so that no front end has to guess."""

import ast
import re
from pathlib import Path

import pytest

import assent
from assent.app.wording import call_about
from assent.events import ApprovalRequested, CallFinished, CallRequest, CallScheduled, CallStarted, Envelope, from_wire
from assent.policy.rules import Rule
from assent.scheduler.call import Success
from assent.session.state import fold
from support.scheduler_harness import SchedulerHarness

HERE = Path(assent.__file__).parent


async def test_a_question_says_what_the_call_is_about():
    harness = SchedulerHarness()
    harness.schedule(harness.call("run_note", text="a"))
    await harness.settle()
    assert [event.about for event in harness.recorded(ApprovalRequested)] == ["note a"]
    assert harness.calls()["c1"].request.about == "note a"


async def test_a_call_that_is_allowed_says_it_when_it_is_scheduled():
    harness = SchedulerHarness(mode="yolo")
    await harness.run(harness.call("run_note", text="a\n  b"))
    assert [event.about for event in harness.recorded(CallScheduled)] == ["note a b"]
    assert [event.about for event in harness.recorded(CallFinished)] == [""], "it is on record already"
    assert harness.calls()["c1"].request.about == "note a b"


async def test_a_call_that_is_denied_says_it_when_it_ends():
    harness = SchedulerHarness(rules=[Rule(ruling="deny", tool="run_note")])
    await harness.run(harness.call("run_note", text="a"))
    assert [event.about for event in harness.recorded(CallFinished)] == ["note a"]


async def test_when_a_person_changes_the_arguments_it_is_about_something_else():
    harness = SchedulerHarness()
    batch = harness.schedule(harness.call("run_note", text="a"))
    await harness.settle()
    await harness.answer("c1", "proceed_once", args={"text": "b"})
    (call,) = await batch.results()
    assert isinstance(call, Success)
    assert call.request.about == "note b"


async def test_a_long_line_is_cut():
    harness = SchedulerHarness(mode="yolo")
    await harness.run(harness.call("run_note", text="x" * 10_000))
    assert len(harness.recorded(CallScheduled)[0].about) == 300


def test_a_call_of_an_older_log_is_about_its_first_text():
    old = CallRequest(
        call_id="c1", tool="run_shell_command", args={"n": 1, "command": "ls", "description": "Lists"}, prompt_id="p"
    )
    assert call_about(old) == "ls"
    assert call_about(CallRequest(call_id="c2", tool="ask_user", args={"questions": []}, prompt_id="p")) == ""


OLDER = [
    '{"type":"session.created","folder":"/w","model":"m","mode":"default","version":"0"}',
    *(
        line % (call, tool, args, call, call, path, after, call, call, tool)
        for call, tool, args, path, after in [
            ("w", "write_file", '{"file_path":"a","content":"b"}', "/w/a", "d1"),
            ("u", "undo", '{"call_id":"w"}', "/w/a", ""),
        ]
        for line in [
            '{"type":"call.requested","request":{"call_id":"%s","tool":"%s","args":%s,"prompt_id":"p"}}\n'
            '{"type":"call.scheduled","call_id":"%s","decision":{"source":"mode","reason":"r"}}\n'
            '{"type":"call.started","call_id":"%s","digest":"d","change":{"path":"%s","after":"%s"}}\n'
            '{"type":"call.finished","call_id":"%s","status":"success",'
            '"result":{"call_id":"%s","name":"%s","response":{}}}'
        ]
    ),
]


def test_an_undo_of_an_older_log_still_takes_its_change_back():
    lines = [line for chunk in OLDER for line in chunk.split("\n")]
    wire = [line[:-1] + f',"seq":{at},"ts":1.0,"session":"s","v":1}}' for at, line in enumerate(lines, 1)]
    envelopes: list[Envelope] = [from_wire(line.encode()) for line in wire]
    assert any(isinstance(one.event, CallStarted) for one in envelopes)
    state = fold("s", envelopes)
    assert state.undone == {"w"}
    assert state.undoable() == []


# --- nobody guesses by a tool's name ---

TOOLS = frozenset(
    """
    read_file read_many_files list_directory glob grep_search write_file replace run_shell_command web_fetch web_search
    write_todos ask_user save_memory undo list_mcp_resources read_mcp_resource list_background_processes
    read_background_output stop_background_process
    """.split()  # noqa: SIM905
)


def _python_guesses(path: Path) -> list[str]:
    """Tables that are keyed by tools' names, and comparisons with one."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
                named = [one.value for one in parts if isinstance(one, ast.Constant)]
            case ast.Dict(keys=parts):
                named = [one.value for one in parts if isinstance(one, ast.Constant)]
            case ast.Compare(left=left, comparators=parts):
                named = [one.value for one in (left, *parts) if isinstance(one, ast.Constant)]
            case _:
                continue
        found += [f"{path.name}:{node.lineno}: {name}" for name in named if name in TOOLS]
    return found


@pytest.mark.parametrize("package", ["front", "session", "scheduler", "agent"])
def test_nobody_has_a_table_of_tools(package: str):
    files = [path for path in (HERE / package).rglob("*.py") if "tour" not in path.parts]
    assert files
    assert [guess for path in files for guess in _python_guesses(path)] == []


def test_the_page_compares_with_no_tool():
    comparison = re.compile(r'(?:===|!==|case|\.tool\b.*)\s*"(\w+)"')
    pages = list((HERE / "front/web/page/js").glob("*.js"))
    assert pages
    guesses = [name for path in pages for name in comparison.findall(path.read_text()) if name in TOOLS - {"undo"}]
    assert guesses == []
