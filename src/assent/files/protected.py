"""The one list of special files, for the file tools and the shell gate alike. There are three kinds:

- *Protected*: decides what runs or what is allowed (`.git`, hooks, CI, editor and shell configuration, our own
  settings). A change needs its own approval, and no "always" is offered.
- *Run by tools*: an ordinary project file that tools run or obey (`Makefile`, `package.json`, `conftest.py`).
  It is inside the workspace like any other, but nothing changes it without approval (`run_by_tools`).
- *Secret*: where keys and passwords usually are. The content would go to the model, so reading needs approval.

Names are compared case-folded and without what some file systems ignore (`.GIT`, `.git.`, `.g\u200cit`, `GIT~1` are all
`.git` somewhere), at any depth, whether the file exists or not.

`secret_names` lists the names of secrets.

It knows names only: the workspace knows where it is and what a path resolves to.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import islice

from assent.files import run_by_tools
from assent.files.secret_names import secret_folders as secret_folders  # one module for all special names
from assent.files.secret_names import secret_globs as secret_globs
from assent.files.secret_names import secret_part

_NAMES = """
    .git .hg .svn .bzr .jj git~1
    .githooks .git-hooks .husky .huskyrc .overcommit.yml .gitconfig .gitmodules .gitattributes
    .git-credentials .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml
    lefthook.yml lefthook.yaml lefthook-local.yml .lefthook.yml .lefthook.yaml .lefthook .lefthook-local
    .lintstagedrc .simple-git-hooks.json .simple-git-hooks.js
    .vscode .vscode-server .idea .vs .fleet .zed .nova .theia .devcontainer .devcontainer.json
    .vim .vimrc .gvimrc .exrc .nvimrc .nvim.lua .emacs .emacs.d .dir-locals.el .nanorc
    .assent .claude .claude.json .gemini .codex .cursor .cursorrules .cursorignore .windsurf .windsurfrules
    .roo .roomodes .cline .clinerules .continue .opencode opencode.json opencode.jsonc .goose .goosehints
    .kiro .qwen .copilot .agents .amazonq .junie .trae .augment .crush .factory .geminiignore .assentignore
    .mcp.json .mcp.yaml .mcp.yml
    .circleci .buildkite .woodpecker .teamcity .semaphore .builds .build.yml .drone.yml .drone.yaml
    .drone.star .woodpecker.yml .woodpecker.yaml .travis.yml .travis.yaml .appveyor.yml appveyor.yml
    .cirrus.yml .cirrus.star bitbucket-pipelines.yml bitbucket-pipelines.yaml jenkinsfile codefresh.yml
    wercker.yml cloudbuild.yaml cloudbuild.yml bitrise.yml codemagic.yaml buildspec.yml buildspec.yaml
    .direnv .mise .mise.toml mise.toml .mise.local.toml mise.local.toml .asdfrc .rtx.toml
    .profile .login .logout .inputrc .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc
    .oh-my-zsh .xinitrc .xprofile .xsession .xsessionrc .xserverrc .pam_environment
    .tmux.conf .screenrc .gdbinit .lldbinit .pythonrc .pythonrc.py .pythonstartup .pdbrc .irbrc .pryrc
    .rprofile .renviron .psqlrc .sqliterc .my.cnf .wgetrc .curlrc .ripgreprc .hgrc .lesskey .lessfilter
    .ackrc .perltidyrc .ssh .gnupg .aws .azure .kube .netrc _netrc .pgpass .pypirc .vault-token
    .npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .pnp.cjs .pnp.js .bunfig.toml bunfig.toml .bundle .gemrc
    .condarc .cargo .mvn .m2 pip.conf .pip sitecustomize.py usercustomize.py
"""
_PATTERNS = r"""
    \.env.* | .+\.code-workspace | .+\.sublime-(?:project|workspace) | \.gitlab-ci.* |
    azure-pipelines.*\.ya?ml | \.bash.* | \.lintstagedrc\..+ | lint-staged\.config\..+ | \.huskyrc\..+ |
    simple-git-hooks\..+ | \.aider.* | \.mcp\..+ | \.assent[.-].+ | \.pre-commit-.+\.ya?ml | jenkinsfile\..+
"""
_PATHS = """
    .github/workflows .github/actions .github/copilot-instructions.md .github/hooks .github/agents
    .github/prompts .gitea/workflows .forgejo/workflows .gitlab/ci
    .config/git .config/fish .config/assent .config/gcloud .config/gh .config/nvim .config/autostart
    .config/mise .config/systemd .config/environment.d .config/direnv .config/pip .config/code .config/husky
    .docker/config.json .docker/cli-plugins .local/bin .local/share/assent .local/state/assent
