"""A rule that denies or asks means what is done, in whatever words it is said."""

from itertools import product
from pathlib import Path
from random import Random

import pytest

from assent.approval import ExecDetails, Mode
from assent.policy.action import Action
from assent.policy.policy import Policy
from assent.policy.rules import Rule
from assent.policy.shell import judge, rules
from assent.policy.shell.parsed import parse

SHELL = "run_shell_command"

_CORPUS = Path(__file__).with_name("rewordings.txt").read_text()


def lines(section: str) -> list[tuple[str, str]]:
    found, rule, inside = list[tuple[str, str]](), "", False
    for line in _CORPUS.splitlines():
        if line in ("[denied]", "[doubtful]", "[spared]"):
            inside = line == f"[{section}]"
        elif line.startswith("= "):
            rule = line[2:]
        elif inside and line:
            found.append((rule, line))
    return found


def verdict(command: str, *given: Rule, mode: Mode = "default"):
    return Policy(given, mode, roots=("/w",)).judge(
        Action(
            tool=SHELL,
            args={},
            details=ExecDetails(command=command, roots=(), directory="/w", risk="low", risk_reason=""),
        )
    )


def ruling(command: str, rule: str, decision: str, mode: Mode) -> str:
    said = Rule(ruling="deny" if decision == "deny" else "ask", tool=SHELL, command=tuple(rule.split()))
    return verdict(command, said, Rule(ruling="allow", tool=SHELL), mode=mode).ruling


@pytest.mark.spec("C7")
@pytest.mark.parametrize(("rule", "command"), lines("denied"))
def test_no_wording_escapes_a_rule(rule: str, command: str) -> None:
    assert [ruling(command, rule, "deny", mode) for mode in ("default", "yolo")] == ["deny", "deny"]
    assert [ruling(command, rule, "ask", mode) for mode in ("default", "yolo")] == ["ask", "ask"]


@pytest.mark.spec("C7")
@pytest.mark.parametrize(("rule", "command"), lines("doubtful"))
def test_a_command_that_may_match_a_rule_needs_approval_even_in_yolo(rule: str, command: str) -> None:
    assert [ruling(command, rule, "deny", mode) for mode in ("default", "yolo")] == ["ask", "ask"]
    assert verdict(command, mode="yolo").ruling == "allow"  # without a rule there is nothing to doubt


@pytest.mark.parametrize(("rule", "command"), lines("spared"))
def test_a_rule_is_not_about_other_commands(rule: str, command: str) -> None:
    assert ruling(command, rule, "deny", "yolo") == "allow"


# --- several names for one thing: a rule for any of them holds for all ---

NAMES = [
    """npm run deploy; npm run-script deploy; yarn deploy; yarn run deploy; pnpm deploy; pnpm run deploy;
    bun run deploy; bun deploy; node --run deploy; node --run=deploy; deno task deploy; yarnpkg deploy;
    run-s deploy; lerna run deploy""",
    "npm test; npm t; npm run test; yarn test; pnpm test; pnpm t; bun run test",
    """npx cowsay; pnpx cowsay; bunx cowsay; yarn dlx cowsay; pnpm dlx cowsay; npm exec cowsay; npm exec -- cowsay;
    npm x cowsay; bun x cowsay""",
    "pip install; pip3 install; python -m pip install; python3 -m pip install",
    "docker compose down; docker-compose down; podman compose down; podman-compose down",
    "gradle publish; ./gradlew publish",
    "mvn deploy; ./mvnw deploy; mvnd deploy",
    "kubectl delete; k delete; oc delete",
    "terraform destroy; tofu destroy",
    "python x.py; python3 x.py",
]


@pytest.mark.spec("C7")
@pytest.mark.parametrize("names", NAMES)
def test_a_rule_holds_for_every_name_of_the_same_thing(names: str) -> None:
    several = [" ".join(one.split()) for one in names.split(";")]
    escaped = [(rule, one) for rule, one in product(several, several) if ruling(one, rule, "deny", "yolo") != "deny"]
    assert escaped == []


# --- made by chance: a denied command, said in another way, is denied ---

