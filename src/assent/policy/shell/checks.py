"""What options alone cannot tell: little languages (sed, awk), and programs whose operands decide between
reading and writing (tar, git branch).

Each check looks at one examined command and adds sentences to its problems. A model names its check; a
name without a function here is an error when the command is judged, not a pass.
"""

import re
from collections.abc import Callable

from assent.plan import Word
from assent.policy.shell.cloud import cloud_problems
from assent.policy.shell.options import Use
from assent.policy.shell.sed import harmful_sed

Words = tuple[Word, ...]

# A `/` behind a name, a number or a bracket divides; behind one of these words, or the bracket of a condition, it may
# begin a pattern.
_DIVISION = re.compile(
    r"(?:[\d\]]|\b(?!(?:print|printf|return|in|else|do|exit|delete|next|getline|length|case)\b)[A-Za-z_]\w*)[ \t]*/"
)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_WARNING = re.compile(r"[a-z]+(?::[A-Za-z0-9 ]*)?(?::[A-Z][A-Za-z]+)?")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REMOTE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_REFERENCE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*(?::[A-Za-z0-9_][A-Za-z0-9_./-]*)?")
_DNS = re.compile(r"[+A-Za-z0-9_][A-Za-z0-9.:_=-]*|@[0-9.]+|-[x46]")
_OLD_TAR = re.compile(r"[tvzjJaf]*t[tvzjJaf]*")
_PS_OPTION = re.compile(
    r"-[AaefFlLMjHTwZdNyc]+|[aufxwlLjTmrhcSv]+|-?[0-9,]+|-[opCuUpgGtO](?!.*environ)[A-Za-z0-9_,%.:=+-]+"
    r"|--(?:forest|headers?|no-headers?|version|help|info|sort=[a-z_,%+-]+|(?:ppid|pid|user|cols|width)=[\w,%=]+)"
)
_PS_VALUED = frozenset(
    [
        "-o",
        "-p",
        "-C",
        "-u",
        "-U",
        "-g",
        "-G",
        "-t",
        "-O",
        "-q",
        "-eo",
        "-ao",
        "-axo",
        "-Ao",
        "-efo",
        "axo",
        "auxo",
        "-fp",
        "-fu",
        "-fC",
        "--ppid",
        "--pid",
        "--sort",
        "--user",
        "--format",
    ]
)
_PS_FRAGILE = re.compile(r"-[A-Za-z]*[uUgGtTHMZcCdNy]")
_PS_VALUE = re.compile(r"(?!.*environ)[A-Za-z0-9_%.+-][A-Za-z0-9_,%.:=+/-]*")
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


def _any(use: Use, _words: Words) -> None:
    """Programs that only print: no word can do harm."""
    use.problems.clear()
    use.texts += use.operands


def _sed(use: Use, _words: Words) -> None:
    scripts = [value for name, value in use.seen if name in ("-e", "--expression")]
    scripts = scripts or [word.text for word in use.texts[:1]]
    if any(not word.literal for word in use.texts):
        use.problems.append("the sed script is not literal")
    for script in scripts:
        if why := harmful_sed(script):
            use.problems.append(why)


def _awk(use: Use, _words: Words) -> None:
    """Patterns and prints only. Where a `/` may begin a pattern, strings and brackets are not told apart."""
    program = use.texts[0].text if use.texts else ""
    plain = _STRING.sub('""', program)
    # The first pattern or remark stands outside of strings, so it is seen here if there is any.
    patterns = re.search(r"[/#]", _DIVISION.sub("", plain)) is not None
    plain = program if patterns else plain
    shown = plain if patterns else _without_brackets(plain)
    if re.search(r"system|getline|ARG[VC]|@|`|\\\n", program) or re.search(r"(?<!\|)\|(?!\|)", plain):
        use.problems.append("the awk program may run other programs")
    elif "ENVIRON" in program:
        use.problems.append("the awk program may show variables")
    elif re.search(r">(?!=)", shown.partition("{")[2]):
        # Where an action ends is not known: a pattern may have braces, too.
        use.problems.append("the awk program may write files")
    elif plain.count("{") != plain.count("}") or re.search(r"\bfunc" if not patterns else r"\{[^}]*\{|\bfunc", plain):
        use.problems.append("the awk program is more than a line of patterns and prints")


def _without_brackets(text: str) -> str:
    """Inside of round brackets `>` compares; outside it writes."""
    kept: list[str] = []
    opened: list[int] = []
    for character in text:
        if character == "(":
            opened.append(len(kept))
        if character == ")" and opened:
            del kept[opened.pop() :]
        else:
            kept.append(character)
    return "".join(kept)


