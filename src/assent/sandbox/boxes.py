"""What a profile means on this machine: which paths a command can write, which stay as they are, which it cannot open.

Everything is looked up when a command starts, because it is about files that exist then. Paths are real paths, without
links. It starts nothing: `bubblewrap.py` and others turn a box into a program's arguments.
"""

import os
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from glob import escape, glob

from msgspec import Struct

from assent.files.protected import why_protected, why_secret
from assent.git_folder import GitFolder, git_folders, leads_outside, taken
from assent.sandbox.kept_places import KeptPlaces, kept_places
from assent.sandbox.profiles import Profile
from assent.sandbox.special_paths import HomeFinder, SpecialPathFinder, SpecialPaths, other_names
from assent.subpath import is_below

MAX_SPECIAL_PATHS = 200
"""Each is a mount of its own, and their cost grows with the square of their number."""
_SYSTEM_SECRETS = """
    /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/krb5.keytab /run/secrets
    /etc/ssl/private /etc/pki/tls/private /etc/letsencrypt /etc/wireguard /etc/openvpn /etc/ipsec.secrets
    /etc/NetworkManager/system-connections /etc/ppp/chap-secrets /etc/ppp/pap-secrets /etc/postfix/sasl_passwd
    /etc/mysql/debian.cnf /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/kubernetes /etc/rancher
    /var/lib/kubelet /var/lib/rancher /var/lib/docker /var/lib/containers /var/lib/sss/secrets /var/spool/cron
"""
"""Readable for root, and for nobody else; ordinary commands do not need them."""
_HOST_KEYS = "/etc/ssh/ssh_host_*_key"
_NOT_FILES = ("/proc", "/sys", "/dev", "/run")
_SOCKET_FOLDERS = (".gnupg", ".docker", ".colima", ".orbstack", ".lima")
"""Programs in them listen on sockets, which a read-only mount does not close."""
_OUR_SETTINGS = ".assent"
_GIT_KEEPS = ("hooks", "config", "config.worktree", "commondir", "info/attributes", "objects/info/alternates")
"""What of a repository decides which programs run, or where it is."""
_GIT_LACKS = ("hooks", "commondir", "config.worktree", "info/attributes", "objects/info/alternates", "modules")
"""What must not appear in a repository that does not have it. `modules` has the hooks of submodules to come."""
_HOME_LACKS = """
    .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc
    .tcshrc .login .logout .inputrc .ssh .gitconfig .pam_environment .xprofile .xinitrc .xsession .xsessionrc
    .config/autostart .config/systemd .config/environment.d .config/fish .config/git .local/bin
"""
"""What must not appear in a home folder that is in the workspace: it runs at a login, or lets others in."""
_SUBMODULES = "modules/**/config"
_WORKTREES = ("worktrees/*/config.worktree", "worktrees/*/commondir")
_WORKTREES_LACK = "worktrees/*/"
"""Folders that must not get a `config.worktree`: a worktree elsewhere takes its settings from there."""


class BoxProblem(Exception):
    """No box can be made here; the message says why."""


class Box(Struct, frozen=True, kw_only=True):
    profile: Profile
    roots: tuple[str, ...]
    writable: tuple[str, ...] = ()
    """Also writable, if the profile writes at all."""
    protected: tuple[str, ...] = ()
    """Stay as they are: they can be neither changed nor moved."""
    hidden: tuple[str, ...] = ()
    """Cannot be opened."""
    emptied: tuple[str, ...] = ()
    """Read as empty files: programs insist on reading them."""
    kept: KeptPlaces = KeptPlaces()
    """What must not come into being, or be replaced, and what no mount can prevent."""
    needed: tuple[str, ...] = ()
    """Must be readable even if they are in a folder that the box replaces, such as /tmp."""
    proxy_socket: str = ""
    """The unix socket through which the box gets its proxy, and the only way out of it."""

    def ancestors(self) -> list[str]:
        """The folders between the workspace and what is protected or hidden in it, from the outside in: whoever could
        move one of them could put something else in its place, or the secret where nobody looks for it.
        """
        special = (*self.protected, *self.hidden, *self.emptied)
        found = {folder for path in special for folder in self._above(path)}
        return sorted(one for one in found - {*self.roots, *self.writable} if not is_below(one, self.protected))

    def _above(self, path: str) -> Iterable[str]:
        folder = os.path.dirname(path)
        while is_below(folder, (*self.roots, *self.writable)):
            yield folder
            folder = os.path.dirname(folder)


