"""Which files usually hold keys and passwords, by name: the one answer for the file tools, the shell gate and programs
that are told what to skip.

A list contains the names of secrets (`.env`, `id_rsa`, `*.pem`). One grammar around it describes the names of their
copies (`.env~`, `#.env#`, `..env.swp`, `id_rsa.uat`, `server.key-prod`, `credentials.json.bak`), so the list need not:
anything that does not begin with a letter may follow the name, except what makes it another kind of file (`id_rsa.pub`,
`.npmrc.example`, `kubeconfig.go`). A word with many other uses (`credentials`) counts alone and with the endings of
copies.

It knows names only, and no disk: `files.workspace` and `files.hard_links` handle links and second names.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

FOLDERS = """
    .ssh .gnupg .aws .azure .kube .password-store .mozilla .thunderbird keyrings google-chrome .huggingface .snowflake
    .snowsql .dbt .ngrok2 .jira.d
"""
_NAMES = """
    .dockercfg .dockerconfigjson .s3cfg .boto .my.cnf .mylogin.cnf .databrickscfg .terraformrc rclone.conf .rclone.conf
    kubeconfig .kubeconfig .envrc .credentials.json oauth_creds.json
    application_default_credentials.json wp-config.php settings-security.xml local.settings.json
    .netrc _netrc .pgpass .pypirc .npmrc .git-credentials .vault-token .htpasswd
    id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk cookies.sqlite logins.json key3.db key4.db
    fish_history fish_variables .passwd .password .token .secret .credentials .sentryclirc wallet.dat htpasswd .htdigest
    .authinfo .msmtprc .mbsyncrc .fetchmailrc .ldaprc .condarc .age-key.txt .openai .anthropic
    bitwarden_export.json .gitlab-token .github-token .ngrok.yml ngrok.yml keystore.json cookies.txt private_key.txt
    .renviron .flaskenv .dev.vars .dbshell secring.gpg credentials.toml credentials.tfrc.json credentials.yml.enc
"""
_GLOBS = """
    *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk *.p8 *.pk8 *.jceks *.keytab *.ovpn *.kdb *.secret *.agekey
    *.env *.tfvars *.tfvars.json *.tfstate .*_history login.keychain* *[._-]kubeconfig
    .vault[_-]pass* vault[_-]pass* client_secret*.json *service[_-]account*.json *serviceaccount*.json kaggle.json
    *[._-]credentials.json gcp*key.json gcloud*.json ssh_host_*key *adminsdk*.json *rootkey.csv *accesskeys.csv
    *[._-]secret.y*ml *[._-]secrets.y*ml *[._-]secrets.json
    private*.asc secret*.asc *[._-]private*.asc *[._-]secret*.asc
"""
_FILES = """
    credentials.json environ .secrets secret.json secret.yaml secret.yml secret.toml
    secrets.json secrets.yaml secrets.yml secrets.toml secrets.ini secrets.txt secrets.env
    secret.txt password.txt passwords.txt passwords.csv token.txt tokens.txt api_key.txt api_keys.txt apikey.txt
    token.json oauth.json secret_key.txt shadow connectionstrings.config appsettings.prod*.json wg[0-9].conf
    github_token .github_token gitlab_token access_token api_token api_key deploy_key rsa_key ssh_key private_key
    secret_key jwt_secret creds.json creds.yaml creds.yml creds.toml creds.txt creds.ini creds.env .creds
    credentials.txt credentials.csv credentials.xml credentials.yml credentials.yaml credentials.ini credentials.db
    .secrets.toml .secrets.yaml .secrets.yml .secrets.json vault.yml vault.yaml
"""
"""No folder of this name holds secrets: code has such folders, and /proc has an environ."""
_WORDS = """
    credentials env[._-]local env[._-]prod env[._-]production env[._-]staging env[._-]dev env[._-]development
    env[._-]uat env.txt *[._-]rsa *[._-]dsa *[._-]ecdsa *[._-]ed25519
"""
"""File names that are secrets only as copies and plain data: `credentials.py` is code."""
_PATHS = """
    .docker/config.json .config/gcloud .config/gh .config/rclone .config/op .config/sops .config/containers/auth.json
    .config/hub .config/doctl .config/configstore .config/anthropic .config/stripe .config/glab-cli .config/filezilla
    .config/chromium .vercel/auth.json .netlify/config.json .railway/config.json .supabase/access-token
    .m2/settings.xml .gradle/gradle.properties .composer/auth.json .codex/auth.json .fly/config.yml
    .config/pip/pip.conf .pip/pip.conf .subversion/auth .config/pypoetry/auth.toml .config/hcloud .config/scw
    .config/bravesoftware .config/microsoft-edge .config/vivaldi .kaggle/kaggle.json .oci/config .aliyun/config.json
    run/secrets etc/ssl/private etc/shadow etc/shadow- etc/gshadow etc/gshadow- etc/sudoers etc/sudoers.d
    .cache/huggingface/token .stripe/config.toml .wrangler/config .circleci/cli.yml .travis/config.yml .bundle/config
    library/keychains assent/serve.json