CASES: list[tuple[str, list[str], list[list[str]], list[str]]] = [
    # rule, program and sub-command, options that mean the same (one of each is chosen), operands
    ("rm -rf", ["rm"], [["-r", "-R", "--recursive", "--recur"], ["-f", "--force", "--for"]], ["d", "e/f"]),
    ("git reset --hard", ["git", "reset"], [["--hard", "--har"], ["-q", "--quiet", ""]], ["HEAD~1"]),
    ("git push --force", ["git", "push"], [["-f", "--force"], ["-u", "--set-upstream", ""]], ["origin", "main"]),
    ("git branch -D", ["git", "branch"], [["-D", "-d -f", "--delete --force"]], ["topic"]),
    ("npm publish", ["npm", "publish"], [["--access=public", "--tag=x", ""]], []),
    ("cargo publish", ["cargo", "publish"], [["--dry-run", "-q", ""]], []),
    ("gh pr merge", ["gh", "pr", "merge"], [["--squash", "-s", ""], ["-d", "--delete-branch", ""]], ["12"]),
    ("kubectl delete", ["kubectl", "delete"], [["-n=x", "--namespace=x", ""]], ["pod", "web"]),
    ("aws s3 rm", ["aws", "s3", "rm"], [["--recursive", ""]], ["s3://b/x"]),
    ("docker rm -f", ["docker", "rm"], [["-f", "--force"], ["-v", "--volumes", ""]], ["web"]),
]
GLOBAL = {
    "git": ["-C .", "--no-pager", "-c a.b=c", "--git-dir=.git", "--work-tree ."],
    "npm": ["-w a", "--workspace=a", "--silent", "--loglevel error"],
    "cargo": ["+nightly", "--locked", "-q", "--config x=1"],
    "gh": ["-R a/b", "--repo=a/b"],
    "kubectl": ["-n prod", "--context c", "--kubeconfig=x"],
    "aws": ["--profile p", "--region=eu-west-1", "--debug"],
    "docker": ["--context c", "-H x", "--log-level=debug"],
}
WRAPPERS = [
    *("{}", "sudo {}", "sudo -u root {}", "env {}", "env A=1 {}", "env -i {}", "command {}", "nice -n 3 {}"),
    *("timeout 9 {}", "sudo -- {}"),
    *("nohup {}", "time {}", "bash -c '{}'", 'sh -c "{}"', "eval '{}'", "ls; {}", "true && {}", "({})", "{{ {}; }}"),
    *("if true; then {}; fi", "for i in 1 2; do {}; done", "echo $({})", "echo x | xargs {}", "! {}", "cd sub && {}"),
    *("find . -exec {} ';'", "{} > out.txt 2>&1", "A=1 {}", "{} &", "stdbuf -o0 {}", "xargs -n 1 {}", "setsid {}"),
]  # fmt: skip


def reworded(chance: Random, words: list[str], options: list[list[str]], operands: list[str]) -> str:
    chosen = [one for group in options for one in chance.choice(group).split()]
    chance.shuffle(chosen)
    shorts = [one for one in chosen if len(one) == 2 and one[1] != "="]
    if len(shorts) > 1 and chance.random() < 0.5:
        chosen = [one for one in chosen if one not in shorts] + ["-" + "".join(one[1] for one in shorts)]
    rest = list(operands)
    for option in chosen:
        rest.insert(chance.randrange(len(rest) + 1), option)
    before = chance.sample(GLOBAL.get(words[0], []), chance.randrange(3) if words[0] in GLOBAL else 0)
    program = chance.choice([words[0], f"/usr/bin/{words[0]}", f"\\{words[0]}", words[0].upper()])
    return " ".join([program, *before, *words[1:], *rest])


@pytest.mark.spec("C7")
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_denied_command_stays_denied_however_it_is_reworded(case: tuple[str, list[str], list[list[str]], list[str]]):
    rule, words, options, operands = case
    chance = Random(rule)
    denied = rules(deny=[rule])
    for wrapper, _ in product(WRAPPERS, range(12)):
        command = wrapper.format(reworded(chance, words, options, operands))
        assert judge(command, denied, cwd="/w", roots=["/w"]).decision == "deny", command


@pytest.mark.spec("J4")
def test_the_judgement_names_the_rule_that_decided() -> None:
    found = judge("sudo rm -fr d", rules(deny=["git push", "rm -rf"]), cwd="/w", roots=["/w"])
    assert (found.denied, [part.by for part in found.parts]) == (("rm", "-rf"), ["deny rule `rm -rf`"])
    rule = Rule(ruling="deny", tool=SHELL, command=("rm", "-rf"), place="policy.toml:3", message="Use trash.")
    told = verdict("rm --force -r d", Rule(ruling="deny", tool=SHELL, command=("git",)), rule, mode="yolo")
    assert (told.reason, "policy.toml:3" in told.rule) == ("Use trash.", True)
    assert "`rm -rf`" in verdict("$X -rf d", rule, mode="yolo").reason


@pytest.mark.parametrize("command", ["git push --force", "git push --force-w", "git push --delete origin x"])
def test_a_short_command_has_few_other_names(command: str) -> None:
    """A whole option is no abbreviation of a longer one; otherwise, a command could be its own other name for ever."""
    assert parse(command).complete
