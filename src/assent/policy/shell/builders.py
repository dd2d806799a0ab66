"""Programs that build, test and fetch for a project: which goals, scripts and words reach the project's own code."""

import re

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.options import Use, Words, examine
from assent.policy.shell.undescribed import changes_something, plain_flag

_WARNING = lazy_pattern(r"[a-z]+(?::[A-Za-z0-9 ]*)?(?::[A-Z][A-Za-z]+)?")
_SCRIPT_OPTIONS = frozenset(
    [
        "--coverage",
        "--watch=false",
        "--watchAll=false",
        "--ci",
        "--silent",
        "--verbose",
        "--runInBand",
        "--bail",
        "--no-color",
        "--nocapture",
        "--passWithNoTests",
        "-q",
        "-v",
        "--run",
        "--quiet",
        "--no-watch",
        "-D",
        "-W",
        "-A",
        "--ignored",
        "--include-ignored",
        "--exact",
        "--show-output",
        "--check",
        "--test-threads=1",
        "--test-threads",
    ]
)
_GOALS = frozenset(
    [
        "test",
        "compile",
        "verify",
        "package",
        "clean",
        "validate",
        "build",
        "check",
        "assemble",
        "tasks",
        "help",
        "dependency:tree",
    ]
)
_NAME_PART = lazy_pattern(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_SENDING = frozenset(
    ("release", "nuke", "erase", "truncate", "teardown", "provision", "undeploy", "redeploy", "republish")
)
_ORDINARY_GOALS = frozenset(("clean", "run"))
_DRY_RUN = frozenset(("-n", "--dry-run", "--just-print", "--recon", "--dry"))
_PROFILE = lazy_pattern(r"-P[\w,!-]+")
_MAVENS = ("mvn", "./mvnw")
_GOAL = lazy_pattern(r"[A-Za-z0-9_:][\w.:-]*(?:@[\w-]+)?")
_PACKAGE = lazy_pattern(r"\.|(?:@[\w.-]+/)?[\w-][\w.-]*(?:@[\w.^~<>=*+-]+)?(?:\[\d*\])?")
_PASSED_ON = lazy_pattern(r"(?:\./)?[A-Za-z0-9_](?:::|[A-Za-z0-9_.\[\]/-])*")
# Options that make a test runner select tests, and the values they accept.
_CHOOSING = frozenset(("-t", "--testNamePattern", "-g", "--grep"))
_CHOSEN = lazy_pattern(
    r"-t|-g|--grep|--testNamePattern|--(?:testPathPatterns?|testNamePattern|grep|maxWorkers|silent|verbose)=[\w.%-][\w./%-]*"
)
_CHOICE = lazy_pattern(r"[A-Za-z0-9_][\w .:,'#()|-]*")
_GO_PACKAGE = lazy_pattern(r"\.|\./[\w./-]*|[\w-][\w./-]*\.go")
_FOLDER = lazy_pattern(r"\.|\./(?!.*\.\.)[\w./-]*|\w[\w-]*(?:/(?!.*\.\.)[\w./-]*)?")  # `github.com/x` would be fetched
_OUTPUT = lazy_pattern(
    r"/dev/null|(?:\./)?(?:bin|build|dist|out|tmp)/[A-Za-z0-9_][\w.-]*|[\w-]*cover[\w-]*\.(?:out|txt)|c\.out"
)
# The built program gets the name given here; sources and scripts have other names.
_GO_PROGRAM = lazy_pattern(
    rf"{_OUTPUT.pattern}|(?:\./)?(?:[A-Za-z0-9_][\w-]*/)*[A-Za-z0-9_][\w-]*(?:\.(?:exe|test|so|a|wasm))?|(?:\./)?(?:bin|build|dist|out)/?"
)
_GO_PROFILE = lazy_pattern(r"(?:\./)?[\w-]+\.(?:out|prof|pprof)")
_GO_OUTPUTS = {
    "-o": _GO_PROGRAM,
    "-coverprofile": _OUTPUT,
    **dict.fromkeys(("-cpuprofile", "-memprofile", "-blockprofile"), _GO_PROFILE),
}
_LINKING = r"(?:-s|-w|-v|-X[ =]'?[\w./-]+=[\w.:+-]*'?)"
_COMPILING = r"(?:-N|-l|-m|-m=\d|-e|-B)"
_GO_FLAGS = {
    "-ldflags": lazy_pattern(rf"{_LINKING}(?: +{_LINKING})*"),
    "-gcflags": lazy_pattern(rf"(?:all=|\./\.\.\.=)?{_COMPILING}(?: +{_COMPILING})*"),
}
_REPORT = lazy_pattern(r"(?:\./)?(?:(?:build|out|reports|test-results)/)?(?:junit|(?:test-?)?(?:report|results))\.xml")
_REQUIREMENT = lazy_pattern(
    r"[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:@[\w.^~*+-]+|(?:===|[=~!<>^]=?|==)[\w.*+!-]+(?:,(?:[=~!<>]=?|==)[\w.*+!-]+)*)?"
)
_OWN_FILE = lazy_pattern(r"(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*")
_PROJECT = lazy_pattern(r"\.(?:\[[\w,.-]+\])?")
_GO_MODULE = lazy_pattern(r"\.|(?:\./)?[A-Za-z0-9_][\w./-]*(?:\.\.\.)?(?:@[\w.+-]+)?|\./\.\.\.|\.\.\.")
_PLAIN_VALUE = lazy_pattern(r"[\w.,+-]*")
_TEST_FILTER = lazy_pattern(r"[\w .,:=!~&|()-]*")
_VALUES = {
    "--filter": _TEST_FILTER,
    **dict.fromkeys(("--project", "-o", "--output"), _FOLDER),
    **dict.fromkeys(("-l", "--logger"), lazy_pattern(r"(?:console|trx|html|junit)(?:;verbosity=\w+)?")),
    "--collect": lazy_pattern(r"[\w ]+"),
}
_PLAN = lazy_pattern(r"(?:\./)?(?:[\w-]+\.)?(?:tf)?plan(?:\.(?:out|tfplan|bin))?|[\w-]+\.tfplan")
_SETTING = lazy_pattern(r"[@A-Za-z][\w.:@/-]*")
_SCRIPT_RUNNERS = ("npm", "pnpm", "yarn", "bun")
_TS_PROJECT = lazy_pattern(r"\.?/?|tsconfig[\w.-]*\.json")
_TASK = lazy_pattern(r"(?:[\w-]*:)*(?:assemble|compile|test|check|lint|jar|classes|dependencies|javadoc)(?:[A-Z]\w*)?")
_VARIABLE = lazy_pattern(r"(?:VERSION|TAG|DEBUG|RELEASE|TEST|TESTS|COVERAGE|JOBS)=[A-Za-z0-9_][\w.-]*")
_USUAL_SCRIPTS = (["test"], ["build"], ["lint"], ["typecheck"])
_PYTEST_SETTING = lazy_pattern(
    r"(?:log_cli|log_cli_level|log_level|xfail_strict|console_output_style|asyncio_mode|junit_family|verbosity_\w+)=[\w-]+"
)
_MAKES = ("make", "gmake")
_MAKEFILES = frozenset(("Makefile", "makefile", "GNUmakefile"))
_PYTEST = ("pytest", "py.test")


def npm_install(use: Use, _words: Words) -> None:
    """Packages by plain name: a folder, an address or an archive may contain anything."""
    for word in use.operands:
        if word.text == "." or not _PACKAGE.fullmatch(word.text) or not word.literal:
            use.problems.append(f"`{word.text}` is not a plain package name")


def requirements(use: Use, _words: Words) -> None:
    """Python packages by name and version; the only folder accepted is the project itself."""
    folders = [value for name, value in use.seen if name in ("-e", "--editable") and value]
    if any(not _OWN_FILE.fullmatch(word.text) for word in use.reads):
        use.problems.append("the packages to install come from a file elsewhere")
    for text in (*(word.text for word in use.operands), *folders):
        if not _REQUIREMENT.fullmatch(text) and not (_PROJECT.fullmatch(text)):
            use.problems.append(f"`{text}` is not a plain package name")
    if any(_FOLDER.fullmatch(text) is None and not _PROJECT.fullmatch(text) for text in folders):
        use.problems.append("`-e` names something outside the project")


def go_modules(use: Use, _words: Words) -> None:
    if not all(_GO_MODULE.fullmatch(word.text) for word in use.operands):
        use.problems.append("an operand is not a plain module or package name")


def coverage_run(use: Use, words: Words) -> None:
    """`coverage run -m pytest …`: the measured program is judged as if it ran by itself."""
    texts = [word.text for word in words[use.at + 1 :]]
    at = next((index for index, text in enumerate(texts) if text == "-m"), None)
    if at is None or texts[at + 1 : at + 2] != ["pytest"]:
        use.problems.append("it runs an unknown program")
        return
    use.excuse("-m")
    inner = examine(texts[at + 1], words[use.at + at + 2 :])
    if inner is not None:
        plain_words(inner, words)
        use.problems += inner.problems
        use.problems += [
            f"`{word.text}` is passed on" for word in inner.operands if not _PASSED_ON.fullmatch(word.text)
        ]


def hook_files(use: Use, _words: Words) -> None:
    """A hook, by name."""
    use.by_name = bool(use.operands)
    pattern = _PASSED_ON if use.option("--files") is not None else lazy_pattern(r"[\w.-]+")
    if not all(pattern.fullmatch(word.text) for word in use.operands):
        use.problems.append("an operand is not a plain hook name")


def workspace(use: Use, words: Words) -> None:
    """`yarn workspace NAME SCRIPT` is `yarn run SCRIPT` in that workspace."""
    texts = [word.text for word in use.operands[:2]]
    if len(texts) < 2 or not _PACKAGE.fullmatch(texts[0]):
        use.problems.append("it does not name a workspace script")
    script(use, words)
    use.names, use.by_name = (*use.names, *texts), texts[1:] not in _USUAL_SCRIPTS


def terraform_fmt(use: Use, _words: Words) -> None:
    use.by_name = use.option("-check") is None
    use.writes += use.reads if use.by_name else []


def plan_file(use: Use, _words: Words) -> None:
    """The plan is written to its own file, recognizable by its name."""
    files = use.values("-out")
    if not all(map(_PLAN.fullmatch, files)):
        use.problems.append("`-out` does not name a plain plan file")
    use.writes += map(Word, files)


def npm_config(use: Use, _words: Words) -> None:
    if any(re.search(r"auth|token|password|//|^_", word.text, re.I) for word in use.operands):
        use.problems.append("it may show a password")
    named = bool(use.operands) and all(_SETTING.fullmatch(word.text) for word in use.operands)
    if use.names[0] == "pnpm" and not named:  # `get` without a key lists everything
        use.problems.append("it shows passwords along with everything else")


def npm_view(use: Use, _words: Words) -> None:
    if not all(_PACKAGE.fullmatch(word.text) for word in use.operands):
        use.problems.append("anything but a plain package name may be fetched from anywhere")


def go_list(use: Use, _words: Words) -> None:
    if use.option("-versions") is not None or any("@" in word.text for word in use.operands):
        use.problems.append("it asks another machine about a module")


def go_build(use: Use, _words: Words) -> None:
    if use.option("-mod") == "mod":
        use.problems.append("`-mod=mod` fetches modules and changes go.mod")
    for name, value in use.seen:
        if name in _GO_OUTPUTS and not _GO_OUTPUTS[name].fullmatch(value):
            use.problems.append(f"`{name}` does not write to a plain file")
        elif name in _GO_OUTPUTS:
            use.writes.append(Word(value))
        elif name in _GO_FLAGS and not _GO_FLAGS[name].fullmatch(value):
            use.problems.append(f"`{name}` may choose the program that builds")


def go_run(use: Use, words: Words) -> None:
    """Only a package of the project; the words after it go to the program."""
    go_build(use, words)
    _passed_on_by_go(use, words)
    if not use.operands or not _GO_PACKAGE.fullmatch(use.operands[0].text):
        use.problems.append("it does not run a package of this folder")


def _passed_on_by_go(use: Use, words: Words) -> None:
    """Plain flags and numbers after the package go to the project's program."""
    at = next((index for index, word in enumerate(words) if use.operands and word is use.operands[0]), len(words))
    passed = [word.text for word in words[at + 1 :]]
    unknown = {
        f"the option `{text.partition('=')[0]}` is not known to be harmless" for text in passed if plain_flag(text)
    }
    use.problems[:] = [problem for problem in use.problems if problem not in unknown]
    use.problems += [
        f"`{text}` is passed on to a program"
        for text in passed
        if not text.startswith("-") and not _is_go_file(text) and not text.isdigit()
    ]


def _is_go_file(text: str) -> bool:
    return text.endswith(".go") and _GO_PACKAGE.fullmatch(text) is not None


def node_test(use: Use, _words: Words) -> None:
    """Tests of the project, by plain name; a reporter that is a file would run as code."""
    reporters = [value for name, value in use.seen if name == "--test-reporter"]
    if not all(re.fullmatch(r"[a-z]+", value) for value in reporters):
        use.problems.append("a reporter that is a file runs as code")


def dotnet_new(use: Use, _words: Words) -> None:
    """A new project from an installed template, in a subfolder."""
    texts = [word.text for word in use.operands]
    if texts[:1] in (["install"], ["uninstall"], ["update"]) or not all(
        map(lazy_pattern(r"[a-z][\w.-]*").fullmatch, texts)
    ):
        use.problems.append("it does more than create a project from a plain template")
    for name, value in use.seen:
        if value and not (_FOLDER if name in ("-o", "--output") else _PLAIN_VALUE).fullmatch(value):
            use.problems.append(f"the value of `{name}` is not plain")


def plain_revision(use: Use, _words: Words) -> None:
    use.by_name = True  # it changes a database
    if not all(re.fullmatch(r"[+-]?\d+|[\w@+:-]+", word.text) for word in use.operands):
        use.problems.append("it does not name a plain revision")


def plan_variables(use: Use, words: Words) -> None:
    """`-var` sets a configuration variable to plain text."""
    plan_file(use, words)
    for name, value in use.seen:
        if name == "-var" and not re.fullmatch(r"\w+=[\w.,:/@ +-]*", value):
            use.problems.append("the value of `-var` is not plain")
        if name == "-target" and not re.fullmatch(r"[\w.\[\]\"-]+", value):
            use.problems.append("the value of `-target` is not plain")


def terraform_apply(use: Use, words: Words) -> None:
    """It makes the changes that the configuration describes, so a rule must name it. A plan file is recognizable by its
    name.
    """
    plan_variables(use, words)
    use.by_name = True
    if not all(_PLAN.fullmatch(word.text) for word in use.operands):
        use.problems.append("it does not name a plain plan file")


def go_cover(use: Use, _words: Words) -> None:
    pages = use.values("-o")
    if not all(re.fullmatch(r"(?:\./)?[\w-]*cover[\w-]*\.html", page) for page in pages):
        use.problems.append("`-o` does not write to a plain file")
    use.writes += map(Word, pages)
    if use.option("-html") is not None and not pages:
        use.problems.append("without `-o` it opens a browser")


def npm_version(use: Use, _words: Words) -> None:
    """Without arguments it shows versions; with one it sets a new version."""
    use.by_name = bool(use.operands)
    plain = lazy_pattern(r"major|minor|patch|pre(?:major|minor|patch|release)|v?\d+\.\d+\.\d+(?:-[\w.]+)?")
    if not all(plain.fullmatch(word.text) for word in use.operands):
        use.problems.append("it does not name a plain version")


def new_crate(use: Use, _words: Words) -> None:
    """In a new folder of the project."""
    use.by_name = True
    if not all(re.fullmatch(r"\.|[A-Za-z0-9_](?:(?!\.\.)[\w/-])*", word.text) for word in use.operands):
        use.problems.append("it creates a project elsewhere")


def plain_folder(use: Use, _words: Words) -> None:
    if not all(_FOLDER.fullmatch(word.text) for word in use.operands):
        use.problems.append("it does not build from a plain folder")


def docker_build(use: Use, words: Words) -> None:
    plain_folder(use, words)
    if not all(re.fullmatch(r"[\w.:/=@+-]*", value.replace("$()", "")) for _, value in use.seen):
        use.problems.append("the value of an option is not plain")


def dotnet_add(use: Use, _words: Words) -> None:
    texts = [word.text for word in use.operands]
    if "package" not in texts[:2] or not all(re.fullmatch(r"[A-Za-z][\w./-]*", text) for text in texts):
        use.problems.append("it adds something other than a package by name")


def clang_format(use: Use, words: Words) -> None:
    plain_words(use, words)
    if any(value.lower().startswith("file:") for name, value in use.seen if "style" in name):
        use.problems.append("it takes its style from a file and prints that file's errors")


def make(use: Use, _words: Words) -> None:
    for word in use.operands:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./-]*|V(?:ERBOSE)?=\d", word.text) and not _VARIABLE.fullmatch(
            word.text
        ):
            use.problems.append(f"`{word.text}` is not a plain target name")
    files = use.values("-f", "--file", "--makefile") if use.names[0] in _MAKES else []  # it reads all of them
    if not _MAKEFILES.issuperset(files):
        use.problems.append("`-f` names a different file from the one that the rule names")
    number = r"\d+" if use.option("-j", "--jobs") == "" else "(?!)"  # `-j 8`
    targets = [word.text for word in use.operands if "=" not in word.text]
    folders = use.values("-C", "--directory") if use.names[0] in _MAKES else []
    if not all(_FOLDER.fullmatch(folder) for folder in folders) or len(folders) > 1:
        use.problems.append("`-C` does not name a plain folder of the project")
    _each_named(use, [target for target in targets if not re.fullmatch(number, target)])
    if folders and len(use.names) > 1:  # the targets of another Makefile, which `make test` does not mean
        use.names, use.also = use.names[:1], [use.names, *use.also]


