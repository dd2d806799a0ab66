"""Programs that build, test and fetch for a project: which goals, scripts and words go on to code of the project."""

import re

from assent.plan import Word
from assent.policy.shell.options import Use, Words, examine
from assent.policy.shell.unknown import plain_flag

_WARNING = re.compile(r"[a-z]+(?::[A-Za-z0-9 ]*)?(?::[A-Z][A-Za-z]+)?")
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
_PACKAGE = re.compile(r"\.|(?:@[\w.-]+/)?[\w-][\w.-]*(?:@[\w.^~<>=*+-]+)?(?:\[\d*\])?")
_PASSED_ON = re.compile(r"(?:\./)?[A-Za-z0-9_](?:::|[A-Za-z0-9_.\[\]/-])*")
# Options of test programs that choose among the tests, and what they may be followed by.
_CHOOSING = frozenset(("-t", "--testNamePattern", "-g", "--grep"))
_CHOSEN = re.compile(
    r"-t|-g|--grep|--testNamePattern|--(?:testPathPatterns?|testNamePattern|grep|maxWorkers|silent|verbose)=[\w.%-][\w./%-]*"
)
_CHOICE = re.compile(r"[A-Za-z0-9_][\w .:,'#()|-]*")
_GO_PACKAGE = re.compile(r"\.|\./[\w./-]*|[\w-][\w./-]*\.go")
_FOLDER = re.compile(r"\.|\./(?!.*\.\.)[\w./-]*|\w[\w-]*(?:/(?!.*\.\.)[\w./-]*)?")  # `github.com/x` is fetched
_OUTPUT = re.compile(
    r"/dev/null|(?:\./)?(?:bin|build|dist|out|tmp)/[A-Za-z0-9_][\w.-]*|[\w-]*cover[\w-]*\.(?:out|txt)|c\.out"
)
_REPORT = re.compile(r"(?:\./)?(?:(?:build|out|reports|test-results)/)?(?:junit|(?:test-?)?(?:report|results))\.xml")
_REQUIREMENT = re.compile(
    r"[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:@[\w.^~*+-]+|(?:===|[=~!<>^]=?|==)[\w.*+!-]+(?:,(?:[=~!<>]=?|==)[\w.*+!-]+)*)?"
)
_OWN_FILE = re.compile(r"(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*")
_PROJECT = re.compile(r"\.(?:\[[\w,.-]+\])?")
_GO_MODULE = re.compile(r"\.|(?:\./)?[A-Za-z0-9_][\w./-]*(?:\.\.\.)?(?:@[\w.+-]+)?|\./\.\.\.|\.\.\.")
_PLAIN_VALUE = re.compile(r"[\w.,+-]*")
_TEST_FILTER = re.compile(r"[\w .,:=!~&|()-]*")
_VALUES = {"--filter": _TEST_FILTER, "--project": _FOLDER}
_SETTING = re.compile(r"[@A-Za-z][\w.:@/-]*")
_SCRIPT_RUNNERS = ("npm", "pnpm", "yarn", "bun")
_TS_PROJECT = re.compile(r"\.?/?|tsconfig[\w.-]*\.json")
_TASK = re.compile(r"(?:[\w-]*:)*(?:assemble|compile|test|check|lint|jar|classes|dependencies|javadoc)(?:[A-Z]\w*)?")
_VARIABLE = re.compile(r"(?:VERSION|TAG|DEBUG|RELEASE|TEST|TESTS|COVERAGE|JOBS)=[A-Za-z0-9_][\w.-]*")
_USUAL_SCRIPTS = (["test"], ["build"], ["lint"], ["typecheck"])
_MAKES = ("make", "gmake")
_PYTEST = ("pytest", "py.test")


def npm_install(use: Use, _words: Words) -> None:
    """Packages by their plain names: a folder, an address or an archive may hold anything."""
    for word in use.operands:
        if word.text == "." or not _PACKAGE.fullmatch(word.text) or not word.literal:
            use.problems.append(f"`{word.text}` is not the plain name of a package")


def requirements(use: Use, _words: Words) -> None:
    """Packages of Python by their names, with versions; of folders only the project itself."""
    folders = [value for name, value in use.seen if name in ("-e", "--editable") and value]
    if any(not _OWN_FILE.fullmatch(word.text) for word in use.reads):
        use.problems.append("what to install is said by a file elsewhere")
    for text in (*(word.text for word in use.operands), *folders):
        if not _REQUIREMENT.fullmatch(text) and not (_PROJECT.fullmatch(text)):
            use.problems.append(f"`{text}` is not the plain name of a package")
    if any(_FOLDER.fullmatch(text) is None and not _PROJECT.fullmatch(text) for text in folders):
        use.problems.append("`-e` names something outside the project")