class BoxMaker:
    """Makes the boxes of one workspace."""

    def __init__(
        self, roots: Sequence[str], own_folders: Sequence[str], env: Mapping[str, str], needed: Sequence[str] = ()
    ) -> None:
        """`own_folders` hold settings, keys and sessions of Assent, which no command has to see."""
        self._roots = tuple(os.path.realpath(root) for root in roots)
        self._own = tuple(os.path.realpath(folder) for folder in own_folders)
        self._home = os.path.realpath(env.get("HOME") or "/nonexistent")
        self._homes = tuple(dict.fromkeys((self._home, os.path.realpath(_home_of_account()))))
        self._needed = tuple(needed)
        self._finders = [SpecialPathFinder(root) for root in self._roots]
        self._home_finders = [HomeFinder(home) for home in self._homes]

    def box(self, profile: Profile, cwd: str, writable: Sequence[str] = ()) -> Box:
        """`writable` are real paths outside the workspace that the command may change, if the profile writes at all.
        Raises BoxProblem.
        """
        more = tuple(map(_made, writable)) if profile.writes else ()
        if why := next(filter(None, map(self.why_not_writable, more)), None):
            raise BoxProblem(why)
        found = [finder.find() for finder in (*self._finders, *map(SpecialPathFinder, filter(os.path.isdir, more)))]
        repository = self._repository(cwd) if profile.writes else None
        git = _git_folders(found, repository) if profile.writes else []
        protected = [*_protected_in(found), *_kept_in(git), *self._our_code()] if profile.writes else []
        at_home = [finder.find() for finder in self._home_finders]
        hidden = {*_secrets_in([*found, *at_home]), *self._hidden_outside()}
        hidden |= set(other_names(hidden, self._roots))
        writable = (*self._outside(repository), *more)
        absent = [*_missing_in(git), *(os.path.join(root, _OUR_SETTINGS) for root in self._roots)]
        absent += [os.path.join(home, name) for home in self._homes for name in _HOME_LACKS.split()]
        box = Box(
            profile=profile,
            roots=self._roots,
            writable=writable,
            protected=_real(protected),
            hidden=self._hidable(_real(hidden)),
            emptied=_real(_emptied_in([*found, *at_home])),
            kept=kept_places((*self._roots, *writable), absent, [*protected, *git], _submodules_of(git))
            if profile.writes
            else KeptPlaces(),
            needed=tuple(path for path in self._needed if os.path.exists(path)),
        )
        return _checked(box, complete=all(one.complete for one in found[: len(self._finders)]))

    def why_not_writable(self, path: str) -> str | None:
        """The reason if a command in a sandbox can never get this path: it would open what the sandbox closes."""
        if any(is_below(home, [path]) for home in self._homes):
            return f"{path} is too broad: it contains the home folder"
        if is_below(path, _NOT_FILES):
            return f"{path} leads to other programs or to the kernel"
        if is_below(path, self._roots):
            return f"{path} is in the workspace: a sandbox can write there, except to what is protected"
        if any(is_below(one, [path]) or is_below(path, [one]) for one in (*self._own, *_SYSTEM_SECRETS.split())):
            return f"{path} is Assent's own, or holds secrets of the system"
        parts = _parts(path, self._home) if is_below(path, [self._home]) else tuple(path.split(os.sep)[1:])
        if why := why_secret(parts) or why_protected(parts):
            return f"{path} stays closed in every sandbox: {why}"
        return None

    def _repository(self, cwd: str) -> GitFolder | None:
        """The repository that git takes there, if it has any business with this workspace."""
        return None if leads_outside(cwd, self._roots) else taken(git_folders(cwd))

    def _outside(self, repository: GitFolder | None) -> tuple[str, ...]:
        """The folders of a repository that contains the workspace, or that the workspace is a worktree of."""
        folders = [] if repository is None else [repository.common, repository.git]
        real = dict.fromkeys(os.path.realpath(folder) for folder in folders)
        return tuple(folder for folder in real if not is_below(folder, self._roots))

    def _our_code(self) -> Iterable[str]:
        """What runs us, if it is installed in the workspace: whoever could change it would act outside the sandbox."""
        return (
            path for path in interpreter_folders() if any(is_below(os.path.dirname(path), [r]) for r in self._roots)
        )

    def _hidable(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Without what is in another one of them, and without folders that contain the workspace."""
        outer = [path for path in paths if not any(path != one and is_below(path, [one]) for one in paths)]
        return tuple(path for path in outer if not any(is_below(root, [path]) for root in self._roots))

    def _hidden_outside(self) -> Iterable[str]:
        yield from (path for path in _SYSTEM_SECRETS.split() if os.path.exists(path))
        yield from glob(_HOST_KEYS)
        yield from (folder for folder in self._own if os.path.isdir(folder))
        yield from (path for path in listening_sockets() if not is_below(path, self._roots))
        sockets = (os.path.join(home, name) for home in self._homes for name in _SOCKET_FOLDERS)
        yield from filter(os.path.isdir, sockets)


@cache
def _home_of_account() -> str:
    """The variable `HOME` may say something else, as with sudo."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/nonexistent"


def _parts(path: str, folder: str) -> tuple[str, ...]:
    return tuple(os.path.relpath(path, folder).split(os.sep))


def _made(path: str) -> str:
    """A folder that does not exist yet is created: whoever may write to it could do so."""
    if os.path.realpath(path) != path:
        raise BoxProblem(f"{path} has become a link since it was approved")
    if not os.path.lexists(path):
        try:
            os.makedirs(path, mode=0o700)
        except OSError as error:
            raise BoxProblem(f"{path} cannot be made writable: {error.strerror}") from error
    return path


def _is_git_folder(path: str) -> bool:
    """It stays writable, except for the parts that `_kept_in` lists."""
    return os.path.basename(path) == ".git" and os.path.isdir(path)


def _protected_in(found: Sequence[SpecialPaths]) -> Iterable[str]:
    return (path for one in found for path in one.protected if not _is_git_folder(path))


def _git_folders(found: Sequence[SpecialPaths], repository: GitFolder | None) -> list[str]:
    """Those in the workspace, and those of the repository that git takes."""
    inside = [path for one in found for path in one.protected if _is_git_folder(path)]
    taken_there = [] if repository is None else [repository.git, repository.common]
    folders = dict.fromkeys([*inside, *taken_there])
    return list(folders | dict.fromkeys(os.path.dirname(path) for path in _found(folders, _SUBMODULES)))


def _found(folders: Iterable[str], *patterns: str) -> Iterable[str]:
    """Also names that begin with a dot."""
    for folder in folders:
        for pattern in patterns:
            yield from glob(os.path.join(escape(folder), pattern), recursive=True, include_hidden=True)


def _kept_in(folders: Iterable[str]) -> Iterable[str]:
    for folder in folders:
        yield from (os.path.join(folder, name) for name in _GIT_KEEPS if os.path.lexists(os.path.join(folder, name)))
        yield from _found([folder], *_WORKTREES)


def _missing_in(folders: Sequence[str]) -> Iterable[str]:
    """With one of these, a repository takes its settings or hooks from elsewhere, or has hooks at all."""
    places = [(folder, name) for folder in folders for name in _GIT_LACKS]
    places += [(worktree, "config.worktree") for worktree in _found(folders, _WORKTREES_LACK)]
    paths = (os.path.join(folder, name) for folder, name in places)
    return (path for path in paths if not os.path.lexists(path))


def _submodules_of(folders: Iterable[str]) -> Iterable[tuple[str, tuple[str, ...]]]:
    """The folders in which repositories of submodules are, with their names: git would run the hooks of a new one."""
    for folder in folders:
        for path, inner, files in os.walk(os.path.join(folder, "modules")):
            if "HEAD" in files:
                inner.clear()
            else:
                yield os.path.realpath(path), (*inner, *files)


def listening_sockets() -> list[str]:
    """The sockets of other programs that have a place in the file system: a read-only mount does not close them."""
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
            fields = [line.split(maxsplit=7) for line in file]
    except OSError:
        return []
    paths = {one[7].rstrip("\n") for one in fields if len(one) == 8 and one[7].startswith("/")}
    return sorted(path for path in paths if is_socket(path))


def is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


def _secrets_in(found: Sequence[SpecialPaths]) -> Iterable[str]:
    return (path for one in found for path in one.secret)


def _emptied_in(found: Sequence[SpecialPaths]) -> Iterable[str]:
    return (path for one in found for path in one.emptied)


def _real(paths: Iterable[str]) -> tuple[str, ...]:
    """Where links lead, so that a secret is hidden whatever its name is."""
    real = {os.path.realpath(path) for path in paths}
    return tuple(sorted(path for path in real if os.path.exists(path)))


def _checked(box: Box, *, complete: bool) -> Box:
    if not complete:
        raise BoxProblem("the workspace has too many folders to search them for protected files and secrets")
    if (count := len(box.protected) + len(box.hidden) + len(box.emptied)) > MAX_SPECIAL_PATHS:
        raise BoxProblem(
            f"{count} protected files and secrets would need a mount each; the limit is {MAX_SPECIAL_PATHS}"
        )
    return box


def interpreter_folders() -> list[str]:
    """What runs plans and our own helpers, wherever it is installed."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return list(dict.fromkeys(map(os.path.realpath, (sys.prefix, sys.base_prefix, source))))