def _each_named(use: Use, goals: list[str]) -> None:
    """`make test install` needs rules for both targets; `make -j4 test` is the same as `make test`. A rule for `make`
    does not cover `make deploy`.
    """
    if goals:
        use.names, use.also = (use.names[0], goals[0]), [(use.names[0], goal) for goal in goals[1:]]
    shows = not _DRY_RUN.isdisjoint(name for name, _ in use.seen)
    use.by_name = not shows and any(suggests_change(goal) for goal in goals if goal not in _ORDINARY_GOALS)


def maven(use: Use, words: Words) -> None:
    for name, value in use.seen:
        if name == "--tests" and not re.fullmatch(r"[A-Za-z0-9_.*$]+", value):
            use.problems.append("`--tests` does not name a plain test")
        if name in ("-x", "--exclude-task") and not re.fullmatch(r"[\w:-]+", value):
            use.problems.append("the excluded task does not have a plain name")
    profiles = {
        f"the option `{word.text}` is not known to be harmless" for word in words if _PROFILE.fullmatch(word.text)
    }
    use.problems[:] = [problem for problem in use.problems if use.names[0] not in _MAVENS or problem not in profiles]
    goals = [word.text for word in use.operands]
    if not all(word.literal and _GOAL.fullmatch(word.text) for word in use.operands):
        use.problems.append("a goal does not have a plain name")
    _each_named(use, goals)
    use.by_name = not all(_is_usual(use, goal) for goal in goals)


