"""The API on a real server with a log on disk: sessions, messages, decisions, the inbox over all sessions."""

import asyncio
import re
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from assent.client import Api, ApiProblem
from assent.commands import Answer, Submit
from assent.events import CallFinished, PromptSubmitted, TurnFinished
from assent.session.runner import create_session
from support.program import Program, asks_for, says, shell, write
from support.served import Json, Served, ServedProgram, refused, until_event, until_idle, until_waiting
from support.waiting import WAIT_LIMIT


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


@pytest.fixture
def api(served: Served) -> Api:
    return served.api()


async def begun(api: Api) -> Json:
    """A session whose first call waits."""
    session = await api.create(prompt="go")
    return (await until_waiting(api, session["id"]))[0]


# --- sessions ---


@pytest.mark.spec("H1")
async def test_a_prompt_runs_to_its_end_with_an_answer_in_the_middle(served: Served, api: Api):
    waiting = await begun(api)
    session = waiting["session"]["id"]
    taken = await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
    assert taken["state"] == "taken"
    events = await until_event(api, session, "turn.finished")
    assert (served.folder / "a.txt").read_text() == "hello\n"
    assert [envelope.seq for envelope in events if envelope.seq] == list(range(1, events[-1].seq + 1))
    snapshot = await until_idle(api, session)
    assert (snapshot["session"]["status"], snapshot["open_prompt"], snapshot["calls"]) == ("idle", None, [])


@pytest.mark.spec("H1")
async def test_an_archived_session_leaves_the_list_is_found_and_comes_back_with_a_prompt(served: Served, api: Api):
    kept, put_away = [(await api.create(title=title))["id"] for title in ("kept", "put away")]
    await api.change(put_away, archived=True)

    async def ids(archived: str) -> list[str]:
        listed = await api.sessions(archived=archived)
        assert listed["total"] == len(listed["sessions"])
        return [one["id"] for one in listed["sessions"]]

    assert (await ids("no"), await ids("only")) == ([kept], [put_away])
    assert set(await ids("all")) == {kept, put_away}
    assert (await api.sessions())["archived"] == 1
    copy = (await api.fork(put_away))["id"]
    assert set(await ids("no")) == {kept, copy}
    await api.change(put_away, archived=False)
    assert await ids("only") == []
    await api.change(put_away, archived=True)
    await api.say(put_away, "go on")
    await until_event(api, put_away, "prompt.submitted")
    assert await ids("only") == []


@pytest.mark.spec("H1")
async def test_sessions_are_listed_renamed_forked_and_deleted(api: Api):
    first = await api.create(title="one")
    second = await api.create()
    await api.change(second["id"], title="two", mode="auto_edit")
    fork = await api.fork(second["id"])
    listed = (await api.sessions())["sessions"]
    found = {(item["title"], item["mode"]) for item in listed}
    assert found == {("one", "default"), ("two", "auto_edit"), ("two (fork)", "auto_edit")}
    for session in (first, second, fork):
        await api.delete(session["id"])
    assert (await api.sessions())["total"] == 0
    assert (await refused(api.snapshot(first["id"]))).kind == "not-found"


@pytest.mark.spec("H1")
async def test_a_new_session_has_its_title_at_once_and_keeps_it(api: Api):
    made = await api.create(title="  fix\nthe total ", prompt="go")
    assert made["title"] == "fix the total"
    await until_waiting(api, made["id"])
    assert (await api.snapshot(made["id"]))["session"]["title"] == "fix the total"


@pytest.mark.spec("H1")
async def test_events_can_be_read_from_any_number(api: Api):
    session = (await begun(api))["session"]["id"]
    everything = await api.history(session)
    for after in range(len(everything) + 1):
        assert await api.history(session, after) == everything[after:]


