"""`assent policy check… --jsonl`: one JSON object per line in, one out, for measuring the gate.

Every line gets an answer, even one that cannot be used, so that input and output stay in step. Such an answer has an
`error` that names the line and the reason, and a verdict that lets nothing through.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Literal

import msgspec
from msgspec import Struct

from assent import exit_codes

Action = Literal["check", "check-path", "check-text", "check-url"]
Check = Callable[[dict[str, Any]], dict[str, Any]]

_MAX_LINE = 16_000_000


class _Command(Struct, kw_only=True):
    command: str
    allow: list[str] | None = None
    ask: list[str] | None = None
    deny: list[str] | None = None
    cwd: str | None = None
    roots: list[str] | None = None


class _Path(Struct):
    roots: list[str]
    path: str
    cwd: str | None = None
    op: str = "read"


class _Text(Struct):
    text: str
    context: str = "prompt"


class _Url(Struct):
    url: str
    addresses: list[str] | None = None


_SHAPES = {"check": _Command, "check-path": _Path, "check-text": _Text, "check-url": _Url}


def answer_lines(action: Action) -> int:
    check = _checker(action)
    for number, line in enumerate(_lines(sys.stdin.buffer), 1):
        if line.strip():
            sys.stdout.buffer.write(_encoded(_answer(action, check, number, line)) + b"\n")
            sys.stdout.buffer.flush()
    return exit_codes.OK


def _checker(action: Action) -> Check:
    match action:
        case "check":
            from assent.policy.shell import check

            return check
        case "check-path":
            from assent.files.workspace import check_path

            return check_path
        case "check-text":
            from assent.screen import check_text

            return check_text
        case "check-url":
            from assent.web.urls import check_url_line

            return check_url_line


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yields each line; of one that is too long only the beginning, which is enough to refuse it."""
    while line := stream.readline(_MAX_LINE + 1):
        yield line
        while len(line) > _MAX_LINE and not line.endswith(b"\n"):
            line = stream.readline(_MAX_LINE + 1)


def _answer(action: Action, check: Check, number: int, line: bytes) -> dict[str, Any]:
    import json  # unlike msgspec it accepts lone surrogates, which a hostile line may contain

    try:
        if len(line) > _MAX_LINE:
            raise ValueError(f"it is longer than {_MAX_LINE:,} bytes")
        request = json.loads(line)
        msgspec.convert(request, _SHAPES[action])
        return check(request)
    except json.JSONDecodeError as error:
        return _refusal(action, f"line {number} is not JSON: {error.msg} (character {error.pos + 1})")
    except UnicodeDecodeError as error:
        return _refusal(action, f"line {number} is not UTF-8 (byte {error.start + 1})")
    except RecursionError:
        return _refusal(action, f"line {number} is nested too deeply")
    except Exception as error:
        return _refusal(action, f"line {number} cannot be used: {error}")


def _refusal(action: Action, problem: str) -> dict[str, Any]:
    match action:
        case "check":
            return {"error": problem, "decision": "ask", "reasons": [problem]}
        case "check-path":
            return {"error": problem, "decision": "reject", "reason": problem}
        case "check-text":
            return {"error": problem, "text": "", "suspicious": [problem]}
        case "check-url":
            return {"error": problem, "allowed": False, "reason": problem}


def _encoded(answer: dict[str, Any]) -> bytes:
    """In ASCII: some readers end a line at U+2028 or U+0085, which a command may contain."""
    import json

    return json.dumps(answer, separators=(",", ":")).encode()
