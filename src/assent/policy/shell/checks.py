"""Checks beyond options: programs whose operands decide whether they read or write (tar, date).

Small languages, git and build tools have modules of their own; the table of all checks is here. Each check looks at one
examined command and adds sentences to its problems. A model names its check; a name without a function here is an error
when the command is judged, not a pass.
"""

import re
from collections.abc import Callable
from itertools import takewhile

from assent.plan import Word
from assent.policy.shell import builders, compilers, compiling, containers, git, languages, services
from assent.policy.shell.cloud import CHANGES, changes_by_name, cloud_problems, without_account
from assent.policy.shell.operands import is_several
from assent.policy.shell.options import Use, Words
from assent.policy.shell.paths import may_be_protected, secret
from assent.secrets.secret_words import variable_is_secret

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DNS = re.compile(r"[+A-Za-z0-9_][A-Za-z0-9.:_=-]*|@[0-9.]+|-[x46]")
_OLD_TAR = re.compile(r"[tvzjJaf]*t[tvzjJaf]*")
_OLD_TAR_PACKS = re.compile(r"(?=[a-zJ]*c)[cvzjJap]+f")
_TAR_FILE = re.compile(r"(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*\.(?:tar(?:\.\w+)?|tgz|tbz2?|txz|tzst)")
_PACKED = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst"}
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


def _any(use: Use, _words: Words) -> None:
    """Programs that only print: no argument can do harm."""
    use.problems.clear()
    use.texts += use.operands


def _printf(use: Use, _words: Words) -> None:
    if not use.operands:
        use.problems.append("the format is missing")


def _test(use: Use, words: Words) -> None:
    use.problems.clear()
    texts = [word.text for word in words[1:]]
    if words[0].text == "[" and (not texts or texts[-1] != "]"):
        use.problems.append("`[` has no matching `]`")
    if any(not word.literal and word.parts[0].kind == "glob" for word in words[1:]):
        use.problems.append("a wildcard in a condition may expand to several words")
    if any("$(" in word.text or "`" in word.text for word in words[1:] if not word.unknown):
        use.problems.append("a condition contains a command")
    # Here bash evaluates the subscript of a variable name, even inside quotes.
    if "-v" in texts or "-R" in texts:
        use.problems.append("`-v` looks up a variable whose name may run a command")


def _date(use: Use, _words: Words) -> None:
    if any(not word.text.startswith("+") for word in use.operands):
        use.problems.append("an operand without `+` sets the clock")


def _cd(use: Use, _words: Words) -> None:
    use.problems.clear()
    if len(use.operands) > 1 or any(word.text == "-" for word in use.operands):
        use.problems.append("it changes to something other than one plain folder")
    if any(map(is_several, use.operands)):
        use.problems.append("a wildcard decides which folder it changes to")


def _dig(use: Use, words: Words) -> None:
    use.problems.clear()
    if not all(_DNS.fullmatch(word.text) for word in words[1:]):
        use.problems.append("an argument is neither a plain name nor a harmless option")


def _tar(use: Use, words: Words) -> None:
    first = words[1].text if len(words) > 1 else ""
    archives = [word.text for word in use.reads]
    if _tar_packs(use, first):
        return
    if not first.startswith("-"):
        if not _OLD_TAR.fullmatch(first):
            use.problems.append("`tar` without `t` packs or unpacks")
        archives += [word.text for word in use.texts[1:2]]
    elif use.option("-t", "--list") is None and use.option("--version", "--help") is None:
        use.problems.append("`tar` without `-t` packs or unpacks")
    if any(":" in archive for archive in archives):
        use.problems.append("an archive name with `:` is fetched from another machine by another program")


def _tar_packs(use: Use, first: str) -> bool:
    """`tar -czf x.tgz FILES` writes a file recognizable by its name; true if that is all it does."""
    old = _OLD_TAR_PACKS.fullmatch(first) is not None
    if not old and use.option("-c", "--create") is None:
        return False
    named = [value for name, value in use.seen if name in ("-f", "--file")] or [word.text for word in use.texts[1:2]]
    packed = use.texts[2:] if old else use.texts
    if (
        len(named) != 1
        or not _TAR_FILE.fullmatch(named[0])
        or use.option("-T", "--files-from", "-C", "--directory", "-X", "--exclude-from", "-h", "-P") is not None
    ):
        return False
    if not all(
        word.literal and re.fullmatch(r"\.|(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*", word.text) for word in packed
    ):
        return False
    use.excuse("-c", "--create")
    use.makes = True
    use.writes.append(Word(named[0]))
    use.reads = [*(word for word in use.reads if word.text != named[0]), *packed]
    return True