def go_modules(use: Use, _words: Words) -> None:
    if not all(_GO_MODULE.fullmatch(word.text) for word in use.operands):
        use.problems.append("an operand is not the plain name of a module or package")


def coverage_run(use: Use, words: Words) -> None:
    """`coverage run -m pytest …`: what is measured is judged as if it ran alone."""
    texts = [word.text for word in words[use.at + 1 :]]
    at = next((index for index, text in enumerate(texts) if text == "-m"), None)
    if at is None or texts[at + 1 : at + 2] != ["pytest"]:
        use.problems.append("it runs a program that is not known")
        return
    use.problems = [problem for problem in use.problems if "`-m`" not in problem]
    inner = examine(texts[at + 1], words[use.at + at + 2 :])
    if inner is not None:
        plain_words(inner, words)
        use.problems += inner.problems
        use.problems += [
            f"`{word.text}` is passed on" for word in inner.operands if not _PASSED_ON.fullmatch(word.text)
        ]


def hook_files(use: Use, _words: Words) -> None:
    """A hook by its name."""
    use.by_name = bool(use.operands)
    pattern = _PASSED_ON if use.option("--files") is not None else re.compile(r"[\w.-]+")
    if not all(pattern.fullmatch(word.text) for word in use.operands):
        use.problems.append("an operand is not the plain name of a hook")


def workspace(use: Use, words: Words) -> None:
    """`yarn workspace NAME SCRIPT`: as `yarn run SCRIPT` there."""
    texts = [word.text for word in use.operands[:2]]
    if len(texts) < 2 or not _PACKAGE.fullmatch(texts[0]):
        use.problems.append("it names no script of a workspace")
    script(use, words)
    use.names, use.by_name = (*use.names, *texts), texts[1:] not in _USUAL_SCRIPTS


def terraform_fmt(use: Use, _words: Words) -> None:
    use.by_name = use.option("-check") is None
    use.writes += use.reads if use.by_name else []


def plan_file(use: Use, _words: Words) -> None:
    """The plan goes to a file of its own, whose name says what it is."""
    file = use.option("-out")
    if file is not None and not re.fullmatch(
        r"(?:\./)?(?:[\w-]+\.)?(?:tf)?plan(?:\.(?:out|tfplan|bin))?|[\w-]+\.tfplan", file
    ):
        use.problems.append("`-out` names a file that is not plain")
    elif file is not None:
        use.writes.append(Word(file))


def npm_config(use: Use, _words: Words) -> None:
    if any(re.search(r"auth|token|password|//|^_", word.text, re.I) for word in use.operands):
        use.problems.append("it may show a password")
    named = bool(use.operands) and all(_SETTING.fullmatch(word.text) for word in use.operands)
    if use.names[0] == "pnpm" and not named:  # `get` of nothing is a list, too
        use.problems.append("it shows passwords with all the rest")


def npm_view(use: Use, _words: Words) -> None:
    if not all(_PACKAGE.fullmatch(word.text) for word in use.operands):
        use.problems.append("what is not the plain name of a package may be fetched from anywhere")


def go_list(use: Use, _words: Words) -> None:
    if use.option("-versions") is not None or any("@" in word.text for word in use.operands):
        use.problems.append("it asks another machine about a module")


def go_build(use: Use, _words: Words) -> None:
    if use.option("-mod") == "mod":
        use.problems.append("`-mod=mod` fetches modules and changes go.mod")
    for name, value in use.seen:
        if name in ("-o", "-coverprofile") and not _OUTPUT.fullmatch(value):
            use.problems.append(f"`{name}` writes a file that is not plain")
        elif name in ("-o", "-coverprofile"):
            use.writes.append(Word(value))


def go_run(use: Use, words: Words) -> None:
    """Only a package of the project; what stands behind it goes on to the program."""
    go_build(use, words)
    if not use.operands or not _GO_PACKAGE.fullmatch(use.operands[0].text):
        use.problems.append("what it runs is not a package of this folder")
    use.problems += [
        f"`{word.text}` is passed on to a program" for word in use.operands[1:] if not _is_go_file(word.text)
    ]


def _is_go_file(text: str) -> bool:
    return text.endswith(".go") and _GO_PACKAGE.fullmatch(text) is not None


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
        use.problems.append("it adds something other than a package by its name")


def clang_format(use: Use, words: Words) -> None:
    plain_words(use, words)
    if any(value.lower().startswith("file:") for name, value in use.seen if "style" in name):
        use.problems.append("it takes its style from a file and shows what is wrong with it")


