"""`assent policy` and `assent trust` from outside: rows J4, J5, C8, I4."""

import json
import re
from pathlib import Path

import pytest

from assent.policy.trust import TrustStore
from support.program import Program, asks_for, replace, says, shell, write
from support.terminal import Terminal


def answers(program: Program, action: str, *requests: object) -> list[dict[str, object]]:
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    ended = program.run("policy", action, "--jsonl", stdin=lines)
    assert ended.code == 0
    return [json.loads(line) for line in ended.out.splitlines()]


@pytest.mark.spec("C8")
def test_check_answers_every_line_of_commands(program: Program):
    found = answers(
        program,
        "check",
        {"command": "ls | head", "allow": ["ls", "head"]},
        {"command": "ls; curl x | sh", "allow": ["ls"]},
        {"command": "git push", "allow": ["git"], "deny": ["git push"]},
        "no object",
        {"command": "\ud800"},
    )
    assert [line["decision"] for line in found] == ["allow", "ask", "deny", "ask", "ask"]
    assert set(found[0]) == {"decision", "roots", "inner", "risk", "reasons"}
    assert found[1]["roots"] == ["ls", "curl", "sh"]


def test_an_answer_is_one_line_for_every_reader(program: Program):
    odd = [{"command": f"ls{one}x", "allow": ["ls"]} for one in "\u2028\u0085\u2029\x0c\ud800"]
    assert [line["decision"] for line in answers(program, "check", *odd)] == ["ask"] * 5


def test_check_path_and_check_text_answer_every_line(program: Program):
    root = str(program.folder)
    paths = [("a", "read"), ("../a", "write"), (".git/config", "write"), ("a\0b", "read")]
    requests = [{"roots": [root], "cwd": root, "path": path, "op": op} for path, op in paths]
    found = answers(program, "check-path", *requests)
    assert [line["decision"] for line in found] == ["inside", "outside", "protected", "reject"]
    (text,) = answers(program, "check-text", {"text": "a\x1b[2Jb", "context": "prompt"})
    assert text == {"text": "a\\x1b[2Jb", "suspicious": ["terminal escape sequence"]}


@pytest.mark.spec("J5")
def test_check_with_a_command_behind_it_says_how_to_ask_about_one(program: Program):
    ended = program.run("policy", "check", "ls")
    assert ended.code == 42 and "assent policy explain" in ended.err


def test_policy_and_mcp_alone_list_what_there_is(program: Program):
    assert "No rules of your own" in program.run("policy").out
    assert "No MCP servers" in program.run("mcp").out
    assert "assent serve token add" in program.run("serve", "token", "list").out


def test_explain_says_which_rule_decides_each_part_in_words(program: Program):
    ended = program.run("policy", "explain", "--", "git log | head")
    assert ended.code == 0
    assert "allow `git log`  by allow rule `git log`: `git log` shows history" in ended.out
    assert "without a shell, in the sandbox `read-only`." in ended.out
    asked = program.run("policy", "explain", "--", "git log | sh")
    assert asked.out.startswith("ask: No rule allows `sh`.")
    assert "risk: medium" in asked.out
    call = program.run("policy", "explain", "--tool", "write_file", "--args", '{"file_path": "a.py", "content": "x"}')
    assert call.out.startswith("ask: changing files needs approval in this mode.")


@pytest.mark.spec("J5")
def test_a_rule_file_decides_and_is_named_and_a_wrong_one_stops_everything(program: Program):
    (program.home).mkdir(exist_ok=True)
    rules = program.home / "policy.toml"
    rules.write_text('[[rule]]\ncommand = "echo"\ndecision = "deny"\nmessage = "Be quiet."\n')
    assert program.run("policy", "explain", "--", "echo hi").out.startswith("deny: ")
    assert f"{rules}:1" in program.run("policy", "list").out
    model = program.scenario(asks_for(shell("echo hi")), says("Done."))
    ended = program.run("-p", "go", "-m", model, "--approval-mode", "yolo", "-o", "stream-json")
    assert program.events_of_type("call.finished")[0]["failure"]["type"] == "policy_violation"
    assert ended.result["status"] == "success"
    rules.write_text('[[rule]]\ncomand = "echo"\ndecision = "deny"\n')
    wrong = program.run("-p", "go", "-m", model, "-o", "json")
    assert wrong.code == 52
    assert f"{rules}:2" in wrong.out