def _unzip(use: Use, _words: Words) -> None:
    """`-p` shows the files named after the archive, or all of them."""
    shown = use.texts
    if use.option("-p") is not None and (not shown or any(not word.literal or secret(word, "/") for word in shown)):
        use.problems.append("it may show a secret")
    if use.option("-l", "-v", "-t", "-Z", "-z", "-p") is None:
        use.problems.append("`unzip` without `-l` unpacks")


def _listing(use: Use, _words: Words) -> None:
    """For some programs the last of `-l`, `-t` and `-d` wins; `-c` always leaves the files alone."""
    looks = use.option("-l", "--list", "-t", "--test") is not None and use.option("-d", "--decompress") is None
    prints = use.option("-V", "--version", "--help") is not None and not use.operands
    keeps = use.option("-k", "--keep") is not None and use.option("-d", "--decompress", "-f", "--force") is None
    if keeps and use.names[0] in _PACKED and use.operands:
        use.makes, use.by_name = True, True
        use.writes += [Word(word.text + _PACKED[use.names[0]], word.literal) for word in use.operands]
        return
    if not looks and not prints and use.option("-c", "--stdout") is None:
        use.problems.append("without `-l`, `-t` or `-c` it replaces files")


def _command(use: Use, _words: Words) -> None:
    if use.option("-v", "-V") is not None:
        use.texts += use.payload
        use.payload = ()


_SYSTEM_FILE = re.compile(r"/(?:s?bin|lib\w*|usr)/.*")


def _ldd(use: Use, _words: Words) -> None:
    if not all(_SYSTEM_FILE.fullmatch(word.text) and "/.." not in word.text for word in use.operands):
        use.problems.append("it may start the program it inspects")


def _cloud(use: Use, words: Words) -> None:
    texts = without_account([word.text for word in words[1:]])
    use.problems[:] = cloud_problems(use.names[0], texts)
    if use.problems == [CHANGES] and (named := changes_by_name(use.names[0], texts)):
        use.names, use.by_name = named, True
        use.problems.clear()
        return
    use.names = (use.names[0], *takewhile(lambda text: not text.startswith("-"), texts))


# Formats that are programs, or lists of things to fetch.
_NOT_A_PICTURE = re.compile(
    r"\.(?:msl|mvg|svgz?|e?psf?|ai|pdf|xps|txt|m3u8?|sdp|mpd|concat|ffconcat|xml|html?|shtml)$", re.I
)


def _plain_media(use: Use, _words: Words) -> None:
    given = [
        *(word.text for word in (*use.operands, *use.reads)),
        *(value for name, value in use.seen if name == "-format"),
    ]
    if any(re.search(r"[:|@]", text) for text in given):
        use.problems.append("an operand may be more than a file name")
    if use.names[0] != "helm" and any(_NOT_A_PICTURE.search(word.text) for word in use.operands):
        use.problems.append("a file of this type can run or fetch something")
    if use.found or any(is_several(word) and not _ENDS_PLAINLY.search(word.text) for word in use.operands):
        use.problems.append("the files may include one of a type that can run or fetch something")


_ENDS_PLAINLY = re.compile(r"\.\w+$")


def _gh(use: Use, _words: Words) -> None:
    if any(name in ("-q", "--jq") and re.search(r"\$ENV|\benv\b", value) for name, value in use.seen):
        use.problems.append("the program shows environment variables")
    named = [*(value for name, value in use.seen if name in ("-R", "--repo")), *(word.text for word in use.operands)]
    if use.names[1:2] == ("api",) and any(one.strip("/") == "graphql" for one in named):
        use.problems.append("a GraphQL query may change something")
    if any(_OTHER_HOST.match(one) for one in named):
        use.problems.append("it contacts a machine other than GitHub")


_OTHER_HOST = re.compile(r"(?!https://github\.com/)[a-z]+://|(?!github\.com/)[\w.-]+\.[\w-]+/[^/]+/[^/]+$|.*@.*:", re.I)


