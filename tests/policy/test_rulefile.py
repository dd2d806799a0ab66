"""Rule files: taken whole or refused with file and line. Rows C7, J5."""

import os
from pathlib import Path

import pytest

from assent.policy.rulefile import load_rules, parse_rules
from assent.policy.rulefile_words import in_words
from assent.policy.rules import BadRule, parse_allowed

TOOLS = ("read_file", "write_file", "run_shell_command", "web_fetch")


def parse(text: str):
    return parse_rules(text.encode(), "p.toml", "user", TOOLS)


@pytest.mark.spec("C7")
def test_a_rule_has_everything_that_can_be_said():
    (rule,) = parse(
        """
        # a comment
        [[rule]]
        tool = "run_shell_command"
        command = "git push"
        mode = ["default", "yolo"]
        decision = "deny"
        message = "Push by hand."
        note = "since the incident"
        priority = 700
        """
    )
    assert (rule.ruling, rule.tool, rule.command) == ("deny", "run_shell_command", ("git", "push"))
    assert (rule.modes, rule.message, rule.note) == (("default", "yolo"), "Push by hand.", "since the incident")
    assert (rule.priority, rule.tier, rule.place) == (700, "user", "p.toml:3")


def test_several_tools_and_commands_are_several_rules():
    rules = parse('[[rule]]\ntool = ["read_file", "write_file"]\ndecision = "ask"\npath = "x/**"\n')
    assert [rule.tool for rule in rules] == ["read_file", "write_file"]
    rules = parse('[[rule]]\ncommand = ["git push", "npm publish"]\ndecision = "deny"\n')
    assert [rule.command for rule in rules] == [("git", "push"), ("npm", "publish")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[[rule]]\ndecision = "deny"\n\n[[rule]]\ntool = "x"\n\ncomand = "y"\ndecision = "deny"\n',
            r"p\.toml:7: rule 2 \(line 4\): there is no key `comand`",
        ),
        (
            '[[rule]]\ndecision = "never"\n',
            r"p\.toml:2: rule 1 \(line 1\): `decision` must be allow, ask or deny, not 'never'",
        ),
        ('[[rule]]\ntool = "read_file"\n', r"p\.toml:1: rule 1 \(line 1\): `decision` is missing: allow, ask or deny"),
        (
            '\n[[rule]]\ntool = "wirte_file"\ndecision = "deny"\n',
            r"p\.toml:2: there is no tool 'wirte_file'; did you mean",
        ),
        ('[[rule]]\ndecision = "deny"\npriority = 5000\n', r"p\.toml:1: priority must be"),
        ('[rule]\ndecision = "deny"\n', r"p\.toml:1: .*contains only \[\[rule\]\] tables"),
        ('[[rules]]\ndecision = "deny"\n', r"p\.toml:1: .*tables, one for each rule, and no `rules`"),
        ("[[rule]]\ndecision = \n", r"p\.toml:2"),
        ('[[rule]]\ndecision = "deny"\n\n[[rule]]\ndecision = "never"\n', r"p\.toml:5: rule 2 \(line 4\): `decision`"),
        ('[[rule]]\ndecision = "deny"\ndomain = "com"\n', r"p\.toml:1: 'com' is not a domain"),
        ('[[rule]]\ndecision = "deny"\npath = "**/**/**/**/**/x"\n', r"more than four"),
        (f'[[rule]]\ndecision = "deny"\npath = "{"x" * 1001}"\n', r"too long"),
        ('[[rule]]\ndecision = "deny"\ncommand = "ls"\nargument = "x"\n', r"cannot also name"),
        ('[[rule]]\ndecision = "deny"\ncommand = "ls"\ndomain = "a.org"\n', r"cannot also name"),
        (
            '[[rule]]\ndecision = "deny"\nmode = "fast"\n',
            r"p\.toml:3: rule 1 .*: `mode` must be default, auto_edit, auto_try, contained, plan or",
        ),
        (
            '[[rule]]\ntool = 3\ndecision = "deny"\n',
            r"p\.toml:2: rule 1 .*: `tool` must be text or a list, not a whole number",
        ),
        (
            '[[rule]]\ndecision = "deny"\nexamples = { match = "x" }\n',
            r":3: .*`examples.match` must be a list, not text",
        ),
        ('[[rule]]\ndecision = "deny"\nexamples = { mtch = [] }\n', r"there is no key `examples.mtch`"),
        ("rule = [1]\n", r"p\.toml:1: rule 1 \(line 1\): a rule must be a table, not a whole number"),
        ("[[rule]]\ndecision =", r"p\.toml:2: "),
        ("[[rule]]\ndecision\n", r"p\.toml:2: Expected '='"),
        ("x = \n", r"p\.toml:1: Invalid value"),
    ],
)
def test_an_error_in_a_rule_file_names_file_and_line(text: str, message: str):
    with pytest.raises(BadRule, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("Too odd - at `$.rule[0].tool`", "p.toml:2: rule 1 (line 1): `tool`: Too odd"),
        ("Too odd - at `$.rule[0]`", "p.toml:1: rule 1 (line 1): Too odd"),
        ("Object missing required field `tool` - at `$.rule[0]`", "p.toml:2: rule 1 (line 1): `tool` is missing"),
    ],
)
def test_an_unknown_decoder_error_is_passed_on_unchanged(problem: str, said: str):
    assert in_words(problem, '[[rule]]\ntool = "x"\n', "p.toml") == said