def _is_usual(use: Use, goal: str) -> bool:
    """Goals that build, test or show. Any other goal, such as `deploy`, needs a rule that names it."""
    return goal in _GOALS or (use.names[0].endswith(("gradle", "gradlew")) and _TASK.fullmatch(goal) is not None)


def script(use: Use, words: Words) -> None:
    """`npm run NAME -- …`: a rule must name the script, and the arguments passed to it must be plain."""
    texts = [word.text for word in use.operands]
    if use.names[-1] in ("run", "run-script") and use.names[0] in _SCRIPT_RUNNERS and texts:
        _named_script(use, texts.pop(0))
    for before, text in zip(("", *texts), texts, strict=False):
        chosen = _CHOICE.fullmatch(text) is not None if before in _CHOOSING else _CHOSEN.fullmatch(text) is not None
        chosen = chosen or plain_flag(text)
        if not chosen and text not in _SCRIPT_OPTIONS and not _PASSED_ON.fullmatch(text):
            use.problems.append(f"`{text}` is passed on to an unknown program")
    if any(not word.literal for word in words):
        use.problems.append("a wildcard is passed on to an unknown program")


_SERVING = frozenset(("dev", "start", "serve", "server", "watch", "worker", "studio"))  # until someone stops them


def _named_script(use: Use, name: str) -> None:
    """A rule for `npm run` covers the project's scripts, except those whose names suggest that they change more."""
    use.names = (*use.names, name)
    use.by_name = suggests_change(name)