def _plain_names(use: Use, _words: Words) -> None:
    if not all(_IDENTIFIER.fullmatch(word.text) for word in use.operands):
        use.problems.append("an operand is not a plain name")


def _man(use: Use, _words: Words) -> None:
    if any("/" in word.text for word in use.operands):
        use.problems.append("an operand with `/` is a file, not a page name")


def _variables(use: Use, _words: Words) -> None:
    if any(variable_is_secret(word.text) for word in use.operands):
        use.problems.append("it prints a variable that may hold a secret")


def _ack(use: Use, _words: Words) -> None:
    if any(re.search(r"\(\?\??\{", word.text) for word in use.texts):
        use.problems.append("the pattern contains code")


def _getent(use: Use, _words: Words) -> None:
    if any(word.text in ("shadow", "gshadow") for word in use.operands[:1]):
        use.problems.append("it shows password hashes")


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
        use.problems.append("it reads its format from a file")


def _grep(use: Use, _words: Words) -> None:
    if any(name in ("-d", "--directories") and value not in ("read", "skip") for name, value in use.seen):
        use.problems.append("`-d` searches folders; `-r` does too, and leaves secrets out")


def _less(use: Use, _words: Words) -> None:
    if any(word.text.startswith("+") for word in use.operands):
        use.problems.append("`+` gives the pager a command")


def _bat(use: Use, _words: Words) -> None:
    if use.option("--paging") not in (None, "never", "auto"):
        use.problems.append("it shows files in a pager, which can start commands")


def _rg(use: Use, _words: Words) -> None:
    if use.option("-L", "--follow") is not None:
        use.problems.append("it follows links, which may lead to secrets")


def _ps(use: Use, words: Words) -> None:
    """Arguments without a dash are BSD options; `e` among them shows the environment of every process."""
    use.problems.clear()
    texts = [word.text for word in words[1:]]
    before = ["", *texts]
    for earlier, text in zip(before, texts, strict=False):
        valued = earlier in _PS_VALUED and _PS_VALUE.fullmatch(text)
        if not valued and text not in _PS_VALUED and not _PS_OPTION.fullmatch(text):
            use.problems.append(f"`{text}` may show the environment of processes")
    # If ps cannot make sense of its options, it reads `-e` as BSD `e`.
    if any(re.match(r"-[A-Za-z]*e", text) for text in texts) and any(_PS_FRAGILE.match(text) for text in texts):
        use.problems.append("`-e` together with an option that may fail can show the environment of processes")


def _dpkg(use: Use, _words: Words) -> None:
    if not use.seen:
        use.problems.append("without `-l`, `-L`, `-s` or `-S` it changes packages")


def _certificate(use: Use, _words: Words) -> None:
    """A certificate is public, and nothing else in the file is shown."""
    given = use.option("-in") or ""
    if not re.fullmatch(r"[\w./-]*", given) or given.endswith(".key") or use.option("-noout") is None:
        use.problems.append("it may show more than a certificate")


def _kubectl_apply(use: Use, _words: Words) -> None:
    if use.names[-1] == "apply" and use.option("--dry-run") not in ("client", "server"):
        use.by_name = True  # it changes the cluster
    if any("://" in word.text or word.text == "-" for word in use.reads):
        use.problems.append("what it applies comes from elsewhere")


def _cluster(use: Use, words: Words) -> None:
    """It changes the cluster, so a rule must name it. Its input comes from project files."""
    _kubectl_apply(use, words)
    _kubectl(use, words)
    use.by_name = True


_ARCHIVE = re.compile(r"(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*\.zip")


# Folders that programs create again, by their usual names.
_MADE_ANEW = re.compile(
    r"(?:\./)?(?:[A-Za-z0-9_][\w-]*/)*(?:build|dist|out|target|node_modules|coverage|htmlcov|__pycache__|_build|storybook-static"
    r"|[\w-]+\.egg-info|\.(?:pytest_cache|mypy_cache|ruff_cache|tox|nox|next|nuxt|turbo|parcel-cache|svelte-kit|eggs|nyc_output))/?"
)


