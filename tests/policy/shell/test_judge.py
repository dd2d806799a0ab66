"""Rules, their order, and what is said about a command."""

import importlib

import pytest

from assent.plan import Stage, Word
from assent.policy.shell import Judgement, judge, parsed, rules
from assent.policy.shell.command_survey import Found, Survey
from support.plans import stage_of


def decide(command: str, allow: str = "", *, ask: str = "", deny: str = "") -> Judgement:
    known = rules(_list(allow), _list(ask), _list(deny))
    return judge(command, known, cwd="/w", roots=["/w"])


def _list(text: str) -> list[str]:
    return [one.strip() for one in text.split(",")] if text else []


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    ("command", "roots"),
    [
        ("ls -l", ["ls"]),
        ("/usr/local/bin/node script.js", ["/usr/local/bin/node"]),
        ("", []),
        ("a;b|c&&d||e&f", ["a", "b", "c", "d", "e", "f"]),
        ('echo "a && b" && git status', ["echo", "git"]),
        ("echo $(badCommand --danger)", ["echo", "badCommand"]),
        ("echo `badCommand --danger`", ["echo", "badCommand"]),
        ("diff <(ls) <(ls -a)", ["diff", "ls", "ls"]),
        ("echo ${foo@P}", []),
        ("echo $(cat secret) > output.txt", ["echo", "cat"]),
        ("cat < input.txt", ["cat"]),
        ("ls 2> error.log", ["ls"]),
        ("exec 3<&0", ["exec"]),
    ],
)
def test_roots_are_the_names_of_all_commands(command: str, roots: list[str]) -> None:
    assert list(decide(command).roots) == roots


@pytest.mark.spec("C7")
@pytest.mark.parametrize("command", ["git log", "git log -n 5", "git --no-pager log"])
def test_a_rule_covers_its_command_by_whole_words(command: str) -> None:
    assert decide(command, "git log").decision == "allow"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        "git logout",
        "git log && rm -rf /",
        "git log; rm -rf /",
        "git log || rm -rf /",
        "git log | rm -rf /",
        "git log &&& rm -rf /",
        "git log $(rm -rf /)",
        "git log `rm -rf /`",
        "git log <(rm -rf /)",
        "git log >(rm -rf /)",
        "git log --arg=$(rm -rf /)",
        "git log > /tmp/x",
    ],
)
def test_a_rule_does_not_cover_what_is_joined_to_its_command(command: str) -> None:
    assert decide(command, "git log").decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "ls && rm x",
        "echo $(rm x)",
        "echo `rm x`",
        "sudo rm x",
        "env A=1 rm x",
        "timeout 5 nice rm x",
        "bash -c 'ls; rm x'",
        "find . -exec rm {} \\;",
        "ls | xargs rm",
        "eval rm x",
        "ssh host rm x",
        "parallel ::: 'rm x'",
        "parallel -j2 ::: ls 'sudo rm x'",
        "parallel 'ls; rm {}' ::: x",
        "parallel {} x ::: ls rm",
        "parallel '{1} x' ::: rm",
        "/bin/rm x",
        "r''m x",
        "\\rm x",
        "$'\\x72m' x",
        "./rm x",
        "RM x",
        "if true; then rm x; fi",
        "cat <<EOF\n`rm x`\nEOF",
        "echo $\\\n(rm x)",
        "time rm x",
        "coproc rm x",
        "ls > $(rm x)",
        "ls &&& rm x",
        "x" * 9_000 + "; rm x",
        "ls; " * 3_000 + "sudo rm x",
        "env " * 600 + "rm x",
        "ls 'y " + "y " * 1_500 + "env rm x",
    ],
)
def test_a_deny_rule_finds_its_command_everywhere(command: str) -> None:
    assert decide(command, "ls,rm,sudo,env,echo", deny="rm").decision == "deny"


def test_a_deny_rule_for_a_sub_command_is_not_escaped_by_global_options() -> None:
    assert decide("git -C . --no-pager push", "git push", deny="git push").decision == "deny"
    assert decide("git log --grep push", "git log", deny="git push").decision == "allow"