_YQ_COMMANDS = (["eval"], ["e"], ["eval-all"], ["ea"])


def _jq(use: Use, _words: Words) -> None:
    program = use.texts[0].text if use.texts else ""
    if use.names[0] == "yq":  # some of them want a sub-command first
        rest = use.operands[1:] if [word.text for word in use.operands[:1]] in _YQ_COMMANDS else use.operands
        program = " ".join(word.text for word in rest)
    if re.search(r"\$ENV\b|\b(?:str)?env\b|\benvsubst\b", program):
        use.problems.append("the program shows variables")
    if re.search(r"\b(?:load\w*|system|eval|import|include|input_filename|splitDoc)\b", program):
        use.problems.append("the program reads other files or runs something")


def _printf(use: Use, _words: Words) -> None:
    if not use.operands:
        use.problems.append("there is no format")


def _test(use: Use, words: Words) -> None:
    use.problems.clear()
    texts = [word.text for word in words[1:]]
    if words[0].text == "[" and (not texts or texts[-1] != "]"):
        use.problems.append("`[` lacks its `]`")
    if any(not word.literal and word.parts[0].kind == "glob" for word in words[1:]):
        use.problems.append("a wildcard in a condition may become several words")
    if any("$(" in text or "`" in text for text in texts):
        use.problems.append("a condition with a command in it")
    # bash evaluates the subscript of a variable's name here, even a quoted one.
    if "-v" in texts or "-R" in texts:
        use.problems.append("`-v` looks into a variable, whose name may run a command")


def _date(use: Use, _words: Words) -> None:
    if any(not word.text.startswith("+") for word in use.operands):
        use.problems.append("an operand without `+` sets the clock")


def _cd(use: Use, _words: Words) -> None:
    use.problems.clear()
    if len(use.operands) > 1 or any(word.text == "-" for word in use.operands):
        use.problems.append("it goes to something other than one plain folder")
    if any(part.kind == "glob" for word in use.operands for part in word.parts):
        use.problems.append("a wildcard decides where it goes")


def _dig(use: Use, words: Words) -> None:
    use.problems.clear()
    if not all(_DNS.fullmatch(word.text) for word in words[1:]):
        use.problems.append("an argument is not a plain name or a harmless option")


def _tar(use: Use, words: Words) -> None:
    first = words[1].text if len(words) > 1 else ""
    archives = [word.text for word in use.reads]
    if not first.startswith("-"):
        if not _OLD_TAR.fullmatch(first):
            use.problems.append("`tar` without `t` packs or unpacks")
        archives += [word.text for word in use.texts[1:2]]
    elif use.option("-t", "--list") is None and use.option("--version", "--help") is None:
        use.problems.append("`tar` without `-t` packs or unpacks")
    if any(":" in archive for archive in archives):
        use.problems.append("an archive name with `:` is fetched from another machine by a program")


def _unzip(use: Use, _words: Words) -> None:
    if use.option("-l", "-v", "-t", "-Z", "-z", "-p") is None:
        use.problems.append("`unzip` without `-l` unpacks")


def _listing(use: Use, _words: Words) -> None:
    """Of `-l`, `-t` and `-d` the last counts for some; `-c` leaves the files alone beside all of them."""
    looks = use.option("-l", "--list", "-t", "--test") is not None and use.option("-d", "--decompress") is None
    prints = use.option("-V", "--version", "--help") is not None and not use.operands
    if not looks and not prints and use.option("-c", "--stdout") is None:
        use.problems.append("without `-l`, `-t` or `-c` it replaces files")


def _command(use: Use, _words: Words) -> None:
    if use.option("-v", "-V") is not None:
        use.texts += use.payload
        use.payload = ()


_ABOUT = (
    r"(?:table|index|foreign_key|database|function|collation|pragma|module)_(?:x?info|list)|user_version|page_count"
)
_SELECT = re.compile(
    rf"\s*(?:(?:select|with|explain|values)\b(?!.*\n[ \t\r\f\v]*\.).*|pragma\s+(?:{_ABOUT})\s*(?:\([\w'\".]+\))?\s*|)",
    re.I | re.S,
)
_DOT = re.compile(r"\.(?:tables|schema|indexes|databases|dbinfo|headers|mode|width|fullschema|help)(?: [\w%. -]*)?")
_CHANGES = re.compile(
    r"\b(?:insert|update|delete|drop|create|alter|replace|attach|detach|vacuum|reindex|analyze|into|begin|commit|savepoint"
    r"|load_extension|writefile|readfile|fsdir|lsmode|edit|fts3_tokenizer|zipfile|sqlar_uncompress)\b",
    re.I,
)