def suggests_change(name: str) -> bool:
    """Whether a script, a target or a session is called like something that changes more: `deploy`, `db:drop`,
    `deployDocs`, and `predeploy`, which belongs to `deploy`.
    """
    parts = {part.lower() for part in _NAME_PART.findall(name)}
    parts |= {part.removeprefix("pre").removeprefix("post") for part in parts}
    return any(part in _SENDING or changes_something(part) for part in parts - _SERVING)


def cargo(use: Use, words: Words) -> None:
    """The words after the options go to the built program; a target that is a file may choose its own linker."""
    if use.operands:
        script(use, words)
    if any(name == "--target" and not re.fullmatch(r"[\w-]+", value) for name, value in use.seen):
        use.problems.append("a target that is a file chooses the programs that build it")


def plain_values(use: Use, _words: Words) -> None:
    """A value containing `=` or `;` does more than set the option: `rustc --print cfg=FILE` writes a file."""
    for name, value in use.seen:
        if not _VALUES.get(name, _PLAIN_VALUE).fullmatch(value):
            use.problems.append(f"the value of `{name}` is not plain")
    if any(word.text.startswith("@") for word in use.operands):
        use.problems.append("`@` reads further options from a file")


def plain_words(use: Use, _words: Words) -> None:
    if any(
        name == "-p" and not re.fullmatch(r"no:[a-z_]+", value) for name, value in use.seen if use.names[-1] in _PYTEST
    ):
        use.problems.append("`-p` loads a module")
    if any(word.text.startswith(("@", "+")) for word in use.operands):
        use.problems.append("`@` reads more options from a file, and `+` chooses another program")
    if any(name in ("-o", "--override-ini") and not _PYTEST_SETTING.fullmatch(value) for name, value in use.seen):
        use.problems.append("`-o` changes a setting that may name a file or a plugin")
    if any(name == "--cov-report" and ":" in value for name, value in use.seen):
        use.problems.append("`--cov-report` with `:` says where to write")
    if use.names[-1] in _PYTEST and any(name == "-W" and not _WARNING.fullmatch(value) for name, value in use.seen):
        use.problems.append("`-W` with a dotted name loads a module")
    _reports(use)