def test_a_file_that_is_not_text_is_refused():
    with pytest.raises(BadRule, match=r"p\.toml"):
        parse_rules(b"\xff\xfe", "p.toml", "user", TOOLS)


@pytest.mark.parametrize("kind", ["link", "pipe", "device", "huge"])
def test_only_an_ordinary_file_of_a_sensible_size_is_read(tmp_path: Path, kind: str):
    path = tmp_path / "policy.toml"
    match kind:
        case "link":
            path.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(path)
        case "device":
            path = Path("/dev/null")
        case _:
            path.write_bytes(b"#" * 1_000_001)
    with pytest.raises(BadRule, match="cannot read the rules"):
        load_rules(path, "workspace", TOOLS)


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ('command = "git push"\ndecision = "deny"\nexamples = { match = ["git push -f", "sudo git push"] }', None),
        ('command = "git push"\ndecision = "deny"\nexamples = { match = ["git pull"] }', "should match but does not"),
        ('command = "git"\ndecision = "deny"\nexamples = { not_match = ["git pull"] }', "should not match but does"),
        ('command = "find"\ndecision = "allow"\nexamples = { match = ["find . -name x"] }', None),
        (
            'command = "find"\ndecision = "allow"\nexamples = { match = ["find . -delete"] }',
            "should match but does not",
        ),
        ('argument = "https://a.*"\ndecision = "deny"\nexamples = { match = ["https://a.org"] }', None),
        (
            'argument = "https://a.*"\ndecision = "deny"\nexamples = { match = ["https://b"] }',
            "should match but does not",
        ),
        ('tool = "read_file"\ndecision = "deny"\nexamples = { match = ["read_file"] }', None),
        ('tool = "read_file"\ndecision = "deny"\nexamples = { not_match = ["write_file"] }', None),
        ('tool = "read_file"\ndecision = "deny"\nexamples = { match = ["write_file"] }', "should match but does not"),
        ('command = "git push"\ndecision = "ask"\nexamples = { match = ["ls && git push"] }', None),
        ('command = "git push"\ndecision = "ask"\nexamples = { match = ["npm x"] }', "should match but does not"),
        ('command = "ls"\ndecision = "allow"\nexamples = { not_match = ["ls && rm x"] }', None),
        ('command = ["a", "b"]\ndecision = "deny"\nexamples = { match = ["b"], not_match = ["c"] }', None),
        ('command = ["a", "b"]\ndecision = "deny"\nexamples = { not_match = ["a"] }', "should not match but does"),
    ],
)
def test_examples_are_tried_when_the_file_is_loaded(rule: str, problem: str | None):
    if problem is None:
        assert parse(f"[[rule]]\n{rule}\n")
    else:
        with pytest.raises(BadRule, match=problem):
            parse(f"[[rule]]\n{rule}\n")


def test_no_file_means_no_rules_and_an_unreadable_one_is_an_error(tmp_path: Path):
    assert load_rules(tmp_path / "none.toml", "user", TOOLS) == ()
    with pytest.raises(BadRule, match="cannot read the rules"):
        load_rules(tmp_path, "user", TOOLS)