def test_a_deny_rule_for_a_target_is_not_escaped_by_options_and_other_targets() -> None:
    for text in ("make -j4 deploy", "make test deploy", "make -s -j 4 deploy", "npm run -s deploy", "mvn -q deploy"):
        assert decide(text, "make,npm run deploy,mvn", deny="make deploy,npm run deploy,mvn deploy").decision == "deny"
    assert decide("make test", "make", deny="make deploy").decision == "allow"
    assert decide("parallel ls ::: rm", "ls", deny="rm").decision == "ask"


def test_every_target_of_a_build_needs_a_rule() -> None:
    assert decide("make -j4 test", "make test").decision == "allow"
    assert decide("mvn -q -B test", "mvn test").decision == "allow"
    assert decide("make test lint", "make test,make lint").decision == "allow"
    assert decide("make test install", "make test").decision == "ask"
    assert decide("make test install", "make test", ask="make install").decision == "ask"
    assert decide("mvn test package", "mvn test").decision == "ask"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    ("rule", "command"),
    [
        *(("make", f"make {one}") for one in ("deploy", "install", "db-drop", "docker-push", "-C docs deploy")),
        *(("make", "make test publish"), ("gmake", "gmake deploy"), ("make test", "make test -C . deploy")),
        *(
            ("just", "just deploy"),
            ("task", "task db:drop"),
            ("rake", "rake deploy"),
            ("ninja -C b", "ninja -C b install"),
        ),
        *(("tox", "tox -e publish"), ("tox", "tox run -e publish"), ("nox", "nox -s publish")),
        *(
            ("turbo run", "turbo run deploy"),
            ("turbo run", "turbo run build deploy"),
            ("lerna run", "lerna run deploy"),
        ),
        *(("meson compile", "meson compile -C b install"), ("cmake --build", "cmake --build b -t install -t all")),
        *(("npm run", "npm rum deploy"), ("npm run", "npm urn db:drop"), ("npm", "npm rum deploy")),
        *(("npm run", f"npm run {one}") for one in ("predeploy", "deployProd", "resetDb", "DBReset", "wipe_data")),
        *(("npm run", "npm run release"), ("bazel run", "bazel run //tools:deploy"), ("make", "make pushImage")),
    ],
)
def test_a_rule_that_names_no_target_does_not_cover_one_that_changes_more(rule: str, command: str) -> None:
    assert decide(command, rule).decision == "ask"
    assert decide(command, command).decision == "allow" or " -t " in command or "meson" in command


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("rules", "command"),
    [
        *(("make", f"make {one}") for one in ("test", "clean", "run", "start-dev", "-n deploy", "-C docs html")),
        *(("npm run", f"npm run {one}") for one in ("prettier", "prepare", "preview", "typeCheck", "test:e2e")),
        *(("npm run", "npm rum test"), ("tox", "tox -e lint"), ("turbo run", "turbo run build")),
        *(("turbo run build,turbo run test", "turbo run build test"), ("just", "just test")),
    ],
)
def test_a_rule_that_names_no_target_covers_the_others(rules: str, command: str) -> None:
    assert decide(command, rules).decision == "allow"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    ("rule", "command"),
    [
        *(("make test", f"make {files} test") for files in ("-f evil.mk -f Makefile", "--file=x --makefile=Makefile")),
        *(("tsc", "tsc --outDir .husky --declarationDir types"), ("tsc", "tsc -p evil.json -p tsconfig.json")),
        *(("git format-patch", "git format-patch -1 -o ../x -o out"), ("uv venv", "uv venv -p ./evil -p 3.12")),
        *(("ninja", "ninja -C ../x -C build"), ("psql", "psql -h evil.org -h localhost -c 'select 1'")),
        *(
            ("terraform plan", "terraform plan -out=main.tf -out=tfplan"),
            ("kubectl get", "kubectl get x -o jsonpath-file=a -o yaml"),
        ),
        *(("go tool cover", "go tool cover -html=c.out -o Makefile -o cover.html"),),
        *(("openssl x509", "openssl x509 -noout -in a.key -in a.pem"),),
        *(("cmake --install", "cmake --install b --prefix ../x --prefix out"),),
    ],
)
def test_an_option_given_twice_is_judged_by_both_values(rule: str, command: str) -> None:
    assert decide(command, rule).decision == "ask"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "tests",
    [
        *("pytest tests", "python3 -m pytest tests/a.py", "uv run pytest tests", "node --test a.js", "mocha a.js"),
        *("jest a", "vitest run a", "rspec spec/a.rb", "bundle exec rspec spec/a.rb", "go test ./a", "deno test a.ts"),
        *("bun test a.ts", "mix test a.exs", "playwright test a.ts"),
    ],
)
def test_a_rule_that_names_tests_does_not_cover_running_other_files(tests: str) -> None:
    assert decide(tests, tests).decision == "allow"
    assert decide(f"{tests} {tests.split()[-1]}", tests).decision == "allow"
    assert decide(f"{tests} evil", tests).decision == "ask"
    assert decide(f"{tests} evil", tests.rpartition(" ")[0]).decision == "allow"