def _sqlite(use: Use, _words: Words) -> None:
    """Questions only. It also runs with `-safe -readonly`, where nothing else would work."""
    for word in use.texts:
        dotted = word.text.strip().startswith(".")
        parts = [word.text.strip()] if dotted else word.text.split(";")
        if not all((_DOT if dotted else _SELECT).fullmatch(part) for part in parts) or _CHANGES.search(word.text):
            use.problems.append("it may do more than ask the database")
    if not use.texts and use.option("-version", "--version", "-help") is None:
        use.problems.append("it runs what it reads from its input")


_SYSTEM_FILE = re.compile(r"/(?:s?bin|lib\w*|usr)/.*")


def _ldd(use: Use, _words: Words) -> None:
    if not all(_SYSTEM_FILE.fullmatch(word.text) and "/.." not in word.text for word in use.operands):
        use.problems.append("it may start the program that it looks at")


def _cloud(use: Use, words: Words) -> None:
    use.problems[:] = cloud_problems(use.names[0], [word.text for word in words[1:]])


def _terraform_fmt(use: Use, _words: Words) -> None:
    use.by_name = use.option("-check", "-check=true", "-write=false") is None
    use.writes += use.reads if use.by_name else []


def _npm_config(use: Use, _words: Words) -> None:
    if any(re.search(r"auth|token|password|//|^_", word.text, re.I) for word in use.operands):
        use.problems.append("it may show a password")
    if use.names[0] == "pnpm" and use.names[-1] in ("list", "ls"):
        use.problems.append("it shows passwords with all the rest")


_PACKAGE = re.compile(r"\.|(?:@[\w.-]+/)?[\w-][\w.-]*(?:@[\w.^~<>=*+-]+)?(?:\[\d*\])?")


def _npm_view(use: Use, _words: Words) -> None:
    if not all(_PACKAGE.fullmatch(word.text) for word in use.operands):
        use.problems.append("what is not the plain name of a package may be fetched from anywhere")


def _go_list(use: Use, _words: Words) -> None:
    anywhere = use.option("-m") is not None and use.option("-versions") is not None and bool(use.operands)
    if anywhere or any("@" in word.text for word in use.operands):
        use.problems.append("it asks another machine about a module")


# Formats that are programs, or lists of what to fetch.
_NOT_A_PICTURE = re.compile(
    r"\.(?:msl|mvg|svgz?|e?psf?|ai|pdf|xps|txt|m3u8?|sdp|mpd|concat|ffconcat|xml|html?|shtml)$", re.I
)


def _plain_media(use: Use, _words: Words) -> None:
    if any(re.search(r"[:|@]", word.text) for word in (*use.operands, *use.reads)):
        use.problems.append("an operand may be more than the name of a file")
    if use.names[0] != "helm" and any(_NOT_A_PICTURE.search(word.text) for word in use.operands):
        use.problems.append("a file of this kind can run or fetch something")


def _gh(use: Use, _words: Words) -> None:
    if any(name in ("-q", "--jq") and re.search(r"\$ENV|\benv\b", value) for name, value in use.seen):
        use.problems.append("the program shows variables")
    named = [*(value for name, value in use.seen if name in ("-R", "--repo")), *(word.text for word in use.operands)]
    if any(_OTHER_HOST.match(one) for one in named):
        use.problems.append("it talks to another machine than GitHub")


_OTHER_HOST = re.compile(r"(?!https://github\.com/)[a-z]+://|(?!github\.com/)[\w.-]+\.[\w-]+/[^/]+/[^/]+$|.*@.*:", re.I)


def _clang_format(use: Use, words: Words) -> None:
    _plain_words(use, words)
    if any(value.lower().startswith("file:") for name, value in use.seen if "style" in name):
        use.problems.append("it takes its style from a file and shows what is wrong with it")


def _git_format(use: Use, _words: Words) -> None:
    if any(name in ("--format", "--pretty") and "%G" in value for name, value in use.seen):
        use.problems.append("`%G` runs a program that checks signatures")


def _make(use: Use, _words: Words) -> None:
    for word in use.operands:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./-]*", word.text):
            use.problems.append(f"`{word.text}` is not the plain name of a target")


