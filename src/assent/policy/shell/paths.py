"""Where a path lies, by its text alone: inside the workspace, protected, or a secret.

Does not touch the disk; links are followed again by the runner, right before anything is written. The
lists are for shell commands; the path policy of the file tools is its own room.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from posixpath import isabs, join, normpath

from assent.plan import Word

# Writing one of these changes what later commands or tools do. Compared without regard to case.
_PROTECTED = re.compile(
    r"""(?:^|/)(?:
        \.git|\.hg|\.svn|\.vscode|\.idea|\.github|\.circleci|\.husky|\.cargo|\.ssh|\.gnupg|\.aws|\.kube|\.docker
        |\.config|\.assent|\.gemini|\.claude|\.cursor|\.codex|\.devcontainer|\.direnv|node_modules/\.bin|\.venv|venv
        |\.gitmodules|\.gitattributes|\.gitconfig|\.gitlab-ci\.yml|\.travis\.yml|jenkinsfile|azure-pipelines\.yml
        |\.envrc|\.env(?:\.[^/]*)?|\.mcp\.json|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|\.netrc|\.pypirc
        |\.pre-commit-config\.yaml|package\.json|makefile|gnumakefile|justfile|setup\.py|setup\.cfg|pyproject\.toml
        |tox\.ini|noxfile\.py|conftest\.py|pytest\.ini|cargo\.toml|build\.rs|sitecustomize\.py|usercustomize\.py
        |\.bash\w*|\.zsh\w*|\.z(?:profile|login|logout|env)|\.profile|\.login|\.inputrc|\.vimrc|\.tmux\.conf
        |\.[a-z]+rc(?:\.(?:js|cjs|json|ya?ml))?|[^/]+\.code-workspace|[^/]+\.config\.[cm]?[jt]s|[^/]+\.pth
        |gemini\.md|claude\.md|agents\.md
    )(?:/|$)""",
    re.VERBOSE | re.IGNORECASE,
)
_SECRET = re.compile(
    r"""(?:^|/)(?:
        \.ssh/(?!config$|known_hosts)[^/]*|\.ssh$|\.gnupg|\.aws|\.azure|\.kube|\.docker/config\.json|\.netrc|\.pgpass|\.pypirc
        |\.git-credentials|\.npmrc|\.env(?:\.(?!example|sample|template|dist)[^/]*)?|\.password-store|\.config/gcloud|\.config/gh
        |id_(?:rsa|dsa|ecdsa|ed25519)|[^/]+\.(?:pem|key|p12|pfx|keystore|kdbx)|credentials(?:\.json)?|gshadow|shadow
        |[^/]*_history|sudoers|keychains|login\.keychain\w*|cookies\.sqlite|\.vault-token|\.bash_history
    )(?:/|$)""",
    re.VERBOSE | re.IGNORECASE,
)
_SECRET_NAMES = [
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "shadow",
    "gshadow",
    "credentials",
    ".env",
    ".netrc",
    ".npmrc",
    ".ssh",
    ".aws",
    ".gnupg",
    ".git-credentials",
    ".bash_history",
    ".pgpass",
    "server.key",
    "server.pem",
    "sudoers",
]
_SPECIAL = re.compile(
    r"^/(?:dev/(?!null$|stdin$|fd/0$)|proc/(?:[^/]+/(?:environ|mem|fd|root|cwd|maps)|kcore)|sys/kernel)"
)
_LONGEST_NAME = 255


def place(text: str, cwd: str) -> str:
    """The path as an absolute, normalised text. `~` stays, and is outside of every root."""
    if text.startswith("~"):
        return normpath(text)
    return normpath(text if isabs(text) else join(cwd, text))


def inside(path: str, roots: Sequence[str]) -> bool:
    """Whether a placed path lies in one of the roots, component by component."""
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in map(normpath, roots))


def protected(path: str, roots: Sequence[str] = ()) -> bool:
    """Whether writing there would change what tools or later commands do. The root's own parents do not
    count."""
    for root in map(normpath, roots):
        if path == root or path.startswith(root.rstrip("/") + "/"):
            path = path[len(root) :]
            break
    return _PROTECTED.search(path) is not None


def secret(word: Word, cwd: str) -> bool:
    """Whether reading there shows keys or passwords, or a device. A wildcard counts for all it could
    match."""
    path = place(word.text, cwd)
    if _SECRET.search(path) or _SPECIAL.search(path):
        return True
    return not word.literal and any(_could_be_secret(part) for part in path.split("/"))


def _could_be_secret(component: str) -> bool:
    if len(component) > _LONGEST_NAME or not any(one in component for one in "*?["):
        return False
    if component.startswith("."):
        return True
    # `c*` is about names with a c; `id_*` and `shado?` are about a secret.
    literal = re.sub(r"\[[^]]*\]|[*?]", "", component)
    return len(literal) > 2 and any(fnmatchcase(name, component) for name in _SECRET_NAMES)