@pytest.mark.spec("I4")
def test_a_folder_that_is_not_trusted_may_only_tighten(tmp_path: Path):
    path = tmp_path / "policy.toml"
    path.write_text(
        '[[rule]]\ntool = "write_file"\ndecision = "allow"\n[[rule]]\ndecision = "ask"\ntool = "read_file"\n'
    )
    assert [rule.ruling for rule in load_rules(path, "workspace", TOOLS, only_tighten=True)] == ["ask"]
    assert [rule.ruling for rule in load_rules(path, "workspace", TOOLS)] == ["allow", "ask"]


@pytest.mark.parametrize("command", ['""', '["", "ls"]', '"   "'])
def test_an_empty_command_is_an_error_and_not_every_command(command: str):
    with pytest.raises(BadRule, match="an empty command"):
        parse(f'[[rule]]\ncommand = {command}\ndecision = "allow"\n')


def test_a_rule_written_as_an_inline_table_is_read_too():
    assert len(parse('rule = [{decision = "deny", tool = "write_file"}]\n')) == 1


def test_a_command_and_a_path_in_one_rule_are_refused():
    with pytest.raises(BadRule, match="cannot also name a path"):
        parse('[[rule]]\ncommand = "cat"\npath = "x"\ndecision = "deny"\n')


def test_path_limits_are_exact():
    assert parse('[[rule]]\ndecision = "deny"\npath = "**/**/**/**/x"\n')
    assert parse(f'[[rule]]\ndecision = "deny"\npath = "{"x" * 1000}"\n')
    (rule,) = parse('[[rule]]\ndecision = "deny"\npath = "./src/x"\nmode = "plan"\n')
    assert (rule.path, rule.modes) == ("src/x", ("plan",))


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("command", "instead"),
    [
        ("/bin/touch", "write 'touch'"),
        ("/usr/bin/git push", "write 'git push'"),
        ("/opt/homebrew/bin/rg x", "write 'rg x'"),
        ("FOO=1 make test", "write 'make test'"),
        ("-rf", "put the program before it"),
        ("ls; rm", "write a list of commands"),
        ("cd x && make", "write a list of commands"),
        ("git commit -m 'x y'", "without quotes"),
        ("git *", "write 'git'"),
        ("npm run test:*", "write 'npm run'"),
    ],
)
@pytest.mark.parametrize("decision", ["allow", "ask", "deny"])
def test_a_command_that_can_never_match_is_refused_with_what_to_write(command: str, instead: str, decision: str):
    with pytest.raises(BadRule, match=r"p\.toml:1: the command .*" + instead):
        parse(f'[[rule]]\ncommand = "{command}"\ndecision = "{decision}"\n')
    if "list" not in instead:
        with pytest.raises(BadRule, match=instead):
            parse_allowed(f"run_shell_command({command})")


@pytest.mark.parametrize("command", ["./bin/touch", "bin/x", "[ -f x", "find . -name *.py", "/opt/tool/bin/x"])
def test_commands_that_can_match_are_taken(command: str):
    assert parse(f'[[rule]]\ncommand = "{command}"\ndecision = "deny"\n')[0].command == tuple(command.split())


def test_the_examples_of_a_rule_are_read_like_commands():
    examples = 'match = ["rm -fr d", "sudo rm -r x -f"], not_match = ["rm -r d", "git rm x"]'
    (rule,) = parse(f'[[rule]]\ncommand = "rm -rf"\ndecision = "deny"\nexamples = {{ {examples} }}\n')
    assert rule.command == ("rm", "-rf")
    parse(f'[[rule]]\ncommand = "rm -rf"\ndecision = "ask"\nexamples = {{ {examples} }}\n')


@pytest.mark.spec("C7")
@pytest.mark.parametrize("path", ["~/x", "../x", "a/../b", "a//b", "a/./b", "/etc/../x", "a/.."])
def test_a_path_that_no_file_has_is_refused(path: str):
    with pytest.raises(BadRule, match=r"p\.toml:1: the path .* never matches.*: write"):
        parse(f'[[rule]]\npath = "{path}"\ndecision = "deny"\n')


@pytest.mark.parametrize("path", ["./a", "a/", "a/**", ".env", "**/.git/**", "/etc/x", "...", "a..b"])
def test_plain_paths_are_taken(path: str):
    assert parse(f'[[rule]]\npath = "{path}"\ndecision = "deny"\n')[0].path == path.removeprefix("./")
