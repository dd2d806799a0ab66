"""Programs that build, test and fetch for a project: which goals, scripts and words go on to code of the project."""

import re

from assent.policy.shell.options import Use, Words
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
_FOLDER = re.compile(r"\.|\./[\w./-]*|\w[\w-]*(?:/[\w./-]*)?")  # `github.com/x` is fetched
_PLAIN_VALUE = re.compile(r"[\w.,+-]*")
_TEST_FILTER = re.compile(r"[\w .,:=!~&|()-]*")
_SETTING = re.compile(r"[@A-Za-z][\w.:@/-]*")
_PYTEST = ("pytest", "py.test")


def terraform_fmt(use: Use, _words: Words) -> None:
    use.by_name = use.option("-check") is None
    use.writes += use.reads if use.by_name else []


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
    if use.option("-o") not in (None, "/dev/null"):
        use.problems.append("`-o` writes a file")


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


def clang_format(use: Use, words: Words) -> None:
    plain_words(use, words)
    if any(value.lower().startswith("file:") for name, value in use.seen if "style" in name):
        use.problems.append("it takes its style from a file and shows what is wrong with it")


def make(use: Use, _words: Words) -> None:
    for word in use.operands:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./-]*|V(?:ERBOSE)?=\d", word.text):
            use.problems.append(f"`{word.text}` is not the plain name of a target")
    number = r"\d+" if use.option("-j", "--jobs") == "" else "(?!)"  # `-j 8`
    targets = [word.text for word in use.operands if "=" not in word.text]
    _each_named(use, [target for target in targets if not re.fullmatch(number, target)])


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
        if word.text not in _GOALS:
            use.problems.append(f"the goal `{word.text}` is not known")
    _each_named(use, [word.text for word in use.operands])


def script(use: Use, words: Words) -> None:
    """`npm run NAME -- …`: a rule must name the script; what is passed on to it must be plain."""
    texts = [word.text for word in use.operands]
    if use.names[-1] in ("run", "run-script") and texts:
        use.names = (*use.names, texts.pop(0))
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
        if not (_TEST_FILTER if name == "--filter" else _PLAIN_VALUE).fullmatch(value):
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


def eslint(use: Use, _words: Words) -> None:
    names = ("-f", "--format", "--output-format", "-R", "--reporter")
    if not all(re.fullmatch(r"[a-z,-]+", value) for name, value in use.seen if name in names):
        use.problems.append("a format that is a file is run as code")


def only_checks(use: Use, _words: Words) -> None:
    """Without `--check` it rewrites files, which a rule for the whole program does not mean."""
    use.by_name = use.option("--check", "--diff") is None


def tsc(use: Use, words: Words) -> None:
    plain_words(use, words)
    if use.option("-p", "--project") is not None and use.option("--noEmit", "--showConfig", "--listFilesOnly") is None:
        use.problems.append("a project file says what it writes and where")
    if use.option("--noEmit") is not None and any(word.text in ("true", "false") for word in use.operands):
        use.problems.append("`--noEmit false` writes files")