@pytest.mark.spec("J5")
def test_replay_shows_what_yesterdays_calls_would_get_today(program: Program):
    model = program.scenario(asks_for(shell("echo x > y", "one"), shell("ls", "two")), says("Done."))
    program.run("-p", "go", "-m", model, "--approval-mode", "yolo")
    (program.home / "policy.toml").write_text('[[rule]]\ncommand = "ls"\ndecision = "deny"\n')
    shown = program.run("policy", "replay")
    assert "! allow   → deny  run_shell_command ls" in shown.out
    assert shown.out.splitlines()[-1] == "2 calls, 1 would be judged differently now"


@pytest.mark.spec("J5")
def test_replay_judges_edits_by_what_the_log_has_of_them_and_in_the_mode_of_their_moment(program: Program):
    (program.folder / "notes.txt").write_text("one\n")
    edits = replace("notes.txt", "one", "two"), write("gone/new.txt", "x\n")
    model = program.scenario(asks_for(*edits), says("Done."), asks_for(shell("echo x > y")), says("Done."))
    program.run("-p", "go", "-m", model, "--approval-mode", "auto_edit")
    program.run("-p", "go on", "-m", model, "--resume", "--approval-mode", "yolo")
    (program.folder / "notes.txt").unlink()
    shown = program.run("policy", "replay")
    assert shown.code == 0
    assert shown.out.splitlines() == [
        "  allow   → allow replace notes.txt: auto_edit mode allows edits inside the workspace",
        "  allow   → allow write_file gone/new.txt: auto_edit mode allows edits inside the workspace",
        "  allow   → allow run_shell_command echo x > y: yolo mode allows everything",
        "3 calls, 0 would be judged differently now",
    ]
    (program.home / "policy.toml").write_text('[[rule]]\npath = "*.txt"\ndecision = "ask"\n')
    assert "! allow   → ask   replace notes.txt: " in program.run("policy", "replay").out


@pytest.mark.spec("J5")
def test_replay_and_explain_know_the_grants_of_the_session_as_they_were_and_as_they_are(program: Program):
    (program.folder / "add.py").write_text("print('x', file=open('canary', 'a'))")
    once = shell("python3 add.py", "one"), shell("python3 add.py", "two"), shell("touch z", "no")
    replies = [asks_for(once[0]), asks_for(once[1]), asks_for(once[2]), says("Done.")]
    with program.start("-p", "go", "-m", program.scenario(*replies), "--ask", "wait", "-o", "stream-json") as running:
        session = running.until_type("approval.requested")["session"]
        program.run("answer", session, "one", "always")
        running.until_type("approval.requested")
        program.run("answer", session, "no", "no")
        running.wait()
    elsewhere = program.folder.parent / "elsewhere"
    elsewhere.mkdir()
    explain = ("policy", "explain", "--session", session, "--", "python3 add.py")
    assert program.run(*explain, cwd=elsewhere).out.startswith("allow: granted before")
    assert program.run("policy", "explain", "--", "python3 add.py").out.startswith("ask: ")
    (grant,) = [event["grant"]["id"] for event in program.events_of_type("grant.added")]
    program.run("policy", "revoke", session, grant)
    program.run("-p", "again", "-m", program.scenario(says("Done.")), "--resume", session)
    assert program.run(*explain, cwd=elsewhere).out.startswith("ask: ")
    lines = program.run("policy", "replay", session, cwd=elsewhere).out.splitlines()
    assert [line[:17] for line in lines[:3]] == ["  ask     → ask  ", "  allow   → allow", "  ask     → ask  "]
    assert lines[-1] == "3 calls, 0 would be judged differently now"


@pytest.mark.spec("J5")
def test_explain_judges_in_the_folder_and_the_mode_of_the_session(program: Program):
    model = program.scenario(says("Done."))
    program.run("-p", "go", "-m", model, "--approval-mode", "auto_edit")
    (session,) = program.sessions()
    elsewhere = program.folder.parent / "elsewhere"
    elsewhere.mkdir()
    call = ("policy", "explain", "--tool", "write_file", "--args", '{"file_path": "a.py", "content": "x"}')
    assert program.run(*call, "--session", session, cwd=elsewhere).out.startswith("allow: auto_edit mode")
    assert program.run(*call, "--session", session, "--mode", "plan", cwd=elsewhere).out.startswith("deny: plan mode")
    outside = json.dumps({"file_path": str(elsewhere / "a.py"), "content": "x"})
    assert program.run(*call[:-1], outside, "--session", session, cwd=elsewhere).code == 42
    assert program.run(*call[:-1], outside, cwd=elsewhere).out.startswith("ask: ")


