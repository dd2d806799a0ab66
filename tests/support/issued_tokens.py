"""Tokens for tests that need a valid one."""

from assent.front.web.access_tokens import Role, TokenBook, TokenKind


def issue(
    tokens: TokenBook,
    name: str,
    role: Role,
    *,
    owner: str = "",
    seconds: float | None = None,
    kind: TokenKind = "named",
) -> str:
    new = tokens.prepare(name, role, owner=owner, seconds=seconds, kind=kind)
    tokens.add(new.record)
    return new.token
