"""Checks beyond options: programs whose operands decide whether they read or write (test, ln).

The table of all checks is here; those of git, build tools, archives and so on are in modules of their own. Each check
looks at one examined command and adds sentences to its problems. A model names its check; a name without a function
here is an error when the command is judged, not a pass.
"""

import re
from collections.abc import Callable

from assent.lazy_pattern import lazy_pattern
from assent.policy.shell import (
    archives,
    builders,
    compilers,
    compiling,
    containers,
    git,
    hosted_services,
    languages,
    services,
    system_programs,
)
from assent.policy.shell.operands import is_several
from assent.policy.shell.options import Use, Words
from assent.policy.shell.paths import may_be_protected, secret

_IDENTIFIER = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")


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


def _cd(use: Use, _words: Words) -> None:
    use.problems.clear()
    if len(use.operands) > 1 or any(word.text == "-" for word in use.operands):
        use.problems.append("it changes to something other than one plain folder")
    if any(map(is_several, use.operands)):
        use.problems.append("a wildcard decides which folder it changes to")


def _command(use: Use, _words: Words) -> None:
    if use.option("-v", "-V") is not None:
        use.texts += use.payload
        use.payload = ()


# Formats that are programs, or lists of things to fetch.
_NOT_A_PICTURE = lazy_pattern(
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


_ENDS_PLAINLY = lazy_pattern(r"\.\w+$")


def _plain_names(use: Use, _words: Words) -> None:
    if not all(_IDENTIFIER.fullmatch(word.text) for word in use.operands):
        use.problems.append("an operand is not a plain name")


def _ack(use: Use, _words: Words) -> None:
    if any(re.search(r"\(\?\??\{", word.text) for word in use.texts):
        use.problems.append("the pattern contains code")


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


# Folders that programs create again, by their usual names.
_MADE_ANEW = lazy_pattern(
    r"(?:\./)?(?:[A-Za-z0-9_][\w-]*/)*(?:build|dist|out|target|node_modules|coverage|htmlcov|__pycache__|_build|storybook-static"
    r"|[\w-]+\.egg-info|\.(?:pytest_cache|mypy_cache|ruff_cache|tox|nox|next|nuxt|turbo|parcel-cache|svelte-kit|eggs|nyc_output))/?"
)


_CACHED = lazy_pattern(r"(?:^|/)(?:node_modules|__pycache__)(?:/|$)")


def _rm(use: Use, _words: Words) -> None:
    """A folder is deleted with its content only if a program creates it again, or if the rule says `-r`."""
    if not use.operands or not all(word.literal and _MADE_ANEW.fullmatch(word.text) for word in use.operands):
        return
    use.excuse("-r", "-R", "--recursive")
    use.writes = [word for word in use.writes if not _CACHED.search(word.text)]


def _install(use: Use, _words: Words) -> None:
    """With `-d` it creates folders, like `mkdir -p`."""
    if use.option("-d", "--directory") is not None:
        use.reads, use.writes = [], list(use.operands)


def _by_name(use: Use, _words: Words) -> None:
    """A rule must name it in full."""
    use.by_name = True


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


_PLAIN_PATH = lazy_pattern(r"(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*")


def _patch(use: Use, _words: Words) -> None:
    """The patch says which files it changes."""
    if use.option("--dry-run", "--version", "--help") is None:
        use.confined = True
    if use.operands:
        use.problems.append("it names the file to change; let the patch name it")


CHECKS: dict[str, Callable[[Use, Words], None]] = {
    "any": _any,
    "sed": languages.sed,
    "awk": languages.awk,
    "jq": languages.jq,
    "printf": _printf,
    "test": _test,
    "date": system_programs.date,
    "cd": _cd,
    "dig": system_programs.dig,
    "tar": archives.tar,
    "unzip": archives.unzip,
    "listing": archives.listing,
    "command": _command,
    "sqlite": languages.sqlite,
    "ldd": system_programs.ldd,
    "cloud": hosted_services.cloud,
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
    "variables": system_programs.variables,
    "ack": _ack,
    "gh": hosted_services.gh,
    "clang-format": builders.clang_format,
    "plain-media": _plain_media,
    "git-format": git.git_format,
    "make": builders.make,
    "maven": builders.maven,
    "script": builders.script,
    "plain-names": _plain_names,
    "plain-words": builders.plain_words,
    "eslint": builders.eslint,
    "dpkg": system_programs.dpkg,
    "grep": _grep,
    "rg": _rg,
    "bat": _bat,
    "less": _less,
    "man": system_programs.man,
    "tsc": builders.tsc,
    "only-checks": builders.only_checks,
    "getent": system_programs.getent,
    "ip": system_programs.ip,
    "kubectl": hosted_services.kubectl,
    "ps": system_programs.ps,
    "git-branch": git.git_branch,
    "git-tag": git.git_tag,
    "git-refs": git.git_refs,
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
    "targets": compiling.targets,
    "sessions": compiling.sessions,
    "tasks": compiling.tasks,
    "venv": compiling.venv,
    "tox": compiling.tox,
    "playbook": compiling.playbook,
    "docker-build": builders.docker_build,
    "dotnet-add": builders.dotnet_add,
    "install": _install,
    "rsync": archives.copying,
    "certificate": system_programs.certificate,
    "compiler": compilers.compiler,
    "javac": compilers.javac,
    "rustc": compilers.rustc,
    "container": containers.container,
    "container-copy": containers.container_copy,
    "compose": containers.compose,
    "pod": containers.pod,
    "release": containers.release,
    "served": services.served,
    "node-test": builders.node_test,
    "dotnet-new": builders.dotnet_new,
    "plain-revision": builders.plain_revision,
    "variables-of-plan": builders.plan_variables,
    "cluster": hosted_services.cluster,
    "packing": archives.packing,
    "rm": _rm,
    "plain-image": hosted_services.plain_image,
    "terraform-apply": builders.terraform_apply,
    "go-cover": builders.go_cover,
    "npm-version": builders.npm_version,
    "new-crate": builders.new_crate,
    "uv-venv": compiling.uv_venv,
    "cmake-install": compiling.cmake_install,
    "kubectl-apply": hosted_services.kubectl_apply,
    "compose-names": hosted_services.compose_names,
    "named": _by_name,
    "mode": system_programs.mode,
    "kill": system_programs.kill,
    "link": _link,
    "patch": _patch,
    "never": system_programs.never,
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
        use.problems.append("a wildcard is in the place of a word that decides what the command does")
