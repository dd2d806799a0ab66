"""Build tools: whether their arguments stay within the project's targets, folders and switches.

A compiler, launcher or script from elsewhere would be code that nobody has looked at. Decides nothing else.
"""

import re

from assent.lazy_pattern import lazy_pattern
from assent.policy.shell.builders import make, plain_folder, script, suggests_change
from assent.policy.shell.options import Use, Words
from assent.policy.shell.program_models import model
from assent.policy.shell.undescribed import may_be_program

_FOLDER = lazy_pattern(r"\.|(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*")
_ABOVE = ([".."], ["../.."])  # as used for a build folder
_GENERATOR = lazy_pattern(r"[A-Za-z0-9 ]+")
_TARGET = lazy_pattern(r"-?(?:@?@?[\w.-]*//|:)?[\w./:*+-]*")
_SETTING = lazy_pattern(r"(\w+)(?::[A-Z]+)?=([\w.+-]*)")
_SAFE_SETTINGS = frozenset(
    """
    CMAKE_BUILD_TYPE CMAKE_EXPORT_COMPILE_COMMANDS CMAKE_CXX_STANDARD CMAKE_C_STANDARD CMAKE_VERBOSE_MAKEFILE
    CMAKE_COLOR_DIAGNOSTICS CMAKE_POSITION_INDEPENDENT_CODE CMAKE_UNITY_BUILD CMAKE_INTERPROCEDURAL_OPTIMIZATION
    BUILD_TESTING BUILD_SHARED_LIBS
    """.split()  # noqa: SIM905
)
_SWITCH = frozenset("ON OFF TRUE FALSE YES NO 0 1 on off true false".split())  # noqa: SIM905


def cmake(use: Use, _words: Words) -> None:
    for name, value in use.seen:
        if name in ("-S", "-B") and not _FOLDER.fullmatch(value):
            use.problems.append(f"`{name}` does not name a plain folder of the project")
        if name == "-G" and not _GENERATOR.fullmatch(value):
            use.problems.append("`-G` does not name a plain generator")
        if name == "-D" and not _plain_setting(value):
            use.problems.append(f"the setting `{value}` may choose another program")
    if (
        use.names[-1] == "cmake"
        and (use.seen or use.operands)
        and [word.text.rstrip("/") for word in use.operands if word.literal] not in _ABOVE
        and use.option("-B", "--version", "--help", "--preset", "--list-presets") is None
    ):
        use.problems.append("without `-B` it writes into the source folder")


def _plain_setting(text: str) -> bool:
    setting = _SETTING.fullmatch(text)
    if setting is None:
        return False
    name, value = setting.groups()
    return name in _SAFE_SETTINGS or (not name.startswith("CMAKE_") and value in _SWITCH)


def make_folder(use: Use, words: Words) -> None:
    """Ninja and meson: targets as for make, in a folder of the project."""
    if not all(map(_FOLDER.fullmatch, use.values("-C"))):
        use.problems.append("`-C` does not name a plain folder of the project")
    if use.names[-1] == "--build" and len(use.operands) > 1 and use.operands[1].text.isdigit():
        del use.operands[1]  # `--parallel 4`
    if use.names[-1] == "--build" and len(use.operands) > 1:
        use.problems.append("it names more than the build folder")
    if use.names[0] == "meson" or use.names[-1] == "--build":
        plain_folder(use, words)
        if not all(re.fullmatch(r"[\w.,/+-]*", value) for _, value in use.seen):
            use.problems.append("the value of an option is not plain")
    else:
        tasks(use, words)
    goals = use.values("-t", "--target")
    goals += [word.text for word in use.operands if use.names[0] == "meson"]
    if any(map(suggests_change, goals)):
        use.problems.append("the target changes more than the build folder")


def target(use: Use, words: Words) -> None:
    """A task runner: a rule must name the task, and the arguments passed to it must be plain. A rule for `turbo run`
    names no task, so it covers those that change no more than the project.
    """
    script(use, words)
    use.by_name = bool(use.operands)
    if use.operands and (len(use.names) == 1 or suggests_change(use.operands[0].text)):
        use.names = (*use.names, use.operands[0].text)


def targets(use: Use, words: Words) -> None:
    """A task runner that takes several tasks: `turbo run build test` needs rules for both."""
    before = use.names
    target(use, words)
    end = next((at for at, word in enumerate(words) if word.text == "--"), len(words))  # then words for the tasks
    tasks = [word.text for word, at in zip(use.operands, use.operands_at, strict=True) if at < end]
    use.also = [(*before, task) for task in tasks[1:]]


def sessions(use: Use, _words: Words) -> None:
    """Sessions by name, unless the name is also a program."""
    _named_sessions(use, "-s", "-e", "--session", "--sessions")
    for name, value in use.seen:
        known = model(value)
        if not re.fullmatch(r"[\w.,-]*", value) or (known is not None and known.effect == "read"):
            use.problems.append(f"the value of `{name}` is not a plain session name")


def tasks(use: Use, words: Words) -> None:
    """A project task runner: rules must cover each task, and a task named like a program must be named itself."""
    make(use, words)
    use.by_name = use.by_name or any(may_be_program(word.text) for word in use.operands)


def _named_sessions(use: Use, *options: str) -> None:
    """A rule for `nox` does not cover `nox -s publish`."""
    chosen = tuple(value for name, value in use.seen if name in options and suggests_change(value))
    use.names, use.by_name = (*use.names, *chosen), bool(chosen)


def tox(use: Use, _words: Words) -> None:
    _named_sessions(use, "-e")
    if not all(word.text in ("list", "l", "run", "r", "config") for word in use.operands):
        use.problems.append("it may run another program")


def venv(use: Use, _words: Words) -> None:
    if not all(re.fullmatch(r"\.?[\w-]+", word.text) for word in use.operands):
        use.problems.append("it creates an environment elsewhere")


def uv_venv(use: Use, words: Words) -> None:
    venv(use, words)
    versions = use.values("-p", "--python")
    if not all(re.fullmatch(r"(?:python|cpython|pypy)?@?\d[\d.]*", version) for version in versions):
        use.problems.append("`--python` does not name a plain version")


def cmake_install(use: Use, words: Words) -> None:
    """Into a folder of the project; without one it changes the system."""
    cmake(use, words)
    if not all(map(_FOLDER.fullmatch, use.values("--prefix"))):
        use.problems.append("`--prefix` does not name a plain folder of the project")


def bazel(use: Use, _words: Words) -> None:
    if not all(_TARGET.fullmatch(word.text) for word in use.operands):
        use.problems.append("an operand is not a plain target name")
    if not all(re.fullmatch(r"[\w.,:/*+-]*", value) for _, value in use.seen):
        use.problems.append("the value of an option is not plain")
    if use.names[-1] == "run" and use.operands and suggests_change(use.operands[0].text):
        use.names, use.by_name = (*use.names, use.operands[0].text), True
    use.operands = []  # `//src` is not a path on disk


def playbook(use: Use, _words: Words) -> None:
    if (
        use.option("-C", "--check", "--list-tasks", "--list-hosts", "--list-tags", "--syntax-check", "--version")
        is None
    ):
        use.problems.append("without `--check` it changes machines")
