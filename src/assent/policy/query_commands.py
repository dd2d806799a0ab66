"""Whole commands that only query something, allowed out of the box: versions, plain git settings, a few variables.

A program that is asked for its version must be the installed one. Version managers put a program of the same name in
front of it, which reads files of the folder to decide what to start; if there is such a file, the command needs
approval. Looks at file names on the PATH and in the folder, and starts nothing.
"""

import os
import re
import shutil
from collections.abc import Sequence

from assent.lazy_pattern import lazy_pattern

# They print their version and read no file of the folder, except those of `_CHOOSERS`. Not yarn, pnpm, bazel, pytest,
# bundle, flake8, pylint, tox, rails and pdm: project files decide which of their code runs or what they load.
_PROGRAMS = frozenset(
    """
    python python3 python3.11 python3.12 python3.13 pip pip3 uv node nodejs npm npx deno bun git go cargo rustc java
    javac ruby gem perl php lua luajit docker podman gh aws gcc g++ cc clang clang++ make gmake cmake ninja bash zsh
    fish dash ssh curl wget tar zip unzip gzip xz zstd rsync sed grep awk gawk find rg fd bat jq yq tree vim nvim emacs
    nano tmux openssl gpg psql mysql sqlite3 redis-cli mongosh nginx ffmpeg ffprobe convert magick pandoc ruff black
    isort mypy poetry pipx tsc shellcheck hadolint yamllint golangci-lint gofmt kubectl helm ls cat sort
    head tail ghc R Rscript less file diff patch ldd ar ld strace gdb lldb valgrind node-gyp act direnv just
    terraform tofu packer vagrant gcloud heroku glab protoc buf hugo
    clang-format clang-tidy cppcheck meson ctest conan rustfmt conda hatch virtualenv pre-commit dotnet mvn gradle
    systemctl swift dart kotlinc scala kind minikube k3d kustomize skaffold pulumi nvcc nasm cpack ccache doxygen swiftc
    rustup lsof rclone mariadb pg_dump createdb code zstd bzip2 lz4 7z parallel entr watch fzf htop
    cp mv rm rmdir mkdir touch ln chmod chown install truncate split csplit tee dd env timeout nice nohup stdbuf
    """.split()  # noqa: SIM905
)
# They print text, open no pager, and load nothing for it.
_HELPFUL = frozenset(
    """
    mkdir rmdir cp mv rm touch ls cat sort head tail diff grep sed find tar gzip curl wget jq rg fd tree make cmake gcc
    g++ python python3 pip pip3 node git ruff bash shellcheck
    """.split()  # noqa: SIM905
)
_VERSION = {
    "--version": _PROGRAMS,
    "--help": _HELPFUL,
    "-V": frozenset("python python3 ssh tmux tar pip pip3 uv ruff black mypy poetry curl wget rg bat jq less".split()),  # noqa: SIM905
    "-v": frozenset(
        "node npm npx ruby perl php lua gem nginx tsc make git gcc ldd terraform mvn gradle cc clang g++".split()  # noqa: SIM905
    ),
    "-version": frozenset("java javac ffmpeg ffprobe convert magick terraform kotlinc".split()),  # noqa: SIM905
    "version": frozenset(
        "go git openssl uv helm terraform tofu packer kind minikube k3d kustomize pulumi hugo skaffold".split()  # noqa: SIM905
    ),
    "--info": frozenset(("dotnet",)),
    "--list-sdks": frozenset(("dotnet",)),
    "--list-runtimes": frozenset(("dotnet",)),
}
_QUESTIONS = frozenset(
    (
        ("kubectl", "version", "--client"),
        ("ulimit", "-a"),
        ("tee", "/dev/null"),
        ("tee", "/dev/stdout"),
        ("tee", "/dev/stderr"),
        ("git", "config", "--list", "--local"),
        ("git", "config", "--local", "--list"),
        ("git", "config", "--local", "-l"),
        ("git", "config", "-l", "--local"),
        ("git", "help"),
        ("git", "help", "-a"),
        ("git", "help", "-g"),
        ("git", "remote", "show"),
        ("node", "-p", "process.version"),
    )
)
# Version choosers, by location or name, and the files of the folder that they read to choose.
_CHOOSERS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (lazy_pattern(r"/rustup$"), ("rust-toolchain", "rust-toolchain.toml")),
    (lazy_pattern(r"/\.?pyenv/"), (".python-version",)),
    (lazy_pattern(r"/\.?rbenv/"), (".ruby-version",)),
    (lazy_pattern(r"/\.?nodenv/"), (".node-version",)),
    (lazy_pattern(r"/\.?goenv/"), (".go-version",)),
    (lazy_pattern(r"/\.?jenv/"), (".java-version",)),
    (lazy_pattern(r"/\.?(?:tf|tofu)env/"), (".terraform-version", ".opentofu-version", ".tfswitchrc")),
    (lazy_pattern(r"/dotnet(?:\.\w+)?$"), ("global.json",)),
    (lazy_pattern(r"/mvn(?:\.\w+)?$"), (".mvn",)),
    (lazy_pattern(r"/gradle(?:\.\w+)?$"), ("gradle.properties", "gradle")),
    (
        lazy_pattern(
            r"/(?:shims|\.?(?:asdf|mise|volta|proto))/|/(?:volta-shim|asdf|mise|rtx|proto|corepack|corepack\.js)$"
        ),
        (
            *(".tool-versions", ".nvmrc", ".node-version", ".python-version", ".ruby-version", ".java-version"),
            *(".go-version", "mise.toml", ".mise.toml", ".mise", ".config", ".prototools", "package.json"),
        ),
    ),
)
_VARIABLES = frozenset("HOME PATH USER LOGNAME SHELL LANG LC_ALL PWD TERM TZ HOSTNAME VIRTUAL_ENV".split())  # noqa: SIM905
_OF_GO = frozenset("GOPATH GOROOT GOVERSION GOOS GOARCH GOMOD GOBIN GOCACHE GOMODCACHE GOWORK".split())  # noqa: SIM905
_OF_GIT = frozenset(("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT", "GIT_DEFAULT_BRANCH"))
_REMOTE = lazy_pattern(r"[A-Za-z0-9_][\w-]*")
_PLACES = ("--global", "--local", "--get", "--show-origin", "--show-scope")
_SETTING = lazy_pattern(
    r"user\.(?:name|email|signingkey)|(?:init|pull|push|fetch|merge|rebase|color|commit|tag|branch|status|log|rerere)\.\w+"
    r"|core\.(?:autocrlf|bare|editor|eol|excludesfile|filemode|hookspath|ignorecase|quotepath|safecrlf|symlinks)"
    r"|branch\.[\w./-]+\.(?:remote|merge|rebase)|remote\.[\w-]+\.(?:url|pushurl|fetch)",
    re.IGNORECASE,
)