def make(use: Use, _words: Words) -> None:
    for word in use.operands:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./-]*|V(?:ERBOSE)?=\d", word.text) and not _VARIABLE.fullmatch(
            word.text
        ):
            use.problems.append(f"`{word.text}` is not the plain name of a target")
    number = r"\d+" if use.option("-j", "--jobs") == "" else "(?!)"  # `-j 8`
    targets = [word.text for word in use.operands if "=" not in word.text]
    folders = [value for name, value in use.seen if name in ("-C", "--directory")] if use.names[0] in _MAKES else []
    if not all(_FOLDER.fullmatch(folder) for folder in folders) or len(folders) > 1:
        use.problems.append("`-C` does not name a plain folder of the project")
    _each_named(use, [target for target in targets if not re.fullmatch(number, target)])
    if folders and len(use.names) > 1:  # the targets of another Makefile: `make test` does not mean them
        use.names, use.also = use.names[:1], [use.names, *use.also]


def _each_named(use: Use, goals: list[str]) -> None:
    """`make test install` needs rules for both, and `make -j4 test` is as good as `make test`."""
    if goals:
        use.names, use.also = (use.names[0], goals[0]), [(use.names[0], goal) for goal in goals[1:]]


def maven(use: Use, _words: Words) -> None:
    for name, value in use.seen:
        if name == "--tests" and not re.fullmatch(r"[A-Za-z0-9_.*$]+", value):
            use.problems.append("`--tests` names no plain test")
        if name in ("-x", "--exclude-task") and not re.fullmatch(r"[\w:-]+", value):
            use.problems.append("what is left out is no plain task")
    for word in use.operands:
        if word.text not in _GOALS and not (
            use.names[0].endswith(("gradle", "gradlew")) and _TASK.fullmatch(word.text)
        ):
            use.problems.append(f"the goal `{word.text}` is not known")
    _each_named(use, [word.text for word in use.operands])


def script(use: Use, words: Words) -> None:
    """`npm run NAME -- …`: a rule must name the script; what is passed on to it must be plain."""
    texts = [word.text for word in use.operands]
    if use.names[-1] in ("run", "run-script") and use.names[0] in _SCRIPT_RUNNERS and texts:
        use.names, use.by_name = (*use.names, texts.pop(0)), True
    for before, text in zip(("", *texts), texts, strict=False):
        chosen = _CHOICE.fullmatch(text) is not None if before in _CHOOSING else _CHOSEN.fullmatch(text) is not None
        chosen = chosen or plain_flag(text)
        if not chosen and text not in _SCRIPT_OPTIONS and not _PASSED_ON.fullmatch(text):
            use.problems.append(f"`{text}` is passed on to a program that is not known")
    if any(not word.literal for word in words):
        use.problems.append("a wildcard is passed on to a program that is not known")


def cargo(use: Use, words: Words) -> None:
    """Words behind the options go on to what is built; a target that is a file may name its own linker."""
    if use.operands:
        script(use, words)
    if any(name == "--target" and not re.fullmatch(r"[\w-]+", value) for name, value in use.seen):
        use.problems.append("a target that is a file says what programs build it")


def plain_values(use: Use, _words: Words) -> None:
    """Values with `=` or `;` in them say more than the option: `rustc --print cfg=FILE` writes."""
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
        use.problems.append("`@` reads further options from a file, `+` chooses another program")
    if any(name == "--cov-report" and ":" in value for name, value in use.seen):
        use.problems.append("`--cov-report` with `:` names where it writes")
    if use.names[-1] in _PYTEST and any(name == "-W" and not _WARNING.fullmatch(value) for name, value in use.seen):
        use.problems.append("`-W` with a dotted name loads a module")
    _reports(use)


def _reports(use: Use) -> None:
    reports = [value for name, value in use.seen if name in ("--junitxml", "--junit-xml")]
    if not all(map(_REPORT.fullmatch, reports)):
        use.problems.append("its report is written to a file that is not plainly one")
    use.writes += map(Word, reports)


def eslint(use: Use, _words: Words) -> None:
    names = ("-f", "--format", "--output-format", "-R", "--reporter")
    if not all(re.fullmatch(r"[a-z,-]+", value) for name, value in use.seen if name in names):
        use.problems.append("a format that is a file is run as code")


def only_checks(use: Use, _words: Words) -> None:
    """Without `--check` it rewrites files, which a rule for the whole program does not mean."""
    use.by_name = use.option("--check", "--diff") is None


def tsc(use: Use, words: Words) -> None:
    plain_words(use, words)
    project = use.option("-p", "--project")
    if (
        project is not None
        and not _TS_PROJECT.fullmatch(project)
        and use.option("--noEmit", "--showConfig", "--listFilesOnly") is None
    ):
        use.problems.append("a project file says what it writes and where")
    if use.option("--noEmit") is not None and any(word.text in ("true", "false") for word in use.operands):
        use.problems.append("`--noEmit false` writes files")