@pytest.mark.spec("C7")
def test_explain_says_what_an_address_would_get_and_asks_nobody_for_it(program: Program):
    fetch = ("policy", "explain", "--tool", "web_fetch", "--args")
    assert program.run(*fetch, '{"prompt": "https://nowhere.invalid/a"}').out.startswith("ask: web requests")
    program.home.mkdir(exist_ok=True)
    rule = '[[rule]]\ntool = "web_fetch"\ndomain = "nowhere.invalid"\ndecision = "allow"\n'
    (program.home / "policy.toml").write_text(rule)
    assert program.run(*fetch, '{"prompt": "https://nowhere.invalid/a"}').out.startswith("allow: ")
    refused = program.run(*fetch, '{"prompt": "http://127.0.0.1/"}')
    assert (refused.code, refused.out) == (42, "")
    assert "127.0.0.1" in refused.err
    (program.home / "policy.toml").write_text(rule.replace("nowhere.invalid", "com"))
    assert "'com' is not a domain" in program.run("policy", "list").err


@pytest.mark.spec("J4")
def test_how_often_a_lasting_grant_was_used_is_said_only_for_the_session_that_counts_it(program: Program):
    calls = (asks_for(shell("touch made", "one")), asks_for(shell("touch made", "two")))
    with program.start(
        "-p", "go", "-m", program.scenario(*calls, says("Done.")), "--ask", "wait", "-o", "stream-json"
    ) as running:
        session = running.until_type("approval.requested")["session"]
        state = program.run("sessions", "show", session).out
        number = next(line for line in state.splitlines() if "This folder, from now on" in line).split("--scope ")[1]
        assert program.run("answer", session, "one", "always", "--scope", number.split(":")[0]).code == 0
        running.wait()
    alone = program.run("policy", "list").out
    assert "Exactly `touch made`" in alone and "used" not in alone
    assert "used 1 time in this session" in program.run("policy", "list", "--session", session).out


@pytest.mark.spec("J4")
def test_a_grant_is_listed_with_its_reach_and_can_be_revoked(program: Program):
    (program.folder / "add.py").write_text("print('x', file=open('canary', 'a'))")
    again = asks_for(shell("python3 add.py", "two"))
    model = program.scenario(asks_for(shell("python3 add.py", "one")), says("Done."), again, says("Done."))
    with program.start("-p", "go", "-m", model, "--ask", "wait", "-o", "stream-json") as running:
        session = running.until_type("approval.requested")["session"]
        answered = program.run("answer", session, "one", "always", "--minutes", "5", "--uses", "3")
        assert answered.code == 0
        running.wait()
    listed = program.run("policy", "list", "--session", session).out
    assert f"0 of 3 uses: Exactly `python3 add.py`, and nothing else, in {program.folder}, for this session." in listed
    assert "used" not in program.run("policy", "list").out
    (grant,) = [event["grant"]["id"] for event in program.events_of_type("grant.added")]
    assert re.fullmatch("[0-9a-f]{16}", grant), "a person types it; with a dash in front it would be an option"
    assert "Recorded" in program.run("policy", "revoke", session, grant).out
    ended = program.run("-p", "again", "--resume", session, "-o", "stream-json")
    assert ended.result["stats"]["decisions"] == {}
    assert (program.folder / "canary").read_text() == "x\n"
    assert program.run("policy", "revoke", session, grant).code == 42


@pytest.mark.spec("I4")
def test_the_configuration_of_a_folder_counts_only_after_it_was_trusted(program: Program):
    (program.folder / ".assent").mkdir()
    (program.folder / ".assent" / "policy.toml").write_text('[[rule]]\ntool = "write_file"\ndecision = "allow"\n')
    call = ("policy", "explain", "--tool", "write_file", "--args", '{"file_path": "a.py", "content": "x"}')
    assert program.run(*call).out.startswith("ask: ")
    assert program.run("trust").code == 130, "nobody is there to agree"
    assert program.run("trust", "--yes").code == 0
    assert program.run(*call).out.startswith("allow: ")
    with (program.folder / ".assent" / "policy.toml").open("a") as file:
        file.write("# changed\n")
    assert program.run(*call).out.startswith("ask: ")


def _with_settings(program: Program, text: str) -> None:
    (program.folder / ".assent").mkdir(exist_ok=True)
    (program.folder / ".assent" / "settings.toml").write_text(text)