"""
OWN = "serve.json"
"""In our own folder it holds a server token. Programs that only know globs skip all files of this name."""
_HISTORIES = (
    ".bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history .sqlite_history"
)
_EXAMPLES = "example sample template dist default defaults"  # `.env.example` is meant to be read
_TEXTS = "md mdx rst adoc html"
_CODE = (
    f"{_TEXTS} py pyi ts tsx js jsx mjs cjs go rs java kt kts scala c h cc cpp hpp cs rb swift ex exs lua sh ps1 tf vue"
)
_COPIES = "bak backup bk old orig save copy tmp rej gz zip enc"
_PLACES = "prod production staging uat dev"
_ALSO_CODE = ("kubeconfig", "htpasswd", "environ")
_EDITORS = ("#*#", ".#*", "*.sw[a-p]", "copy of *")
"""What editors and file managers make of any name: programs that only know globs skip all of them."""

# --- the grammar of copies, as regular expressions for one name ---

_COPY = r"(?:~|\.~[0-9]+~|[._ -](?:bak|backup|old|orig|save|copy|tmp|rej|sw[a-p]|[0-9]+)|\([0-9]+\)|#)"
_BEFORE = r"(?:\.?#|\._|copy of |\.(?=[^/]*\.sw[a-p](?:/|$)))?"
_END = rf"{_COPY}{{0,4}}(?=/|$)"


def _any(words: str) -> str:
    return "|".join(words.split())


_OTHER_KIND = rf"[^/]*(?:\.(?:{_any(_CODE)}|pub)|[._-](?:{_any(_EXAMPLES)})){_END}"
_BEHIND = rf"(?:(?!{_OTHER_KIND})[^a-z/][^/]*)?"
"""What may follow the name of a secret."""
_BEHIND_WORD = rf"(?:[._ -](?:{_any(_PLACES)})|{_COPY}|\.(?:{_any(_COPIES)})){{0,6}}"
_ENV = rf"\.env(?![^/]*(?:\.(?:{_any(_TEXTS)})|[._-](?:{_any(_EXAMPLES)})){_END})[^/]*"
_FOR_SHOW = rf"(?!(?:[^/]*[._-])?(?:{_any(_EXAMPLES)})\.(?:env|tfvars){_END})"
_GLOB_PART = r"\*|\[[^]]+\]|."


def _as_regex(glob: str) -> str:
    return re.sub(_GLOB_PART, lambda part: _part(part[0]), glob)


def _part(text: str) -> str:
    if text == "*":
        return "[^/]*"
    return text if text.startswith("[") else re.escape(text)


def _alternatives(globs: str) -> str:
    """Patterns with a free beginning share one alternative: it is tried at each character, but not for each glob."""
    words = globs.split()
    ends = "|".join(_as_regex(word[1:]) for word in words if word[0] == "*")
    plain = "|".join(_as_regex(word) for word in words if word[0] != "*")
    return f"{plain}|[^/]*(?:{ends})" if ends else plain


@cache
def _anywhere() -> str:
    """A name that is secret both as a file and as a folder."""
    named = f"{_BEFORE}(?:(?:{_alternatives(f'{_NAMES} {_GLOBS}')}){_BEHIND}|{_ENV})"
    return f"{_FOR_SHOW}(?:{_alternatives(FOLDERS)}|{named})"


@cache
def _last() -> str:
    """A name that is secret as a file only."""
    return f"{_BEFORE}(?:(?:{_alternatives(_FILES)}){_BEHIND}|(?:{_alternatives(_WORDS)}){_BEHIND_WORD})"


@cache
def secret_pattern() -> str:
    """A regular expression for the whole path of a secret, in lower case, for code that cannot call this module."""
    return f"(?:^|/)(?:(?:{_alternatives(_PATHS)}|{_anywhere()})(?:/|$)|{_last()}$)"


# --- queries ---


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _paths() -> dict[str, list[tuple[str, ...]]]:
    paths: dict[str, list[tuple[str, ...]]] = {}
    for path in (tuple(path.split("/")) for path in _PATHS.split()):
        paths.setdefault(path[0], []).append(path)
    return paths


def secret_part(names: Sequence[str], folded: Sequence[str]) -> str | None:
    """The part of a path that usually holds secrets, as it was written. `folded`: as file systems compare it."""
    for index, name in enumerate(folded):
        if _compiled(_anywhere()).fullmatch(name):
            return names[index]
        for path in _paths().get(name, ()):
            if tuple(folded[index : index + len(path)]) == path:
                return "/".join(names[index : index + len(path)])
    return names[-1] if folded and _compiled(_last()).fullmatch(folded[-1]) else None


# --- for programs that know globs ---


@cache
def brief_secret_globs() -> tuple[str, ...]:
    """A shorter and broader list, for a program that repeats it on every page (`diff`)."""
    named = f".env {_GLOBS} {_FILES} {_NAMES} {_WORDS}".split()
    return tuple(dict.fromkeys((*(f"{name.rstrip('*')}*" for name in named), *_EDITORS, OWN)))


@cache
def secret_globs() -> tuple[str, ...]:
    """Secret files as globs in lower case, for programs that are told what to skip. They match too much rather than too
    little: a glob cannot say "but not `.py`".
    """
    env = (".env", ".env[!.]*", *(f".env.{rest}" for rest in _all_but(_EXAMPLES.split())))
    named = [glob for name in f"{_GLOBS} {_FILES} {_NAMES}".split() for glob in _with_copies(name)]
    return tuple(dict.fromkeys((*env, *named, *_copy_globs(), *_EDITORS, OWN)))


_COMMON_CODE = "py js ts tsx jsx c h cc cpp hpp go rs rb java kt md sh html"
_RISKY = ".#vVlLcC"
"""All secret names that end like code begin with one of these (`.env.py`, `vault_pass.sh`, `copy of …`)."""


@cache
def harmless_globs() -> dict[str, str]:
    """Globs for the most common kinds of code, and for each a narrower one that matches no secret name."""
    return {f"*.{kind}": f"[!{_RISKY}]*.{kind}" for kind in _COMMON_CODE.split()}


def _with_copies(glob: str) -> Iterator[str]:
    yield glob
    if glob.endswith("*") or glob.startswith("id_") or re.fullmatch(_DATA, glob):
        return
    whole = "?*.env" if glob == "*.env" else glob  # `.env` has its own globs, which leave examples readable
    yield from (f"{glob}[!a-z.]*", f"{glob}.y*ml*") if glob in _ALSO_CODE else (f"{whole}[!a-z]*",)


# Each additional glob is compared with each file, so one stands for the copies of many names. It matches slightly more.
_COPY_GLOBS = "ba[ck]* bk* o[lr][di]* save* rej* [tz][mi]p* [ce][on][pc]* gz*"
_PLACE_GLOBS = "prod production staging [du][ea][vt]"
_WORD_FAMILIES = ("credentials", "env.txt", "env[._-][lpsdu]*[lgdtnv]", "*[._-]*[rd5][s1][a9]")
_CODE_FAMILY = "[khe][utn][bpv]*[gdn]"
_DATA = r"(\.?secrets?|credentials|passwords?|tokens?|api_?keys?|vault)\.(json|toml|ya?ml|ini|txt|xml|csv|env)"
_DATA_FAMILIES = [
    f"{stem}.{kind}"
    for stem in ("secret", "secrets", ".secrets", "credentials", "vault", "[pta][aop]*[dsny]")
    for kind in ("[jty][soa][om][nl]", "[yitxce][mnxs][litv]")
]
_KEY_FAMILY = "id_*[rd5][s1][a9]"


def _copy_globs() -> Iterator[str]:
    yield from _WORDS.split()
    for family in _WORD_FAMILIES:
        yield from (f"{family}[~#(]*", f"{family}[._-][0-9]*")
        yield from (f"{family}[._-]{rest}" for rest in f"{_COPY_GLOBS} {_PLACE_GLOBS}".split())
    yield from (f"{_CODE_FAMILY}.{rest}" for rest in f"[0-9]* {_COPY_GLOBS} prod* staging* [du][ea][vt]*".split())
    yield from (f"{family}[!a-z]*" for family in _DATA_FAMILIES)
    yield from (f"{_KEY_FAMILY}[!a-z.]*", f"{_KEY_FAMILY}.[!p]*")


def secret_folders() -> tuple[str, ...]:
    """Names of folders to skip, including those that hold secrets only in their usual place (`.config/gh`)."""
    return (".env", ".envs", *FOLDERS.split(), ".docker", "gcloud", "gh")


@cache
def secret_samples() -> frozenset[str]:
    """Names of secrets, to test a wildcard against."""
    plain = (
        re.sub("^[*]", "server", re.sub(r"\[(.).*?\]", r"\1", glob)) for glob in f"{_GLOBS} {_FILES} {_WORDS}".split()
    )
    named = (name.replace("*", "") for name in plain)
    return frozenset(f"{FOLDERS} {_NAMES} {_HISTORIES} .env shadow sudoers".split()) | {*named}


def _all_but(words: Sequence[str]) -> Iterator[str]:
    """Globs that together match every text except these words. Programs have no glob for "not"."""
    for begin in sorted({word[:size] for word in words for size in range(len(word) + 1)}):
        follows = "".join(sorted({word[len(begin)] for word in words if word.startswith(begin) and word != begin}))
        yield f"{begin}[!{follows}]*" if follows else f"{begin}?*"
        if begin not in words:
            yield begin