def test_a_rule_for_a_script_covers_plain_names_of_files_behind_it() -> None:
    assert decide("python report.py data.csv", "python report.py").decision == "allow"
    assert decide("python report.py --fast -v -n 5", "python report.py").decision == "allow"
    assert decide("python manage.py test app", "python manage.py test").decision == "allow"
    for text in (
        "report.py flush",
        "report.py -x",
        "report.py -vc x",
        "report.py -o x",
        "report.py ../a.csv",
        "report.py /a.csv",
        "report.py prod.env",
        "report.py a.csv prod.env",
        "report.py a.csv flush",
        "b.py a.csv",
    ):
        assert decide(f"python {text}", "python report.py").decision == "ask", text
    assert decide("bash report.sh data.csv", "bash report.sh").decision == "ask"
    assert decide("deno run report.ts", "deno run").decision == "ask"


def test_a_rule_that_says_every_word_starts_a_script_but_no_text_and_no_other_user() -> None:
    assert decide("bash run.sh", "bash run.sh").decision == "allow"
    for text in ("su ann", "runuser ann", "script out.txt", "eval a", "watch ls", "bash -x", "bash ../run.sh"):
        assert decide(text, text).decision == "ask", text


@pytest.mark.spec("C8")
def test_an_idle_command_needs_no_rule_beside_an_allowed_one_unless_it_is_more_than_idle() -> None:
    for text in ("ls || true", "ls || false", "true && ls"):
        assert decide(text, "ls").decision == "allow", text
        assert decide(text, "ls").why.startswith("`ls` "), text
    for text in ("true", "true || false", "ls || true x", "ls; LD_PRELOAD=./x.so true", "ls || true < .env"):
        assert decide(text, "ls").decision == "ask", text
    assert decide("ls || true", "ls", ask="true").decision == "ask"


def test_a_deny_rule_needs_no_model_of_its_program_and_is_about_commands_only() -> None:
    assert decide("mytool x", "mytool", deny="mytool").decision == "deny"
    assert decide("echo rm", "echo", deny="rm").decision == "allow"


def test_a_search_in_any_part_of_a_command_passes_over_secrets() -> None:
    plan = decide("ls | grep -r x . | sort", "ls,grep,sort").plan
    assert plan is not None
    assert plan.sweeps
    plan = decide("find . -name src -exec grep -r x {} +", "find,grep").plan
    assert plan is not None
    assert plan.sweeps
    for command in ("ls | sort", "grep x f", "ls | grep x", "find . -name '*.yml' -exec ls {} +"):
        plan = decide(command, "ls,sort,grep,find").plan
        assert plan is not None
        assert not plan.sweeps


def test_deny_beats_ask_and_ask_beats_allow() -> None:
    assert decide("ls", "ls", ask="ls", deny="ls").decision == "deny"
    assert decide("ls", "ls", ask="ls").decision == "ask"
    assert decide("mytool go", "mytool", ask="mytool go").decision == "ask"
    assert decide("ls", "ls").decision == "allow"


def test_only_an_allowed_command_carries_a_plan() -> None:
    assert decide("ls", "ls").plan is not None
    assert decide("ls").plan is None
    assert decide("ls", "ls", deny="ls").plan is None


def test_every_part_says_which_rule_or_model_decided_and_why() -> None:
    parts = decide("git log | sort -o x", "git log,sort").parts
    assert [part.decision for part in parts] == ["allow", "ask"]
    assert parts[0].by == "allow rule `git log`"
    assert parts[1].why == "`sort`: `-o` writes to the file x."