def _rm(use: Use, _words: Words) -> None:
    """A folder is deleted with its content only if a program creates it again, or if the rule says `-r`."""
    if not use.operands or not all(word.literal and _MADE_ANEW.fullmatch(word.text) for word in use.operands):
        return
    use.excuse("-r", "-R", "--recursive")
    use.writes = [word for word in use.writes if "node_modules" not in word.text]


def _plain_image(use: Use, _words: Words) -> None:
    """Images and containers by plain name. Everything deleted is named explicitly, so a rule is enough."""
    use.by_name = True
    plain = re.compile(r"[A-Za-z0-9][\w./:@-]*")
    if not use.operands or not all(
        plain.fullmatch(word.text) or (word.unknown and word.fixed) for word in use.operands
    ):
        use.problems.append("it does not name a plain image or container")


def _packing(use: Use, _words: Words) -> None:
    """Into a file whose name marks it as an archive."""
    if not use.operands or not _ARCHIVE.fullmatch(use.operands[0].text):
        use.problems.append("it does not pack into a plain archive")
    if len(use.operands) < 2:
        use.problems.append("it names nothing to pack")


def _compose_names(use: Use, _words: Words) -> None:
    """The full configuration includes the values of `.env`."""
    containers.compose(use, _words)
    if use.option("-q", "--quiet", "--services", "--images", "--volumes", "--profiles") is None:
        use.problems.append("it shows variables, which may hold secrets")


def _by_name(use: Use, _words: Words) -> None:
    """A rule must name it in full."""
    use.by_name = True


_ORDINARY_MODE = re.compile(r"[ua]?[+-]x|0?(?:644|755|600|700)")


def _mode(use: Use, _words: Words) -> None:
    """A rule must name the permissions, unless they are those of ordinary files and scripts."""
    mode = use.operands[0].text if use.operands else ""
    use.names, use.by_name = (*use.names, mode), not _ORDINARY_MODE.fullmatch(mode)
    if not re.fullmatch(r"[uga]*[+-][rwx]+|0?[4567][04567]{2}", mode):
        use.problems.append("it sets permissions that are not plain")


_SIGNAL = re.compile(r"-(?:TERM|INT|HUP|15|2|1|0)")


def _kill(use: Use, words: Words) -> None:
    """Processes by number; a signal that they cannot handle needs a rule that names it."""
    texts = [word.text for word in words[1:]]
    numbers = texts[1:] if texts and _SIGNAL.fullmatch(texts[0]) else texts
    if numbers and all(re.fullmatch(r"\d{2,}", text) for text in numbers):
        use.problems.clear()
        return
    _never(use, words)


def _link(use: Use, _words: Words) -> None:
    """`ln -s FILE NAME`: both in the workspace, neither of them through `..`."""
    if use.option("-s", "--symbolic") is None or len(use.operands) != 2:
        use.problems.append("it is not one plain symbolic link")
        return
    target, link = use.operands
    if not all(word.literal and _PLAIN_PATH.fullmatch(word.text) for word in use.operands) or secret(target, "/"):
        use.problems.append(f"{target.text} is not plainly a file of the workspace")
    if may_be_protected(target.text.rstrip("/").rpartition("/")[2]):  # in a folder, the link has the name of the file
        use.problems.append(f"{target.text} is run or trusted by tools or later commands")
    use.writes.append(link)


_PLAIN_PATH = re.compile(r"(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*")


def _patch(use: Use, _words: Words) -> None:
    """The patch says which files it changes."""
    if use.option("--dry-run", "--version", "--help") is None:
        use.problems.append("without `--dry-run` it changes files that only the patch names")


def _never(use: Use, _words: Words) -> None:
    if not use.seen:
        use.problems.append("it changes the system or the shell, so a rule for its name alone never allows it")