def _maven(use: Use, _words: Words) -> None:
    for name, value in use.seen:
        if name == "--tests" and not re.fullmatch(r"[A-Za-z0-9_.*$]+", value):
            use.problems.append("`--tests` names no plain test")
    for word in use.operands:
        if word.text not in _GOALS:
            use.problems.append(f"the goal `{word.text}` is not known")


def _script(use: Use, words: Words) -> None:
    """`npm run NAME -- …`: a rule must name the script; what is passed on to it must be plain."""
    texts = [word.text for word in use.operands]
    if use.names[-1] in ("run", "run-script") and texts:
        use.names = (*use.names, texts.pop(0))
    for text in texts:
        if text not in _SCRIPT_OPTIONS and not re.fullmatch(r"(?:\./)?[A-Za-z0-9_][A-Za-z0-9_.\[\]/-]*", text):
            use.problems.append(f"`{text}` is passed on to a program that is not known")
    if any(not word.literal for word in words):
        use.problems.append("a wildcard is passed on to a program that is not known")


def _plain_names(use: Use, _words: Words) -> None:
    if not all(_IDENTIFIER.fullmatch(word.text) for word in use.operands):
        use.problems.append("an operand is not a plain name")


_PYTEST = ("pytest", "py.test")


def _plain_words(use: Use, _words: Words) -> None:
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


def _eslint(use: Use, _words: Words) -> None:
    names = ("-f", "--format", "--output-format", "-R", "--reporter")
    if not all(re.fullmatch(r"[a-z,-]+", value) for name, value in use.seen if name in names):
        use.problems.append("a format that is a file is run as code")


def _only_checks(use: Use, _words: Words) -> None:
    """Without `--check` it rewrites files, which a rule for the whole program does not mean."""
    use.by_name = use.option("--check", "--diff") is None


def _tsc(use: Use, words: Words) -> None:
    _plain_words(use, words)
    if use.option("-p", "--project") is not None and use.option("--noEmit", "--showConfig", "--listFilesOnly") is None:
        use.problems.append("a project file says what it writes and where")
    if use.option("--noEmit") is not None and any(word.text in ("true", "false") for word in use.operands):
        use.problems.append("`--noEmit false` writes files")


def _man(use: Use, _words: Words) -> None:
    if any("/" in word.text for word in use.operands):
        use.problems.append("an operand with `/` is a file, not the name of a page")


def _getent(use: Use, _words: Words) -> None:
    if any(word.text in ("shadow", "gshadow") for word in use.operands[:1]):
        use.problems.append("it shows the hashes of passwords")


_IP_OBJECTS = frozenset(
    ("a", "ad", "addr", "address", "l", "li", "link", "r", "ro", "route", "n", "neigh", "neighbour", "ru", "rule")
)
_IP_SHOWS = frozenset(("show", "sh", "list", "ls", "lst", "get"))


def _ip(use: Use, _words: Words) -> None:
    texts = [word.text for word in use.operands]
    if texts and (texts[0] not in _IP_OBJECTS or (len(texts) > 1 and texts[1] not in _IP_SHOWS)):
        use.problems.append("it may change the network")


def _kubectl(use: Use, _words: Words) -> None:
    kinds = [re.split(r"[/.]", kind.strip())[0] for word in use.operands for kind in word.text.lower().split(",")]
    if any(kind in ("secret", "secrets") for kind in kinds):
        use.problems.append("it shows secrets of the cluster")
    if "file" in (use.option("-o", "--output") or ""):
        use.problems.append("it takes its format from a file")


def _grep(use: Use, _words: Words) -> None:
    if any(name in ("-d", "--directories") and value not in ("read", "skip") for name, value in use.seen):
        use.problems.append("`-d` walks through folders; `-r` does so without showing secrets")


def _bat(use: Use, _words: Words) -> None:
    if use.option("--paging") not in (None, "never", "auto"):
        use.problems.append("it shows files on a screen, from which commands can be started")


def _rg(use: Use, _words: Words) -> None:
    if use.option("-L", "--follow") is not None:
        use.problems.append("it follows links, which may lead to secrets")


def _ps(use: Use, words: Words) -> None:
    """Words without a dash are BSD options, among which `e` shows the variables of every process."""
    use.problems.clear()
    texts = [word.text for word in words[1:]]
    before = ["", *texts]
    for earlier, text in zip(before, texts, strict=False):
        valued = earlier in _PS_VALUED and _PS_VALUE.fullmatch(text)
        if not valued and text not in _PS_VALUED and not _PS_OPTION.fullmatch(text):
            use.problems.append(f"`{text}` may show the variables of processes")
    # When it cannot make sense of its options, ps reads `-e` as the `e` without a dash.
    if any(re.match(r"-[A-Za-z]*e", text) for text in texts) and any(_PS_FRAGILE.match(text) for text in texts):
        use.problems.append("`-e` beside an option that may fail can show the variables of processes")