@pytest.mark.spec("C8")
def test_commands_inside_wrappers_and_substitutions_are_named() -> None:
    assert "rm x" in decide("sudo rm x").inner
    assert "id" in decide("echo $(id)").inner
    assert "rm y" in decide("bash -c 'ls; rm y'").inner
    assert "rm {}" in decide("find . -exec rm {} +").inner


def test_a_command_named_word_by_word_is_allowed_but_no_text_for_a_shell() -> None:
    assert decide("rm -rf build", "rm -rf build").decision == "allow"
    assert decide("rm -rf build x", "rm -rf build").decision == "ask"
    assert decide("bash build.sh", "bash build.sh").decision == "allow", "a file, as ./build.sh is one"
    assert decide("bash build.sh x", "bash build.sh").decision == "ask"
    for text in ("bash -c ls", "bash -x build.sh", "bash ../build.sh", "bash /tmp/build.sh", "bash -", "eval ls"):
        assert decide(text, text).decision == "ask", text
    assert decide("python build.py", "python build.py").decision == "allow"
    assert decide("python -", "python -").decision == "ask"
    exact = rules(exact=[("git", "log", "-3")])
    assert judge("git log -3", exact, cwd="/w", roots=["/w"]).decision == "allow"
    assert judge("git log -3 -p", exact, cwd="/w", roots=["/w"]).decision == "ask"


def test_a_sub_command_that_does_more_than_read_must_be_named() -> None:
    assert decide("npm test", "npm").decision == "ask"
    assert decide("npm test", "npm test").decision == "allow"
    assert decide("python -m pip list", "python").decision == "ask"
    assert decide("npm run deploy", "npm run").decision == "ask"
    assert decide("npm run build", "npm").decision == "ask"


def test_a_wrapper_that_adds_nothing_needs_no_rule_but_what_it_runs_does() -> None:
    assert decide("timeout 5 ls", "ls").decision == "allow"
    assert decide("xargs ls", "ls").decision == "ask"
    assert decide("nohup ls", "ls").decision == "ask"
    assert decide("timeout 5 ls", "timeout").decision == "ask"
    assert decide("timeout 5 ls", "timeout,ls").decision == "allow"
    assert decide("nice nice nice nice ls", "nice,ls").decision == "allow"
    assert decide("nice nice nice nice nice ls", "nice,ls").decision == "ask"


def test_git_runs_with_its_helpers_switched_off() -> None:
    plan = decide("git diff HEAD", "git diff").plan
    assert plan is not None
    stage = stage_of(plan.steps)
    words = [word.text for word in stage.words]
    assert {"core.fsmonitor=false", "core.hooksPath=/dev/null", "diff.external="} <= set(words)
    assert words[-4:] == ["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "HEAD"]
    assert dict(stage.env)["GIT_CONFIG_NOSYSTEM"] == "1"


def test_git_reaches_the_network_only_where_that_is_its_purpose() -> None:
    away, here = _only_stage("git fetch origin", "git fetch"), _only_stage("git log", "git log")
    assert {"core.sshCommand=ssh", "core.sshCommand=false"} & _words(away) == {"core.sshCommand=ssh"}
    assert {"core.sshCommand=ssh", "core.sshCommand=false"} & _words(here) == {"core.sshCommand=false"}
    assert "credential.helper=" in _words(here) - _words(away)
    assert "GIT_ALLOW_PROTOCOL" not in dict(away.env)
    assert dict(here.env)["GIT_ALLOW_PROTOCOL"] == ""


def _only_stage(command: str, allow: str) -> Stage:
    plan = decide(command, allow).plan
    assert plan is not None
    return stage_of(plan.steps)


def _words(stage: Stage) -> set[str]:
    return {word.text for word in stage.words}


def test_the_words_of_find_mean_nothing_to_another_program() -> None:
    assert decide("echo -exec rm {} ';'", "echo").decision == "allow"


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("find . -name '*.py' | timeout 5 cat", "timeout 5 cat"),
        ("find . -name '*.py' | xargs ls", "xargs ls"),
        ("find . -name '*.py' | xargs cat", "xargs -0 cat"),
        ("find . -name '*.py' | xargs -0 ls", "xargs -0 ls"),
        ("find . -name '*.py' | xargs -d x ls", "xargs -d x ls"),
        ("echo a b | xargs ls", "xargs ls"),
        ("ls | xargs wc -l", "xargs wc -l --"),
        ("ls | xargs wc -- a", "xargs wc -- a"),
        ("ls | xargs grep x", "xargs -0 grep -- x"),
        ("ls | xargs grep x -i", "xargs -0 grep x -i --"),
        ("ls | xargs -I{} grep -i x {}", "xargs -I{} -0 grep -i -- x {}"),
        ("ls | grep x", "grep x"),
        ("ls | grep x f", "grep x f"),
        ("ls | wc -l", "wc -l"),
        ("echo x | wc -l f", "wc -l f"),
    ],
)
def test_words_are_added_only_where_they_are_needed(command: str, runs: str) -> None:
    plan = decide(command, "find,timeout,cat,xargs,ls,echo,grep,wc").plan
    assert plan is not None
    words = [word.text for word in stage_of(plan.steps, 1).words]
    assert " ".join(word for word in words if not word.startswith(("--exclude", "--include=[!"))) == runs