def is_question(words: Sequence[str], folder: str, roots: Sequence[str]) -> bool:
    """Whether these words query something public, of a program that is what its name says."""
    match list(words):
        case [name, option] if name in _VERSION.get(option, ()):
            return not _may_be_chosen(name, folder, roots)
        case ["printenv", name]:
            return name in _VARIABLES
        case ["go", "env", *names] if names:
            return all(name in _OF_GO for name in names) and not _may_be_chosen("go", folder, roots)
        case ["git", "var", name]:
            return name in _OF_GIT
        case ["git", "remote", "show", "-n", name] | ["git", "ls-remote", "--get-url", name]:
            return _REMOTE.fullmatch(name) is not None  # asks the settings, not the remote
        case ["git", "config", "get", key]:
            return _SETTING.fullmatch(key) is not None
        case ["git", "config", *options, key] if tuple(words) not in _QUESTIONS:
            return all(option in _PLACES for option in options) and _SETTING.fullmatch(key) is not None
        case _:
            return tuple(words) in _QUESTIONS and not _may_be_chosen(words[0], folder, roots)


def _may_be_chosen(name: str, folder: str, roots: Sequence[str]) -> bool:
    """Whether a file in the folder or above it decides which program of this name starts."""
    found = shutil.which(name)
    if found is None:
        return False
    real = os.path.realpath(found)
    if any(real.startswith(os.path.realpath(root).rstrip("/") + "/") for root in roots):
        return True
    return any(os.path.lexists(f"{above}/{name}") for name in _choices(found, real) for above in _with_above(folder))


def _choices(found: str, real: str) -> tuple[str, ...]:
    """The files that the program, or one that stands in for it, would look for."""
    rustup = os.path.dirname(found) + "/rustup"
    beside = (rustup,) if os.path.basename(found) in ("cargo", "rustc") and os.path.exists(rustup) else ()
    paths = (found, real, *beside)
    return next((files for place, files in _CHOOSERS if any(map(place.search, paths))), ())


def _with_above(folder: str) -> list[str]:
    parts = folder.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