def test_a_folder_with_invalid_settings_is_not_trusted_and_remains_usable(program: Program):
    _with_settings(program, "[tools]\n\n[mcp.servers]\n")
    assert program.run("trust", "--yes").code == 0
    _with_settings(program, 'approval_mode = "plan"\n')
    ended = program.run("trust", "--yes")
    own = f"{program.home}/settings.toml"
    said = f"line 1: `approval_mode` cannot be set by a folder, only in your own settings, {own}"
    assert ended.code == 52 and said in ended.err
    ran = program.run("-p", "go", "-m", program.scenario(says("Done.")))
    assert ran.code == 0 and "settings.toml is not used: the folder is changed" in ran.err


def test_what_is_trusted_but_can_no_longer_be_read_is_left_out_if_it_only_adds_tools(program: Program):
    """As after an update that knows other settings: the store has the hash, but the file is not valid any more."""
    model = program.scenario(says("Done."))
    _with_settings(program, "[tools]\nno_such = 1\n")
    _trust_unseen(program)
    ran = program.run("-p", "go", "-m", model)
    assert ran.code == 0 and "there is no setting `tools.no_such`; nothing in this file is used" in ran.err
    _with_settings(program, "max_turns = 3\n")
    _trust_unseen(program)
    ran = program.run("-p", "go", "-m", model)
    assert ran.code == 52 and "`max_turns` cannot be set by a folder" in ran.err, "it may be a restriction"
    assert program.run("trust").code == 52


def _trust_unseen(program: Program) -> None:
    store = TrustStore(Path(program.home) / "trust.json")
    store.trust(program.folder, store.look(program.folder))


def test_a_folder_without_configuration_has_nothing_to_be_trusted(program: Program):
    ended = program.run("trust")
    assert (ended.code, "nothing to trust" in ended.out) == (0, True)


def test_replay_judges_an_undo_too(program: Program):
    model = program.scenario(asks_for(write("a.txt", "x\n")), says("Done."))
    program.run("-p", "go", "-m", model, "--approval-mode", "auto_edit")
    program.run("undo", "latest")
    replayed = program.run("policy", "replay").out
    assert "cannot be judged" not in replayed and replayed.count("→ allow") == 2


def test_replay_does_not_wonder_about_what_a_person_ran_themselves(program: Program):
    with Terminal(program, "-m", program.scenario(says("Done.")), size=(120, 40)) as terminal:
        terminal.until("Ask something about this folder")
        terminal.type("!touch mine\r")
        terminal.until("✓ run_shell_command  touch mine")
    assert "1 calls, 0 would be judged differently now" in program.run("policy", "replay").out


def test_a_prompt_without_its_flag_is_told_where_it_belongs(program: Program):
    ended = program.run("fix", "it's test")
    assert ended.code == 42 and "unknown command 'fix'" in ended.err and "assent -p 'fix it" in ended.err


def test_a_single_word_is_told_how_to_be_a_prompt_and_a_mistyped_command_what_it_may_be(program: Program):
    ended = program.run("slow")
    assert ended.code == 42 and "as the prompt: assent -- slow\n" in ended.err and "assent -p slow\n" in ended.err
    assert "did you mean 'sessions'?" in program.run("sesions", "list").err
    assert "assent -- hello" in program.run("--help").out
    assert "`assent login` has stored no key for mistral" in program.run("logout", "mistral").err


def test_a_folder_that_is_not_there_cannot_be_trusted(program: Program):
    ended = program.run("trust", "nowhere", "--yes")
    assert ended.code == 42
    assert "nowhere is not a folder" in ended.err


def test_what_an_untrusted_folder_writes_does_not_reach_the_terminal_raw(program: Program):
    (program.folder / ".assent").mkdir()
    (program.folder / ".assent" / "policy.toml").write_text('[[rule]]\n"x\\u001b[2J" = 1\ndecision = "deny"\n')
    ended = program.run("policy", "list")
    assert ended.code == 52
    assert "\x1b" not in ended.err and "\\x1b[2J" in ended.err


@pytest.mark.spec("J9")
def test_explain_names_the_files_that_would_run_and_are_not_approved(program: Program):
    (program.folder / "Makefile").write_text("all:\n\ttrue\n")
    assert "files: it runs Makefile, which you have not approved yet." in program.run("policy", "explain", "make").out
    assert "files:" not in program.run("policy", "explain", "ls").out
