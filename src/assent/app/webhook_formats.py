"""What is posted to a webhook: for programs, for ntfy and for Slack. Signed, and without the model's own words.

A notification passes through other people's servers and shows up on locked screens. So it says what kind of question is
waiting and where, and links to the card, where the exact command or change is.
"""

import hashlib
import hmac
import os
from typing import Literal

import msgspec
from msgspec import Struct

from assent.approval import AskDetails, Details, EditDetails, ExecDetails, InfoDetails
from assent.config import Webhook
from assent.http.head import Headers
from assent.screen import make_safe

SIGNATURE = "X-Assent-Signature"
TIMESTAMP = "X-Assent-Timestamp"

Kind = Literal["question.waiting", "question.answered"]


class QuestionNotice(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The JSON that programs get."""

    event: Kind
    id: str
    """The same for a question and for its answer."""
    session: str
    folder: str
    """Its name, without the path."""
    kind: str
    risk: str = ""
    text: str
    url: str
    """Opens the card of this question, or the session whose command waits for input."""
    by: str = ""
    """Who answered."""
    at: float


class Post(Struct, frozen=True):
    headers: Headers
    body: bytes


def summary(details: Details, folder: str) -> str:
    """In our words only."""
    match details:
        case EditDetails():
            what = "change a file"
        case ExecDetails():
            what = "run a command"
        case InfoDetails():
            what = "access data"
        case AskDetails():
            what = "ask you something"
        case _:
            what = "use a tool"
    risk = f" ({details.risk} risk)" if isinstance(details, ExecDetails) else ""
    return f"May it {what} in {folder_name(folder)}?{risk}"


def input_summary(folder: str) -> str:
    return f"A command in {folder_name(folder)} is waiting for input."


def folder_name(folder: str) -> str:
    return make_safe(os.path.basename(folder.rstrip("/")) or folder, "label").text


def post_for(webhook: Webhook, notice: QuestionNotice, secret: str) -> Post:
    match webhook.format:
        case "json":
            return _signed(msgspec.json.encode(notice), secret, notice.at)
        case "slack":
            return _signed(msgspec.json.encode({"text": _slack_text(notice)}), secret, notice.at)
        case "ntfy":
            return _ntfy(notice, secret)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 over the timestamp, a dot and the body."""
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def _signed(body: bytes, secret: str, at: float) -> Post:
    timestamp = str(int(at))
    signed = ((SIGNATURE, signature(secret, timestamp, body)),) if secret else ()
    return Post((("Content-Type", "application/json"), (TIMESTAMP, timestamp), *signed), body)


def _slack_text(notice: QuestionNotice) -> str:
    escaped = notice.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if notice.event == "question.answered":
        return f"~{escaped}~ {notice.by or 'answered'}"
    return f"{escaped} <{notice.url}|Open the question>"


def _ntfy(notice: QuestionNotice, secret: str) -> Post:
    """With a secret, it is the access token of ntfy. The answer replaces the notification of the question."""
    waiting = notice.event == "question.waiting"
    text = notice.text if waiting else f"{notice.by or 'answered'}: {notice.text}"
    headers = (
        ("Title", "Assent asks" if waiting else "Assent: answered"),
        ("Click", notice.url),
        ("Priority", "high" if waiting and notice.risk == "high" else "default" if waiting else "min"),
        ("Tags", "question" if waiting else "white_check_mark"),
        ("X-Sequence-ID", notice.id),
        *((("Authorization", f"Bearer {secret}"),) if secret else ()),
    )
    return Post(headers, text.encode())
