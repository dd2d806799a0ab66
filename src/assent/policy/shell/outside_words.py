"""Words that lead out of the workspace: absolute paths, `~` and `..`, as operands and as values of options.

A rule for a program means the program in this workspace. Rules for the plain readers of Unix (`cat`, `ls`, `find`) also
mean other places, because inside they need no rule; every other program asks, unless the rule itself names the place.
Judges text alone; `symlink_checks` follows links.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.options import Use
from assent.policy.shell.paths import inside, place
from assent.policy.shell.plain_texts import plain_texts

# For these a rule means any place; git and the packagers of models with their own checks are judged elsewhere.
READS_ANYWHERE = frozenset(
    """
    ls cat less head tail wc nl tac cut sort uniq comm diff cmp file stat du df find grep egrep fgrep rgrep sed gsed tr
    rev fold column jq yq basename dirname realpath readlink pwd cd echo printf true false : test [ date which type
    md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum awk gawk mawk nawk xargs paste join
    expand unexpand fmt pr tsort shuf od hexdump hd xxd strings base64 base32 zcat bzcat xzcat zstdcat zgrep expr
    factor numfmt seq sleep man whereis command env timeout gtimeout nice ionice stdbuf time nohup ldd nm readelf
    objdump size dpkg mount findmnt lsblk lsof ps pgrep getent ip openssl tee git whatis apropos apt
    apt-cache rpm brew pkg-config
    """.split()  # noqa: SIM905
)
# Their words that begin with a slash are routes, keys and names elsewhere.
_NO_PATHS = (
    *(("gh", "api"), ("glab", "api"), ("aws", "logs"), ("aws", "ssm"), ("aws", "iam"), ("kubectl", "get")),
    *((name,) for name in ("curl", "wget", "http", "https", "redis-cli", "mongosh")),
)
_LABELS = ("bazel", "bazelisk", "buck", "buck2", "pants", "gn", "please", "plz")  # `//src` is a target of the project
_HARMLESS = frozenset(("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"))
_PLACE = lazy_pattern(r"~|\$\{?HOME\b|/|(?:.*/)?\.\.(?:/|$)", re.DOTALL)
_SEARCHED = lazy_pattern(r"-(?:I|L|isystem)/(?:usr|opt)/")  # where compilers look for headers and libraries
_GLUED = lazy_pattern(r"-[A-Za-z]+(?=[/~.])")


def leading_out(
    words: Sequence[Word], use: Use | None, rule: Collection[str], cwd: str, roots: Sequence[str]
) -> Iterator[str]:
    """Why words after the program's name ask: they lead out of the workspace, and the rule does not name them."""
    name = words[0].text if use is None else use.names[0]
    if name in READS_ANYWHERE or _has_other_words(use):
        return
    if not inside(cwd, roots) and not (use is not None and use.writes):  # these are checked themselves
        yield f"it runs in {cwd}, outside the workspace"
    texts = () if use is None else plain_texts(use, tuple(words))
    end = use.payload_at if use is not None and use.payload else len(words)
    for at, word in enumerate(words[:end]):
        label = name in _LABELS and word.text.startswith("//")
        if at and at not in texts and not label and word.text not in rule and _leads_out(word.text, cwd, roots):
            yield f"`{word.text}` leads out of the workspace, and the rule does not name it"


def _has_other_words(use: Use | None) -> bool:
    if use is None:
        return False
    contained = use.model.wrapper is not None and use.model.wrapper.contained
    return contained or use.names[:1] in _NO_PATHS or use.names[:2] in _NO_PATHS


def _leads_out(text: str, cwd: str, roots: Sequence[str]) -> bool:
    return any(_is_outside(one, cwd, roots) for one in _values(text))


def _values(text: str) -> Iterator[str]:
    """The word, what is glued to an option, and the parts of a list."""
    if text.startswith("file:"):
        yield re.sub("^/+", "/", text[5:])
    elif _SEARCHED.match(text):
        return
    elif text.startswith("-"):
        glued = _GLUED.match(text)
        yield from (text.partition("=")[2], text[glued.end() :] if glued else "")
    elif "://" not in text:
        yield text
        yield text.partition("=")[2]


def _is_outside(text: str, cwd: str, roots: Sequence[str]) -> bool:
    path = text.lstrip("@!")
    if path in _HARMLESS or not _PLACE.match(path):
        return False
    return not inside(place(path, cwd), roots)
