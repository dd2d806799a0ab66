"""Secrets that are known by their looks: the tokens of providers, and passwords in addresses.

Each shape has a hint that is searched first, as plain text, and a pattern that is tried where it was found, and
compiled only then. Behind the hint a pattern is little more than one run of one class of characters: what was read in
vain is not read again for the next hint, so no text takes more than linear time.
"""

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from assent.secrets.spans import Span
from assent.secrets.values import is_placeholder

_LEFT = r"(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))"
"""Not in the middle of a word. The n of a line end that is written as `\\n` is no letter."""


class Shape(Struct, frozen=True):
    kind: str
    hint: str
    pattern: str
    """All of a match is the secret, or its group 1 where it has one."""


def _token(kind: str, prefix: str, rest: str, before: str = "") -> Shape:
    return Shape(kind, prefix, before + re.escape(prefix) + rest)


_SHAPES = (
    _token("Google API key", "AIza", r"[\w-]{35}(?![\w-])", _LEFT),
    _token("Google access token", "ya29.", r"[\w-]{20,}", _LEFT),
    _token("Google client secret", "GOCSPX-", r"[\w-]{20,}", _LEFT),
    _token("Anthropic key", "sk-ant-", r"[\w-]{20,}", _LEFT),
    *(_token("OpenAI key", f"sk-{kind}-", r"[\w-]{20,}", _LEFT) for kind in ("proj", "svcacct", "admin")),
    _token("OpenRouter key", "sk-or-", r"[\w-]{20,}", _LEFT),
    _token("API key", "sk-", r"(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{20,}", _LEFT),
    *(_token("GitHub token", f"gh{kind}_", r"[A-Za-z0-9]{36,}") for kind in "pousr"),
    _token("GitHub token", "github_pat_", r"[A-Za-z0-9_]{22,}"),
    *(_token("GitLab token", f"gl{kind}-", r"[\w-]{20,}", _LEFT) for kind in ("pat", "dt", "rt", "ptt", "cbt", "soat")),
    Shape("Slack token", "xox", rf"{_LEFT}xox[abeoprs](?:\.xox[abp])?-[\w-]{{10,}}"),
    _token("Slack token", "xapp-", r"[0-9]-[\w-]{10,}", _LEFT),
    _token("Slack webhook", "hooks.slack.com/services/", r"\w+/\w+/\w{10,}"),
    *(_token("AWS key id", prefix, r"[A-Z2-7]{16}(?![A-Za-z0-9])", _LEFT) for prefix in ("AKIA", "ASIA")),
    _token("AWS signature", "X-Amz-Signature=", r"[0-9a-f]{32,}"),
    _token("AWS session token", "X-Amz-Security-Token=", r"[\w%+/=-]{20,}"),
    *(_token("Stripe key", f"{kind}k_{mode}_", r"[A-Za-z0-9]{16,}") for kind in "sr" for mode in ("live", "test")),
    _token("webhook secret", "whsec_", r"[A-Za-z0-9+/=]{24,}", _LEFT),
    _token("npm token", "npm_", r"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _token("PyPI token", "pypi-", r"[\w-]{50,}", _LEFT),
    _token("Hugging Face token", "hf_", r"[A-Za-z0-9]{30,}", _LEFT),
    _token("Groq key", "gsk_", r"[A-Za-z0-9]{30,}", _LEFT),
    _token("xAI key", "xai-", r"[A-Za-z0-9]{40,}", _LEFT),
    _token("DigitalOcean token", "dop_v1_", r"[0-9a-f]{40,}"),
    _token("Docker token", "dckr_pat_", r"[\w-]{20,}"),
    _token("Vault token", "hvs.", r"[\w-]{20,}", _LEFT),
    _token("SendGrid key", "SG.", r"[\w-]{16,}\.[\w-]{32,}", _LEFT),
    _token("age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    _token("JSON Web Token", "eyJ", r"[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}", _LEFT),
    Shape("password", "://", r"://[^\s/:@'\"<>]{0,128}:([^\s/@'\"<>]{1,256})@[\w.\[]"),
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def find_tokens(text: str) -> Iterator[Span]:
    for shape in _SHAPES:
        if shape.hint in text:
            yield from _find(shape, text)


def _find(shape: Shape, text: str) -> Iterator[Span]:
    pattern, at = _compiled(shape.pattern), text.find(shape.hint)
    group = pattern.groups
    while at >= 0:
        end = at + len(shape.hint)
        if found := pattern.match(text, at):
            end = found.end()
            if not group or not is_placeholder(found[group]):
                yield Span(found.start(group), found.end(group), shape.kind)
        at = text.find(shape.hint, end)