async def test_a_message_while_a_turn_runs_waits_in_the_queue_and_can_be_taken_back(api: Api):
    waiting = await begun(api)
    session = waiting["session"]["id"]
    key = await api.say(session, "and then?")
    async with asyncio.timeout(WAIT_LIMIT):
        while not (queued := (await api.snapshot(session))["queued"]):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert [item["key"] for item in queued] == [key]
    await api.ask("DELETE", f"/sessions/{session}/queue/{key}")
    assert (await api.snapshot(session))["queued"] == []
    assert (await refused(api.ask("DELETE", f"/sessions/{session}/queue/{key}"))).status == 409


async def test_cancelling_ends_the_turn_and_keeps_the_proposal(api: Api):
    waiting = await begun(api)
    session = waiting["session"]["id"]
    await api.cancel(session, "not now")
    events = await until_event(api, session, "turn.finished")
    finished = [envelope.event for envelope in events if isinstance(envelope.event, CallFinished)]
    assert [event.status for event in finished] == ["cancelled"]
    decided = api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
    assert (await refused(decided)).status == 410


@pytest.mark.spec("J9")
async def test_a_question_says_which_files_would_run_and_which_of_them_are_new(tmp_path: Path):
    async with Served(tmp_path) as served:
        (served.folder / "x.sh").write_text("true\n")
        session = await served.api().create(prompt="go", model=served.scenario(asks_for(shell("bash x.sh")), says("")))
        (waiting,) = await until_waiting(served.api(), session["id"])
        script = str(served.folder / "x.sh")
        assert waiting["approval"]["details"]["executes"] == [{"path": script, "sha256": sha256(b"true\n").hexdigest()}]
        assert waiting["approval"]["unapproved"] == [{"path": "x.sh"}]


async def test_files_grants_output_and_calls_can_be_looked_at(served: Served, api: Api):
    (served.folder / "main.py").write_text("x")
    waiting = await begun(api)
    session, call = waiting["session"]["id"], waiting["call_id"]
    assert await api.files(session, "mai") == ["main.py"]
    view = await api.get(f"/sessions/{session}/calls/{call}")
    assert view["call"]["type"] == "awaiting_approval"
    assert view["hunks"][0]["lines"] == [{"kind": "+", "text": "hello", "pieces": [["", "hello"]], "new": 1}]
    await api.decide(session, call, "proceed_always", waiting["approval"]["digest"])
    await until_event(api, session, "turn.finished")
    (granted,) = (await api.get(f"/sessions/{session}/grants"))["grants"]
    await api.ask("DELETE", f"/sessions/{session}/grants/{granted['grant']['id']}")
    assert (await api.get(f"/sessions/{session}/grants"))["grants"] == []
    output = await api.get(f"/sessions/{session}/calls/{call}/output", offset=4)
    assert (output["offset"], output["done"]) == (4, True)


@pytest.mark.spec("C2")
async def test_what_was_allowed_for_later_sessions_is_listed_and_revoked_in_any_of_them(served: Served, api: Api):
    waiting = await begun(api)
    lasting = next(scope for scope in waiting["approval"]["scopes"] if scope.get("lasts") == "folder")
    first, call, digest = waiting["session"]["id"], waiting["call_id"], waiting["approval"]["digest"]
    await api.decide(first, call, "proceed_always", digest, scope=lasting["id"])
    await until_event(api, first, "turn.finished")
    second = (await api.create())["id"]
    (granted,) = (await api.get(f"/sessions/{second}/grants"))["grants"]
    assert granted["grant"]["id"] == lasting["id"]
    eve = served.api(served.token("eve", "operator", "eve"))
    hers = (await eve.create())["id"]
    assert (await eve.get(f"/sessions/{hers}/grants"))["grants"] == []
    assert (await refused(eve.ask("DELETE", f"/sessions/{hers}/grants/{lasting['id']}"))).status == 404
    await api.ask("DELETE", f"/sessions/{second}/grants/{lasting['id']}")
    assert (await api.get(f"/sessions/{second}/grants"))["grants"] == []


