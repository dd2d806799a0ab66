# pyright: basic, reportMissingImports=false, reportOptionalMemberAccess=false, reportAttributeAccessIssue=false
"""A whole cycle with a client that was generated from the OpenAPI document, and the stream by httpx-sse.

Runs in the environment of these packages, not in Assent's. URL, token and folder are its arguments; the last line of
its output says what it saw.
"""

import json
import sys

import httpx
from client import AuthenticatedClient
from client.api.access import me
from client.api.approvals import approvals, decide
from client.api.audit import check_audit, list_audit
from client.api.sessions import create, list_sessions, remove, say
from client.models import Decided, DecidedOutcome, NewSession, ProblemShape, Said
from httpx_sse import connect_sse

url, token, folder = sys.argv[1:]
client = AuthenticatedClient(url, token, raise_on_unexpected_status=True)
watching = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60)
seen: list[str] = []


def until(session: str, after: int, kind: str) -> int:
    """Reads the stream until an event of this kind; returns its number."""
    with connect_sse(watching, "GET", "/api/v1/stream", params={"session": f"{session}:{after}"}) as stream:
        for frame in stream.iter_sse():
            if frame.event != "events":
                continue
            for line in frame.data.splitlines():
                event = json.loads(line)
                if event["seq"] > after:
                    seen.append(event["type"])
                if event["seq"] > after and event["type"] == kind:
                    return event["seq"]
    raise SystemExit(f"the stream ended before {kind}: {seen}")


created = create.sync(client=client, body=NewSession(folder=folder, prompt="go"), idempotency_key="one")
again = create.sync(client=client, body=NewSession(folder=folder, prompt="go"), idempotency_key="one")
asked = until(created.id, 0, "approval.requested")
(waiting,) = approvals.sync(client=client).approvals
yes, digest = DecidedOutcome.PROCEED_ONCE, waiting.approval.digest
stale = decide.sync(created.id, waiting.call_id, client=client, body=Decided(outcome=yes, digest="other"))
taken = decide.sync(created.id, waiting.call_id, client=client, body=Decided(outcome=yes, digest=digest))
late = decide.sync(created.id, waiting.call_id, client=client, body=Decided(outcome=yes, digest=digest))
finished = until(created.id, asked, "turn.finished")
say.sync(created.id, client=client, body=Said(text="and now?"))
until(created.id, finished, "turn.finished")
answered = list_audit.sync(client=client, kind="approval").records[0].entry
removed = remove.sync_detailed(created.id, client=client).status_code
sys.stdout.write(
    json.dumps(
        {
            "me": me.sync(client=client).name,
            "same": created.id == again.id,
            "stale": stale.type_ if isinstance(stale, ProblemShape) else "",
            "taken": taken.to_dict(),
            "late": late.type_ if isinstance(late, ProblemShape) else "",
            "seen": seen,
            "audit": [answered.kind.value, answered.by, answered.digest == digest],
            "intact": list(check_audit.sync(client=client).problems),
            "removed": removed,
            "left": len(list_sessions.sync(client=client).sessions),
        }
    )
)
