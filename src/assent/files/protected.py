"""Files that decide what runs or what is allowed: changing them needs a question of its own (threat T26).

Names are compared case-folded and without what some file systems ignore (`.GIT`, `.git.`, `.g\u200cit`,
`GIT~1` are all `.git` somewhere), at any depth, whether the file exists or not. The list is about *changes*.
Reading is ordinary, except for a short list of places where secrets live (`SECRET_NAMES`): their content
would go to the model.

It knows names only: where the workspace is and what a path resolves to is the workspace's business.
"""

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache

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
SECRET_NAMES = """
    .ssh .gnupg .aws .azure .kube .netrc _netrc .pgpass .pypirc .git-credentials .vault-token .htpasswd
    id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk
"""
_SECRET_PATTERNS = r"""
    \.env(?!rc$)(?!.*[._-](?:example|sample|template|dist|defaults?)$).*
    | .+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)
"""
# What HFS+ leaves out when it compares names: `.g<U+200C>it` opens `.git` there.
_IGNORED = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad\ufe00-\ufe0f]")
_MOST_ENTRIES = 20_000


def why_protected(names: Sequence[str], *, may_bring: bool = False) -> str | None:
    """The sentence for a path below the workspace (its components) that must not be changed like any other.

    `may_bring`: something new arrives under this name; `.github` itself counts, it may hold workflows.
    """
    folded = [fold(name) for name in names]
    for index, name in enumerate(folded):
        if name in _names() or _pattern().fullmatch(name):
            return f"{names[index]} decides what runs or what is allowed here"
        for path in _paths():
            part = tuple(folded[index : index + len(path)])
            leads_there = may_bring and index + len(part) == len(folded) and part == path[: len(part)]
            if part == path or leads_there:
                return f"{'/'.join(names[index : index + len(part)])} decides what runs or what is allowed here"
    return None


def why_secret(names: Sequence[str]) -> str | None:
    """The sentence for a path whose content is likely a secret."""
    for name in names:
        if fold(name) in _secrets() or _secret_pattern().fullmatch(fold(name)):
            return f"{name} is a usual place for secrets"
    return None


def why_contains_protected(folder: str, names: Sequence[str]) -> str | None:
    """The sentence for a folder that would take protected files with it when it is moved or deleted."""
    try:
        for seen, inner in enumerate(_below(folder, tuple(names))):
            if why_protected(inner):
                return f"it contains {'/'.join(inner[len(names) :])}, which decides what runs or what is allowed"
            if seen >= _MOST_ENTRIES:
                return f"it has more than {_MOST_ENTRIES} entries, too many to look for protected files"
    except OSError as error:
        return f"it cannot be searched for protected files ({error.strerror})"
    return None


def fold(name: str) -> str:
    """A name as the most forgiving file system compares it."""
    folded = name.casefold()
    if not folded.isascii():
        import unicodedata  # only names with other letters need it

        folded = unicodedata.normalize("NFKC", _IGNORED.sub("", folded)).casefold()
    return folded.partition(":")[0].rstrip(" .") or folded


def _below(folder: str, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every entry under a folder as components; links are entries, not ways on."""
    todo = [(folder, names)]
    while todo:
        path, above = todo.pop()
        with os.scandir(path) as entries:
            for entry in entries:
                yield (*above, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    todo.append((entry.path, (*above, entry.name)))


@cache
def _names() -> frozenset[str]:
    return frozenset(_NAMES.split())


@cache
def _secrets() -> frozenset[str]:
    return frozenset(SECRET_NAMES.split())


@cache
def _paths() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(path.split("/")) for path in _PATHS.split())


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(_PATTERNS, re.VERBOSE)


@cache
def _secret_pattern() -> re.Pattern[str]:
    return re.compile(_SECRET_PATTERNS, re.VERBOSE)