async def test_a_folder_outside_the_roots_and_a_model_without_a_key_are_refused_with_a_reason(api: Api):
    assert "work below" in str(await refused(api.create(folder="/etc")))
    assert "work below" in str(await refused(api.create(folder="/etc/../etc/ssl")))
    assert "absolute path" in str(await refused(api.create(folder="/etc\0x")))
    assert "key" in str(await refused(api.create(model="gemini-2.5-pro")))


# --- decisions ---


@pytest.mark.spec("C10")
async def test_of_two_answers_the_first_wins_and_the_late_one_is_told_who_was_first(served: Served, api: Api):
    waiting = await begun(api)
    bob = served.api(served.token("bob", "approver"))
    where = (waiting["session"]["id"], waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
    answers = await asyncio.gather(api.decide(*where), bob.decide(*where), return_exceptions=True)
    (late,) = (answer for answer in answers if isinstance(answer, ApiProblem))
    assert (late.status, late.kind) == (409, "already-decided")
    winner = "bob" if isinstance(answers[0], ApiProblem) else "ann"
    assert late.more["by"] == f"{winner}@127.0.0.1"


@pytest.mark.spec("J3")
async def test_an_answer_to_something_else_than_what_is_asked_is_refused_with_the_new_digest(api: Api):
    waiting = await begun(api)
    where = (waiting["session"]["id"], waiting["call_id"])
    problem = await refused(api.decide(*where, "proceed_once", "0" * 64))
    assert (problem.status, problem.more["digest"]) == (412, waiting["approval"]["digest"])
    assert (await refused(api.decide(where[0], "nothing", "proceed_once", "x"))).status == 404


@pytest.mark.spec("J6")
async def test_part_of_a_diff_can_be_accepted_and_arguments_can_be_edited(served: Served, api: Api):
    (served.folder / "a.txt").write_text("".join(f"{n}\n" for n in range(40)))
    lines = "".join(f"{'x' if n in (2, 37) else n}\n" for n in range(40))
    model = served.scenario(asks_for(write("a.txt", lines)), says("Done."), name="two-hunks")
    session = (await api.create(model=model, prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    assert [hunk["number"] for hunk in waiting["hunks"]] == [0, 1]
    digest = waiting["approval"]["digest"]
    assert (await refused(api.decide(session, "write", "proceed_once", digest, hunks=[7]))).kind == "refused"
    await api.decide(session, "write", "proceed_once", digest, hunks=[1])
    await until_event(api, session, "turn.finished")
    changed = (served.folder / "a.txt").read_text().splitlines()
    assert (changed[2], changed[37]) == ("2", "x")


@pytest.mark.spec("A5")
@pytest.mark.parametrize("odd", ["../../sessions", "a/b", "%2F", "..", "a?b#c", "\u202e"])
async def test_a_call_is_reached_whatever_id_the_model_gave_it(served: Served, api: Api, odd: str):
    model = served.scenario(asks_for(write("a.txt", "hello\n", odd)), says("Done."), name="odd")
    session = (await api.create(model=model, prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    call = waiting["call_id"]
    assert re.fullmatch("call-[0-9a-f]{24}", call)
    assert (await api.get(f"/sessions/{session}/calls/{call}"))["call"]["type"] == "awaiting_approval"
    await api.decide(session, call, "proceed_once", waiting["approval"]["digest"])
    events = await until_event(api, session, "turn.finished")
    assert [e.event.call_id for e in events if isinstance(e.event, CallFinished)] == [call]
    assert (await api.get(f"/sessions/{session}/calls/{call}/output"))["done"]


async def test_the_same_key_has_no_second_effect_and_another_request_may_not_use_it(api: Api):
    one = await api.post("/sessions", {"prompt": "go"}, "key-1")
    again = await api.post("/sessions", {"prompt": "go"}, "key-1")
    assert one["id"] == again["id"]
    assert (await refused(api.post("/sessions", {"prompt": "stop"}, "key-1"))).status == 422
    (waiting,) = await until_waiting(api)
    first = await api.decide(one["id"], "write", "proceed_once", waiting["approval"]["digest"], key="key-2")
    second = await api.decide(one["id"], "write", "proceed_once", waiting["approval"]["digest"], key="key-2")
    assert first == second
    metrics = (await api.http.request("GET", "/metrics")).body
    assert b"\nassent_decisions_total 1\n" in metrics
    assert await api.say(one["id"], "more", "key-3") == await api.say(one["id"], "more", "key-3")
    await until_event(api, one["id"], "turn.finished")
    prompts = [e.event.text for e in await api.history(one["id"]) if isinstance(e.event, PromptSubmitted)]
    assert prompts.count("go") == 1 and prompts.count("more") <= 1


async def test_a_request_that_comes_twice_at_the_same_moment_is_answered_twice(api: Api):
    session = (await api.post("/sessions", {"prompt": "go"}))["id"]
    (waiting,) = await until_waiting(api)
    where = (session, "write", "proceed_once", waiting["approval"]["digest"])
    one, two = await asyncio.gather(api.decide(*where, key="key"), api.decide(*where, key="key"))
    assert one == two
    assert one["state"] == "taken"


@pytest.mark.spec("J1")
async def test_keys_are_remembered_over_a_restart(tmp_path: Path):
    async with Served(tmp_path) as served:
        api = served.api()
        session = (await api.post("/sessions", {"prompt": "go"}, "make"))["id"]
        copy = (await api.post(f"/sessions/{session}/fork", {}, "copy"))["id"]
        (waiting,) = await until_waiting(api, session)
        where = (session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
        taken = await api.decide(*where, key="answer")
        key = await api.say(session, "more", "say")
    async with Served(tmp_path) as served:
        api = served.api()
        assert (await api.post("/sessions", {"prompt": "go"}, "make"))["id"] == session
        assert (await api.post(f"/sessions/{session}/fork", {}, "copy"))["id"] == copy
        assert await api.decide(*where, key="answer") == taken
        assert await api.say(session, "more", "say") == key
        assert (await api.sessions())["total"] == 2
        for work in (
            api.post("/sessions", {"prompt": "stop"}, "make"),
            api.post(f"/sessions/{copy}/fork", {}, "copy"),
            api.decide(session, waiting["call_id"], "cancel", "", key="answer"),
            api.say(session, "other", "say"),
            api.say(copy, "more", "say"),
            api.post("/sessions", {}, "say"),
        ):
            problem = await refused(work)
            assert (problem.status, problem.kind) == (422, "invalid") and "key" in str(problem)
        prompts = [e.event.text for e in await api.history(session) if isinstance(e.event, PromptSubmitted)]
        assert prompts.count("go") == 1 and prompts.count("other") == 0


# --- the inbox over all sessions ---


@pytest.mark.spec("H3")
async def test_everything_that_waits_is_in_one_list_over_all_sessions(api: Api):
    sessions = [(await api.create(prompt="go"))["id"] for _ in range(3)]
    waiting = await until_waiting(api, count=3)
    assert [item["session"]["id"] for item in waiting] == sorted(
        sessions, key=[i["session"]["id"] for i in waiting].index
    )
    assert {item["approval"]["tool"] for item in waiting} == {"write_file"}
    await api.decide(sessions[1], "write", "cancel", "")
    left = {item["session"]["id"] for item in (await api.approvals())["approvals"]}
    assert left == {sessions[0], sessions[2]}


async def test_a_session_that_is_being_opened_here_is_at_work_and_not_elsewhere(api: Api):
    """Whoever waits for the end of what they just asked for must not read it in the first answer."""
    for _ in range(5):
        assert (await api.create(prompt="go"))["status"] in ("running", "waiting")
    calm = await api.create()
    assert (calm["status"], (await api.fork(calm["id"]))["status"]) == ("idle", "idle")


@pytest.mark.spec("H3")
async def test_a_session_of_another_process_is_shown_and_can_be_answered(served: Served, api: Api, tmp_path: Path):
    program = Program(tmp_path / "other")
    model = program.scenario(asks_for(shell("touch made.txt")), says("Done."))
    env = {"ASSENT_HOME": str(served.home)}
    with program.start("-p", "go", "-m", model, "--ask", "wait", "-o", "stream-json", env=env) as running:
        await asyncio.to_thread(running.until_type, "approval.requested")
        (waiting,) = await until_waiting(api)
        session = waiting["session"]
        assert session["status"] == "elsewhere"
        assert (await refused(api.resume(session["id"]))).kind == "busy"
        assert (await refused(api.delete(session["id"]))).kind == "busy"
        follow = asyncio.create_task(until_event(api, session["id"], "turn.finished"))
        taken = await api.decide(session["id"], "run", "proceed_once", waiting["approval"]["digest"])
        assert taken["state"] == "taken"
        events = await follow
        assert [envelope.seq for envelope in events] == list(range(1, len(events) + 1))
        assert (await asyncio.to_thread(running.wait)).code == 0
    assert (program.folder / "made.txt").exists()


# --- parking ---


@pytest.mark.spec("J1")
async def test_a_session_that_only_waits_is_parked_and_an_answer_wakes_it(tmp_path: Path):
    async with Served(tmp_path, linger=0.0) as served:
        api = served.api()
        waiting = await begun(api)
        engine = served.server.app_state.engine
        async with asyncio.timeout(WAIT_LIMIT):
            while engine.open_sessions:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert (await api.approvals())["total"] == 1
        session = waiting["session"]["id"]
        await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
        await until_event(api, session, "turn.finished")
        assert (served.folder / "a.txt").exists()


@pytest.mark.spec("J1")
async def test_an_answer_from_the_terminal_wakes_a_parked_session(tmp_path: Path):
    async with Served(tmp_path, linger=0.0) as served:
        api = served.api()
        waiting = await begun(api)
        session = waiting["session"]["id"]
        async with asyncio.timeout(WAIT_LIMIT):
            while served.server.app_state.engine.open_sessions:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        program = Program(tmp_path / "terminal")
        ended = await program.run_beside("answer", session, "write", "yes", env={"ASSENT_HOME": str(served.home)})
        assert ended.code == 0
        await until_event(api, session, "turn.finished")
        assert (served.folder / "a.txt").exists()


@pytest.mark.spec("J1")
async def test_killed_while_an_approval_waits_the_server_comes_back_and_the_answer_runs_once(tmp_path: Path):
    program = Program(tmp_path)
    model = program.scenario(asks_for(shell("echo once >> runs.txt")), says("Done."))
    served = ServedProgram(program, model)
    api = await asyncio.to_thread(served.start)
    session = (await api.create(folder=str(program.folder), prompt="go"))["id"]
    (before,) = await until_waiting(api)
    served.kill()
    await api.close()
    api = await asyncio.to_thread(served.start)
    (after,) = await until_waiting(api)
    assert after["approval"]["digest"] == before["approval"]["digest"]
    await api.decide(session, "run", "proceed_once", after["approval"]["digest"])
    await until_event(api, session, "turn.finished")
    assert (program.folder / "runs.txt").read_text() == "once\n"
    problem = await refused(api.decide(session, "run", "proceed_once", after["approval"]["digest"]))
    assert problem.kind == "already-decided"
    await api.close()
    served.kill()


@pytest.mark.spec("J1")
async def test_what_was_accepted_before_a_kill_is_carried_out_after_it(tmp_path: Path):
    program = Program(tmp_path)
    served = ServedProgram(program, program.scenario(says("Hello."), says("Again.")))
    api = await asyncio.to_thread(served.start)
    session = (await api.create(folder=str(program.folder)))["id"]
    await api.say(session, "hi")
    served.kill()
    await api.close()
    api = await asyncio.to_thread(served.start)
    await api.resume(session)
    events = await until_event(api, session, "turn.finished")
    assert [e.event.text for e in events if isinstance(e.event, PromptSubmitted)] == ["hi"]
    await api.close()
    served.kill()


# --- commands of our own clients ---


async def test_any_command_can_be_sent_and_is_signed_by_the_server(api: Api):
    session = (await api.create())["id"]
    key = await api.send(session, Submit("go", by="someone else"))
    events = await until_event(api, session, "prompt.submitted")
    submitted = events[-1].event
    assert isinstance(submitted, PromptSubmitted)
    assert (submitted.key, submitted.by) == (key, "ann@127.0.0.1")
    (waiting,) = await until_waiting(api, session)
    await api.send(session, Answer(call_id="write", outcome="proceed_once", digest=waiting["approval"]["digest"]))
    ended = (await until_event(api, session, "turn.finished"))[-1].event
    assert isinstance(ended, TurnFinished) and ended.status == "completed"


async def test_a_session_made_by_the_terminal_can_be_resumed_here(served: Served, api: Api):
    session = await create_session(served.log, str(served.folder), served.scenario(says("Hi."), name="hi"), "default")
    assert (await api.resume(session))["id"] == session
    await api.say(session, "hello")
    await until_event(api, session, "turn.finished")


@pytest.mark.spec("D2")
async def test_a_line_is_typed_into_a_command_once_and_only_for_the_prompt_that_was_seen(tmp_path: Path):
    program = 'read -r -p "First: " a; read -r -p "Second: " b; echo "${#a} ${#b}"'
    async with Served(tmp_path) as served:
        api = served.api()
        served.scenario(asks_for(shell(program)), says("Done."))
        waiting = await begun(api)
        session, call = waiting["session"]["id"], waiting["call_id"]
        assert (await refused(api.type_in(session, call, 0, "early"))).kind == "refused"
        await api.decide(session, call, "proceed_once", waiting["approval"]["digest"])
        for number, text in enumerate(("one", "three")):
            wanted = await until_wanted(api, session, number)
            assert wanted["prompt"] == ("First: ", "Second: ")[number]
            await api.type_in(session, call, number, text)
            assert (await refused(api.type_in(session, call, number, text))).kind == "refused"
        finished = await until_event(api, session, "call.finished")
        assert "3 5" in str(finished[-1].event)
        approver = served.api(served.token("bob", "approver"))
        assert (await refused(approver.type_in(session, call, 0, "x"))).kind == "forbidden"


async def until_wanted(api: Api, session: str, number: int) -> Json:
    """What a command waits for, when it is at this prompt."""
    async with asyncio.timeout(WAIT_LIMIT):
        while True:
            calls = (await api.snapshot(session))["calls"]
            wanted = calls[0]["call"].get("wanted") if calls else None
            if wanted is not None and wanted["number"] == number:
                return wanted
            await asyncio.sleep(0.02)


@pytest.mark.spec("D6")
async def test_background_commands_are_listed_and_stopped(tmp_path: Path):
    call = shell("exec sleep 1000")
    async with Served(tmp_path) as served:
        api = served.api()
        served.scenario(asks_for({**call, "args": {**call["args"], "is_background": True}}), says("Done."))
        waiting = await begun(api)
        session, call_id = waiting["session"]["id"], waiting["call_id"]
        await api.decide(session, call_id, "proceed_once", waiting["approval"]["digest"])
        await until_event(api, session, "turn.finished")
        ((listed),) = (await api.background(session))["background"]
        assert (listed["call_id"], listed["command"], listed["outcome"]) == (call_id, "exec sleep 1000", "")
        assert (await api.stop_background(session, call_id))["state"] == "taken"
        assert (await api.background(session))["background"][0]["outcome"] == "stopped"
        assert (await refused(api.stop_background(session, call_id))).kind == "refused"
        assert (await refused(api.stop_background(session, "other"))).kind == "not-found"