def _reports(use: Use) -> None:
    reports = [value for name, value in use.seen if name in ("--junitxml", "--junit-xml")]
    if not all(map(_REPORT.fullmatch, reports)):
        use.problems.append("its report does not go to a plain file")
    use.writes += map(Word, reports)


def eslint(use: Use, _words: Words) -> None:
    names = ("-f", "--format", "--output-format", "-R", "--reporter")
    if not all(re.fullmatch(r"[a-z,-]+", value) for name, value in use.seen if name in names):
        use.problems.append("a format that is a file runs as code")


def only_checks(use: Use, _words: Words) -> None:
    """Without `--check` it rewrites files, which a rule for the program alone does not cover."""
    use.by_name = use.option("--check", "--diff") is None


def _is_ts_project(word: Word) -> bool:
    folder, _, last = word.text.rpartition("/")
    named = _FOLDER.fullmatch(folder or ".") is not None and _TS_PROJECT.fullmatch(last) is not None
    return named or (_FOLDER.fullmatch(word.text) is not None and not last.endswith(".json"))


def tsc(use: Use, words: Words) -> None:
    plain_words(use, words)
    if use.option("-b", "--build") is not None and not all(map(_is_ts_project, use.operands)):
        use.problems.append("`--build` does not name a plain folder of the project")
    if not all(map(_FOLDER.fullmatch, use.values("--outDir", "--declarationDir"))):
        use.problems.append("`--outDir` does not name a plain folder of the project")
    projects = use.values("-p", "--project")
    if (
        not all(map(_TS_PROJECT.fullmatch, projects))
        and use.option("--noEmit", "--showConfig", "--listFilesOnly") is None
    ):
        use.problems.append("a project file decides what it writes and where")
    if use.option("--noEmit") is not None and any(word.text in ("true", "false") for word in use.operands):
        use.problems.append("`--noEmit false` writes files")