_LS, _ID = Found(words=(Word("ls"),), text="ls"), Found(words=(Word("id"),), text="id")


@pytest.mark.parametrize(("seen", "complete"), [((_LS, _ID), True), ((_ID,), True), ((), True), ((_LS,), False)])
def test_the_two_readers_must_see_the_same_commands(
    seen: tuple[Found, ...], *, complete: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Survey(seen, complete)

    def see(_source: str, *, limit: int = 0) -> Survey:
        return other

    monkeypatch.setattr(parsed, "survey", see)
    monkeypatch.setattr(importlib.import_module("assent.policy.shell.judge"), "parse", parsed.parse.__wrapped__)
    assert judge("ls", rules(["ls"]), cwd="/w", roots=["/w"]).decision == "ask"


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("touch a", True),
        ("touch ../a", False),
        ("touch .", True),
        ("rm .", False),
        ("rmdir .", False),
        ("unlink .", False),
        ("mv . a", False),
        ("mv a .", True),
        ("mktemp", True),
        ("cd .. && mktemp", False),
        ("touch /w", False),
        ("touch ../w", False),
        ("touch /etc/a", False),
        ("touch ~/a", False),
        ("touch .git/hooks/pre-commit", False),
        ("touch .GIT/x", False),
        ("cd sub && touch a", True),
        ("cd .. && touch a", False),
        ("cd sub; touch a", False),
        ("ls; touch a", True),
        ("cd && touch a", False),
        ("cd .. -P && touch a", False),
        ("cd -P .. && touch a", False),
        ("cd -P && touch a", False),
        ("cd -- -x && touch a", False),
        ("cd sub -P && touch a", True),
        ("/usr/bin/cd .. && touch a", True),
        ("cd .. | ls && touch a", True),
        ("cd .. && touch w/a", True),
        ("touch *", False),
    ],
)
def test_a_write_must_stay_in_the_workspace(command: str, *, allowed: bool) -> None:
    assert (decide(command, "touch,cd,ls,rm,rmdir,unlink,mv,mktemp").decision == "allow") is allowed


@pytest.mark.parametrize("wrapper", ["sudo", "nohup", "setsid", "exec", "builtin", "doas", "strace", "flock x", "npx"])
def test_a_wrapper_that_adds_rights_or_outlives_the_command_asks_even_when_allowed(wrapper: str) -> None:
    assert decide(f"{wrapper} ls", f"{wrapper.split()[0]},ls").decision == "ask"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("ls", "`ls` lists files, and its options do no harm."),
        ("git whatchanged", "`git whatchanged` is known to be harmless, and its options do no harm."),
        ("nohup ls", "`nohup`: it runs a program that outlives the terminal."),
        ("poetry run ls", "`poetry`: it runs another program."),
        ("ssh", "`ssh`: it runs commands on another machine."),
        ("docker exec", "`docker`: it does not name a plain image or container."),
    ],
)
def test_a_verdict_says_what_the_program_does(command: str, why: str) -> None:
    assert decide(command, "ls,git whatchanged,nohup,poetry run,ssh,docker exec").why == why