CHECKS: dict[str, Callable[[Use, Words], None]] = {
    "any": _any,
    "sed": languages.sed,
    "awk": languages.awk,
    "jq": languages.jq,
    "printf": _printf,
    "test": _test,
    "date": _date,
    "cd": _cd,
    "dig": _dig,
    "tar": _tar,
    "unzip": _unzip,
    "listing": _listing,
    "command": _command,
    "sqlite": languages.sqlite,
    "ldd": _ldd,
    "cloud": _cloud,
    "terraform-fmt": builders.terraform_fmt,
    "plan-file": builders.plan_file,
    "npm-config": builders.npm_config,
    "npm-view": builders.npm_view,
    "go-list": builders.go_list,
    "go-build": builders.go_build,
    "cargo": builders.cargo,
    "plain-values": builders.plain_values,
    "go-run": builders.go_run,
    "plain-folder": builders.plain_folder,
    "variables": _variables,
    "ack": _ack,
    "gh": _gh,
    "clang-format": builders.clang_format,
    "plain-media": _plain_media,
    "git-format": git.git_format,
    "make": builders.make,
    "maven": builders.maven,
    "script": builders.script,
    "plain-names": _plain_names,
    "plain-words": builders.plain_words,
    "eslint": builders.eslint,
    "dpkg": _dpkg,
    "grep": _grep,
    "rg": _rg,
    "bat": _bat,
    "less": _less,
    "man": _man,
    "tsc": builders.tsc,
    "only-checks": builders.only_checks,
    "getent": _getent,
    "ip": _ip,
    "kubectl": _kubectl,
    "ps": _ps,
    "git-branch": git.git_branch,
    "git-tag": git.git_tag,
    "git-address": git.git_address,
    "git-worktree": git.git_worktree,
    "git-config": git.git_config,
    "git-reflog": git.git_reflog,
    "git-outside": git.git_outside,
    "git-diff": git.git_diff,
    "git-remote": git.git_remote,
    "git-checkout": git.git_checkout,
    "git-names": git.git_names,
    "git-commit": git.git_commit,
    "git-restore": git.git_restore,
    "git-clean": git.git_clean,
    "git-apply": git.git_apply,
    "git-add": git.git_add,
    "git-rm": git.git_rm,
    "format-patch": git.format_patch,
    "npm-install": builders.npm_install,
    "requirements": builders.requirements,
    "go-modules": builders.go_modules,
    "coverage-run": builders.coverage_run,
    "hook-files": builders.hook_files,
    "workspace": builders.workspace,
    "curl": services.curl,
    "wget": services.wget,
    "sql": services.sql,
    "redis": services.redis,
    "fingerprint": services.fingerprint,
    "cmake": compiling.cmake,
    "make-folder": compiling.make_folder,
    "bazel": compiling.bazel,
    "target": compiling.target,
    "sessions": compiling.sessions,
    "tasks": compiling.tasks,
    "venv": compiling.venv,
    "tox": compiling.tox,
    "playbook": compiling.playbook,
    "docker-build": builders.docker_build,
    "dotnet-add": builders.dotnet_add,
    "certificate": _certificate,
    "compiler": compilers.compiler,
    "javac": compilers.javac,
    "rustc": compilers.rustc,
    "container": containers.container,
    "compose": containers.compose,
    "pod": containers.pod,
    "release": containers.release,
    "served": services.served,
    "node-test": builders.node_test,
    "dotnet-new": builders.dotnet_new,
    "plain-revision": builders.plain_revision,
    "variables-of-plan": builders.plan_variables,
    "cluster": _cluster,
    "packing": _packing,
    "rm": _rm,
    "plain-image": _plain_image,
    "terraform-apply": builders.terraform_apply,
    "go-cover": builders.go_cover,
    "npm-version": builders.npm_version,
    "new-crate": builders.new_crate,
    "uv-venv": compiling.uv_venv,
    "cmake-install": compiling.cmake_install,
    "kubectl-apply": _kubectl_apply,
    "compose-names": _compose_names,
    "named": _by_name,
    "mode": _mode,
    "kill": _kill,
    "link": _link,
    "patch": _patch,
    "never": _never,
}


# These look at options, at the number of operands, or at nothing that a file name could change.
_WILDCARDS_ARE_FINE = frozenset(
    (
        *("any", "bat", "eslint", "git-diff", "git-format", "git-outside", "go-build", "grep"),
        *("listing", "only-checks", "plain-words", "printf", "rg", "tar", "tsc", "unzip"),
    )
)


def run_check(use: Use, words: Words) -> None:
    """Run the check that the model names, if any. It sees the text of a wildcard, not its matches."""
    if not use.model.check:
        return
    CHECKS[use.model.check](use, words)
    if use.model.check not in _WILDCARDS_ARE_FINE and (use.wild or any(map(is_several, use.texts))):
        use.problems.append("a wildcard stands where a word decides what the command does")