def _dpkg(use: Use, _words: Words) -> None:
    if not use.seen:
        use.problems.append("without `-l`, `-L`, `-s` or `-S` it changes packages")


_LISTING = ("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")


def _git_listing(use: Use, _words: Words) -> None:
    if use.operands and use.option(*_LISTING) is None:
        use.problems.append(f"`{' '.join(use.names)}` with a name makes or changes it")


def _git_config(use: Use, _words: Words) -> None:
    texts = [word.text for word in use.operands]
    if use.option("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list") is not None:
        return
    if texts[:1] in (["get"], ["list"]):
        texts = texts[1:]
    if len(texts) != 1 or texts[0] in ("set", "unset", "edit", "rename-section", "remove-section"):
        use.problems.append("`git config` with a value changes settings")


def _git_outside(use: Use, _words: Words) -> None:
    """What is not under version control is where secrets are."""
    if use.option("--no-index", "--untracked", "--no-exclude-standard") is not None:
        use.problems.append("it also looks at files that are not under version control, which may hold secrets")


_OUTSIDE = re.compile(r"[/~]|(?:.*/)?\.\.(?:/|$)")


def _git_diff(use: Use, words: Words) -> None:
    """Two paths of which one is outside the repository are compared as they lie there, with all that is in them."""
    _git_outside(use, words)
    if len(use.operands) == 2 and any(not word.literal or _OUTSIDE.match(word.text) for word in use.operands):
        use.problems.append("it may compare files that are not under version control, which may hold secrets")


def _git_reflog(use: Use, _words: Words) -> None:
    if any(word.text in ("expire", "delete", "drop", "write") for word in use.operands):
        use.problems.append("it deletes the memory of old commits")


def _git_checkout(use: Use, words: Words) -> None:
    plain = all(_REFERENCE.fullmatch(word.text) for word in use.operands)
    if not plain or any(word.text == "--" for word in words):
        use.problems.append("it may throw changes in files away")


def _never(use: Use, _words: Words) -> None:
    if not use.seen:
        use.problems.append("it changes the system or the shell and is never allowed by its name")


def _git_remote(use: Use, _words: Words) -> None:
    texts = [word.text for word in use.operands]
    if texts and not _REMOTE.fullmatch(texts[0]):
        use.problems.append(f"`{texts[0]}` is not the plain name of a remote")
    for text in texts[1:]:
        if not _REFERENCE.fullmatch(text):
            use.problems.append(f"`{text}` forces or deletes a branch")


CHECKS: dict[str, Callable[[Use, Words], None]] = {
    "any": _any,
    "sed": _sed,
    "awk": _awk,
    "jq": _jq,
    "printf": _printf,
    "test": _test,
    "date": _date,
    "cd": _cd,
    "dig": _dig,
    "tar": _tar,
    "unzip": _unzip,
    "listing": _listing,
    "command": _command,
    "sqlite": _sqlite,
    "ldd": _ldd,
    "cloud": _cloud,
    "terraform-fmt": _terraform_fmt,
    "npm-config": _npm_config,
    "npm-view": _npm_view,
    "go-list": _go_list,
    "gh": _gh,
    "clang-format": _clang_format,
    "plain-media": _plain_media,
    "git-format": _git_format,
    "make": _make,
    "maven": _maven,
    "script": _script,
    "plain-names": _plain_names,
    "plain-words": _plain_words,
    "eslint": _eslint,
    "dpkg": _dpkg,
    "grep": _grep,
    "rg": _rg,
    "bat": _bat,
    "man": _man,
    "tsc": _tsc,
    "only-checks": _only_checks,
    "getent": _getent,
    "ip": _ip,
    "kubectl": _kubectl,
    "ps": _ps,
    "git-listing": _git_listing,
    "git-config": _git_config,
    "git-reflog": _git_reflog,
    "git-outside": _git_outside,
    "git-diff": _git_diff,
    "git-remote": _git_remote,
    "git-checkout": _git_checkout,
    "never": _never,
}


def run_check(use: Use, words: Words) -> None:
    """The check that the model names, if it does."""
    if use.model.check:
        CHECKS[use.model.check](use, words)