def test_a_variable_that_env_sets_must_be_known_and_stay_as_it_is() -> None:
    assert decide("env DEBUG='*' ls", "env,ls").decision == "allow"
    assert decide("env DEBUG=* ls", "env,ls").decision == "ask"
    assert decide("env PATH=x ls", "env,ls").decision == "ask"
    assert decide("env CI=1 PATH=x ls", "env,ls").decision == "ask"


def test_the_plan_names_the_files_that_will_change() -> None:
    plan = decide("echo x | tee /dev/null a", "echo,tee").plan
    assert plan is not None
    assert plan.writes == ("/w/a",)


def test_a_variable_in_front_of_a_command_must_be_known_and_plain() -> None:
    assert decide("CI=1 ls", "ls").decision == "allow"
    assert decide("CI=../x ls", "ls").decision == "ask"
    assert decide("FOO=1 ls", "ls").decision == "ask"
    assert decide("FOO=1 mytool", "mytool").decision == "ask"


@pytest.mark.parametrize("command", ["python -", "python -c", "node -e", "python /dev/stdin", "ssh x sh"])
def test_a_rule_of_all_words_allows_no_code_that_nobody_saw(command: str) -> None:
    assert decide(command, command).decision == "ask"


@pytest.mark.parametrize(
    "command", ["rm -rf *", "rm -rf $HOME", "mytool *", "mytool $HOME", "mytool ~", "m* x", "$HOME/x"]
)
def test_a_rule_of_all_words_covers_only_words_that_stay_as_they_are(command: str) -> None:
    assert decide(command, command).decision == "ask"


def test_an_exact_rule_holds_neither_outside_the_workspace_nor_with_other_variables() -> None:
    assert decide("cd /tmp && git clean -fd", "cd,git clean -fd").decision == "ask"
    assert decide("PATH=x rm -rf y", "rm -rf y").decision == "ask"
    assert decide("CI=1 rm -rf y", "rm -rf y").decision == "ask"
    assert decide("rm -rf y", "rm -rf y", ask="rm").decision == "ask"


def test_a_name_with_letters_outside_ascii_asks_even_when_a_rule_says_it() -> None:
    assert decide("c\u00e1t", "c\u00e1t").decision == "ask"


def test_a_flag_with_a_value_is_not_the_flag_that_is_known() -> None:
    assert decide("ls --all", "ls").decision == "allow"
    assert decide("ls --all=x", "ls").decision == "ask"


def test_a_substitution_behind_a_continued_line_is_found() -> None:
    assert "id" in decide("echo $\\\n(id)").inner
    assert decide("echo $\\\n(id)").roots == ("echo", "id")


def test_words_from_an_input_reach_only_programs_without_harmful_options() -> None:
    assert decide("cat f | xargs wc -l", "cat,xargs,wc").decision == "allow"
    assert decide("xargs npm test", "xargs,npm test").decision == "ask"
    assert decide("xargs sort", "xargs,sort").decision == "ask"