"""
# What file systems ignore when they compare names: `.g<U+200C>it` opens `.git` on HFS+, and a case-insensitive ext4
# skips everything that Unicode calls ignorable.
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MAX_ENTRIES = 20_000
_SHORT_LOOK = 5_000


def why_protected(names: Sequence[str], *, may_bring: bool = False) -> str | None:
    """The reason if a path below the workspace (its components) must not be changed like any other.

    `may_bring`: something new arrives under this name; `.github` itself counts, because it may contain workflows.
    """
    found = _protected().find(names, may_bring=may_bring)
    return None if found is None else f"{found} decides what runs or what is allowed here"


def why_run(names: Sequence[str], *, folder: bool = False) -> str | None:
    """The reason if tools run or obey this project file. `folder`: it becomes a folder, as `build` often is."""
    file = next((one for one in names[-1:] if fold(one) in run_by_tools.FILES.split()), None)
    found = _run().find(names) or (None if folder else file) or shadowing(names)
    return None if found is None else f"{found} decides what tools run or do here"


def shadowing(names: Sequence[str]) -> str | None:
    """A module at the top of a folder that Python loads instead of its own or a tool's: `pytest.py`, `json.py`. If the
    tool is not installed, `tox/__main__.py` is enough.
    """
    if not names:
        return None
    name, _, ending = fold(names[0]).partition(".")
    last = fold(names[-1])
    module = ending if len(names) == 1 else "" if ending else _of_package(last)
    return names[0] if module.endswith(_MODULES) and name in run_by_tools.shadowed() else None


def _of_package(name: str) -> str:
    """The ending of a file that makes a folder a package."""
    start, _, ending = name.partition(".")
    return ending if start in ("__init__", "__main__") else ""


_MODULES = ("py", "pyc", "so", "pyd")


def why_secret(names: Sequence[str]) -> str | None:
    """The reason if the content of this path is likely a secret."""
    found = secret_name(names)
    return None if found is None else f"{found} usually holds secrets"


def secret_name(names: Sequence[str]) -> str | None:
    """The part of a path whose name is usual for secrets."""
    return secret_part(names, [fold(name) for name in names])


class _List:
    """Names at any depth, patterns of names, and nested names."""

    def __init__(self, names: str, patterns: str, paths: str) -> None:
        self.names = frozenset(names.split())
        self._patterns = patterns
        self._paths: dict[str, list[tuple[str, ...]]] = {}
        for path in (tuple(path.split("/")) for path in paths.split()):
            self._paths.setdefault(path[0], []).append(path)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self._patterns, re.VERBOSE)

    def find(self, names: Sequence[str], *, may_bring: bool = False) -> str | None:
        """The part of the path that is on the list, as it was written."""
        folded = [fold(name) for name in names]
        for index, name in enumerate(folded):
            if name in self.names or self._pattern.fullmatch(name):
                return names[index]
            for path in self._paths.get(name, ()):
                part = folded[index : index + len(path)]
                whole = may_bring or len(part) == len(path)
                if whole and all(map(fnmatchcase, part, path)):  # `part` is shorter only at the end
                    return "/".join(names[index : index + len(part)])
        return None


def why_contains_protected(folder: str, names: Sequence[str]) -> str | None:
    """The reason if moving or deleting a folder would take protected files with it."""
    try:
        for seen, inner in enumerate(_below(folder, tuple(names))):
            if why_protected(inner):
                return f"it contains {'/'.join(inner[len(names) :])}, which decides what runs or what is allowed"
            if seen >= _MAX_ENTRIES:
                return f"it has more than {_MAX_ENTRIES} entries, too many to check for protected files"
    except OSError as error:
        return f"it cannot be searched for protected files ({error.strerror})"
    return None


def secrets_below(folder: str) -> int:
    """How many files below a folder usually hold secrets, according to a quick look."""
    return len(secret_files(folder))


def secret_files(folder: str) -> list[str]:
    """The files below a folder that usually hold secrets, according to a quick look."""
    entries = islice(_below(folder, (), strict=False), _SHORT_LOOK)
    paths = [os.path.join(folder, *names) for names in entries if why_secret(names)]
    return [path for path in paths if not os.path.isdir(path)]


def fold(name: str) -> str:
    """A name as the most lenient file system compares it."""
    folded = name.casefold()
    if not folded.isascii():
        import unicodedata  # only names with other letters need it

        folded = unicodedata.normalize("NFKC", _IGNORED.sub("", folded)).casefold()
    return folded.partition(":")[0].rstrip(" .") or folded


def _below(folder: str, names: tuple[str, ...], *, strict: bool = True) -> Iterator[tuple[str, ...]]:
    """Every entry below a folder as components; links are entries, but not followed. Unless it is strict, an unreadable
    folder counts as empty.
    """
    todo = [(folder, names)]
    while todo:
        path, above = todo.pop()
        with suppress(*(() if strict else (OSError,))), os.scandir(path) as entries:
            for entry in entries:
                yield (*above, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    todo.append((entry.path, (*above, entry.name)))


@cache
def _protected() -> _List:
    return _List(_NAMES, _PATTERNS, _PATHS)


@cache
def _run() -> _List:
    return _List(run_by_tools.NAMES, run_by_tools.PATTERNS, run_by_tools.PATHS)


def protected_names() -> frozenset[str]:
    """Names that are protected or run by tools, to test a wildcard against."""
    return _protected().names | _run().names
