"""The same command in other words than those of the rule, and commands that only look the same."""

import pytest

from assent.policy.shell import judge, rules


def decision(command: str, *allow: str) -> str:
    return judge(command, rules(allow), cwd="/w", roots=["/w"]).decision


def runs(command: str, *allow: str) -> list[str]:
    plan = judge(command, rules(allow), cwd="/w", roots=["/w"]).plan
    assert plan is not None
    return [word.text for step in plan.steps for one in step.stages for word in getattr(one, "words", ())]


@pytest.mark.spec("C7")
@pytest.mark.parametrize("manager", ["pnpm", "yarn", "bun"])
def test_a_script_runs_in_the_words_of_its_rule(manager: str) -> None:
    assert runs(f"{manager} run lint", f"{manager} lint") == [manager, "lint"]
    assert runs(f"{manager} lint", f"{manager} run lint") == [manager, "run", "lint"]
    assert decision(f"{manager} lint:fix", f"{manager} run lint") == "ask"
    assert decision(f"{manager} run deploy", f"{manager} lint") == "ask"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("pnpm add", "pnpm run add"),
        ("pnpm run add", "pnpm add"),
        ("pnpm publish", "pnpm run publish"),
        ("pnpm deploy", "pnpm lint"),
        ("yarn run add x", "yarn add x"),
        ("bun x", "bun run x"),
        ("pnpm lint", "yarn lint"),
        ("pnpm exec rm", "pnpm run exec"),
        ("pnpm run $(echo lint)", "pnpm lint"),
        ("pnpm run ./evil.sh", "pnpm lint"),
        ("bun run ./lint", "bun lint"),
        ("pnpm --dir /x run lint", "pnpm lint"),
        ("pnpm run lint", "pnpm"),
        ("pnpm run lint; rm x", "pnpm lint"),
    ],
)
def test_other_commands_of_a_package_manager_are_not_its_scripts(command: str, rule: str) -> None:
    assert decision(command, rule) == "ask"


def test_a_rule_about_either_form_denies_both() -> None:
    for rule, command in (("pnpm lint", "pnpm run lint"), ("pnpm run lint", "pnpm lint")):
        found = judge(command, rules(allow=[rule], deny=[command]), cwd="/w", roots=["/w"])
        assert found.decision == "deny"


@pytest.mark.spec("C7")
@pytest.mark.parametrize("folder", ["-C .", "-C ./", "-C.", "--directory=.", "--directory ."])
def test_a_build_in_this_folder_is_the_build(folder: str) -> None:
    assert runs(f"make {folder} test", "make test") == ["make", "test"]


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        *("make -C sub test", "make -C .. test", "make -C /x test", "make -C . install", "make -C . -C sub test"),
        *("make -C . -f evil.mk test", "make -f -C . test", 'make -C "$x" test', "make -C . test SHELL=./x"),
    ],
)
def test_a_build_elsewhere_is_another_one(command: str) -> None:
    assert decision(command, "make test") == "ask"


@pytest.mark.spec("C7")
def test_a_plain_command_on_another_machine_needs_exactly_its_rule() -> None:
    assert decision("ssh host uptime", "ssh host uptime") == "allow"
    assert decision("ssh host systemctl status nginx", "ssh host systemctl status nginx") == "allow"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        *(
            "ssh host uptime -p",
            "ssh other uptime",
            "ssh host 'uptime;reboot'",
            "ssh host uptime 'x;y'",
            "A=1 ssh host uptime",
        ),
        *("ssh -o ProxyCommand=x host uptime", "ssh host", "ssh host bash", "ssh host sh -s", "ssh host sudo reboot"),
        *(
            "echo 'rm x' | ssh host bash",
            "ssh host bash <<< 'rm x'",
            "ssh host xargs",
            "ssh host ./x.sh",
            "ssh host python3 -",
        ),
    ],
)
def test_other_commands_on_another_machine_ask(command: str) -> None:
    allow = ("ssh host uptime", "ssh host", "ssh host bash", "ssh host sh -s", "ssh host xargs", "ssh host ./x.sh")
    assert decision(command, *allow, "ssh host python3 -", "ssh host sudo reboot", "echo") == "ask"


@pytest.mark.spec("C7")
@pytest.mark.parametrize("name", ["split", "chmod", "fallocate", "ln", "dmesg", "iconv"])
def test_asking_a_program_of_the_system_about_itself_is_covered(name: str) -> None:
    for option in ("--version", "--help"):
        assert decision(f"{name} {option}", name) == "allow"
        assert decision(f"{name} {option}") == "ask"
    assert decision(f"X=1 {name} --version", name) == "ask"


@pytest.mark.spec("C8")
@pytest.mark.parametrize("command", ["bazel --help", "grunt --help", "eval --version", ". --help", "split --version a"])
def test_a_program_that_may_run_the_project_first_asks_even_about_itself(command: str) -> None:
    assert decision(command, command.split()[0]) == "ask"