def test_a_plan_says_what_a_secret_looks_like() -> None:
    plan = decide("grep x a | sort", "grep, sort").plan
    assert plan is not None
    assert plan.secret


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("rule", "further"),
    [
        ("rm a.log", "rm a.log b.txt"),
        ("rm -r build", "rm -r build src"),
        ("touch a", "touch b a"),
        ("mkdir -p out", "mkdir -p out other"),
        ("cp a b", "cp a c b"),
        ("curl http://a.example.org/x", "curl http://a.example.org/x http://b.example.org/"),
        ("wget -qO- http://a.example.org", "wget -qO- http://a.example.org http://b.example.org"),
        ("npm install lodash", "npm install lodash other"),
        ("pip install requests", "pip install requests other"),
        ("cargo add serde", "cargo add serde other"),
        ("go get example.org/a", "go get example.org/a example.org/b"),
        ("npm uninstall lodash", "npm uninstall lodash other"),
        ("docker rm web", "docker rm web db"),
        ("docker compose stop web", "docker compose stop web db"),
        ("gem install rails", "gem install rails other"),  # not described by us
        ("flutter pub add http", "flutter pub add http other"),
        ("composer require a/b", "composer require a/b c/d"),
        ("git push origin main", "git push origin main topic:other"),
        ("git push origin main", "git push origin main --tags"),
        ("git remote show origin", "git remote show origin https://example.org/x"),
        ("kubectl delete pod x", "kubectl delete pod x y"),
        ("git branch -d topic", "git branch -d topic other"),
        ("git rm --cached a.txt", "git rm --cached a.txt b.txt"),
        ("git merge topic", "git merge topic other"),
        ("git add a", "git add a b"),
        ("bazel build //a", "bazel build //a //b"),
        ("lerna run build", "lerna run build deploy"),
        ("git remote -v", "git remote -v show https://example.org/x"),
        ("turbo run build", "turbo run build deploy"),
        ("invoke test", "invoke test deploy"),
        ("kubectl apply -f a.yml", "kubectl apply -f a.yml -f b.yml"),
        ("kubectl apply -f a.yml", "kubectl apply -f a.yml --filename=b.yml"),
    ],
)
def test_a_rule_covers_no_more_than_what_it_names(rule: str, further: str) -> None:
    assert judge(rule, rules([rule]), cwd="/w", roots=["/w"]).decision == "allow"
    assert judge(further, rules([rule]), cwd="/w", roots=["/w"]).decision == "ask"


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("docker cp", "docker cp x:/hook .git/hooks"),
        ("docker cp", "docker cp x:/Makefile out"),
        ("docker cp", "docker cp x:/y Makefile"),
        ("docker cp", "docker cp . x:/"),
        ("kubectl cp", "kubectl cp x:/y Makefile"),
        ("git remote show", "git remote show https://example.org/x"),
        ("git push origin main", "git -C other push origin main"),
        ("make test", "make -C other test"),
        ("rm build.log", "cd src && rm build.log"),
        ("kubectl apply", "kubectl --context prod apply -f x.yaml"),
        ("phpunit", "phpunit --bootstrap evil.php"),
        ("phpunit", "phpunit --generate-configuration"),
        ("git checkout", "git checkout -B main"),
        ("git switch", "git switch -C main"),
        ("python3 manage.py test", "python3 manage.py test --testrunner=x.Y"),
        ("mytool sync", "mytool sync .git/hooks"),
        ("git fetch", "git fetch origin main:other"),
        ("sed -i", "sed -i'.*' s/a/b/ envrc"),
        ("sed -i", "sed -i.py s/a/b/ conftest"),
    ],
)
def test_a_rule_for_a_subcommand_does_not_cover_the_uses_that_do_more(rule: str, command: str) -> None:
    assert judge(command, rules([rule]), cwd="/w", roots=["/w"]).decision == "ask"


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("rule", "more"),
    [
        ("kubectl get pods", "kubectl get pods web-1"),
        ("helm install web", "helm install web ./chart"),
        ("git push", "git push --tags"),
        ("git push origin main", "git push -u origin main"),
        ("curl https://example.org/x", "curl -s https://example.org/x"),
        ("docker compose up web", "docker compose up -d web"),
        ("docker cp", "docker cp x:/report.txt out"),
        ("tar -xzf", "tar -xzf x.tar.gz -C build"),
        ("git push origin", "git push origin main"),
        ("turbo run lint", "turbo run lint -- --quiet"),
        ("kubectl apply -f a.yml", "kubectl apply -f a.yml -n web"),
        ("git switch -C", "git switch -C main"),
        ("kubectl --context prod apply", "kubectl --context prod apply -f x.yaml"),
        ("kubectl get", "kubectl --context prod get pods"),
    ],
)
def test_a_rule_that_names_a_kind_or_one_of_several_different_words_covers_the_rest(rule: str, more: str) -> None:
    assert judge(more, rules([rule]), cwd="/w", roots=["/w"]).decision == "allow"


@pytest.mark.spec("C7")
@pytest.mark.parametrize(("rule", "same"), [("npm test", "npm run test"), ("pnpm run start", "pnpm start")])
def test_a_rule_for_a_script_of_npm_covers_it_with_and_without_run(rule: str, same: str) -> None:
    assert judge(same, rules([rule]), cwd="/w", roots=["/w"]).decision == "allow"
    assert judge("npm run deploy", rules([rule]), cwd="/w", roots=["/w"]).decision == "ask"
