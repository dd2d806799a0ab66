"""The audit: who decided what, newest first, and whether the record is intact."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from assent.app.audit_access import AuditQuery, AuditRecord, check, head_text
from assent.front.web.api_types import AuditCheck, AuditList, AuditView
from assent.front.web.params import TheAppState, TheCaller
from assent.front.web.problems import Problem

OPERATOR = {"role": "operator"}
ShortText = Annotated[str, QueryParameter(max_length=200, pattern=r"^[^\x00-\x1f]*$")]


@get("/audit", opt=OPERATOR)
async def list_audit(
    app_state: TheAppState,
    caller: TheCaller,
    before: Annotated[int | None, QueryParameter(ge=1, le=1 << 53)] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=500)] = 100,
    session: ShortText = "",
    kind: ShortText = "",
    by: ShortText = "",
) -> AuditList:
    """The user who runs the server sees all records; other operators see those of their owner. Records that someone
    made unreadable are left out; the check names them."""
    who = caller.principal
    query = AuditQuery(
        before=before,
        limit=limit + 1,
        owner=None if who.is_administrator else who.owner,
        session=session,
        kind=kind,
        by=by,
    )
    found = await app_state.log.audit.find(query)
    return AuditList(tuple(_view(one) for one in found[:limit] if one.is_readable), len(found) > limit)


def _view(record: AuditRecord) -> AuditView:
    return AuditView(record.id, record.hash, record.entry)


@get("/audit/check", opt=OPERATOR)
async def check_audit(app_state: TheAppState, caller: TheCaller) -> AuditCheck:
    """Reads every record and checks the chain of hashes. Note the head elsewhere: it proves later that nothing was
    removed from the end."""
    if not caller.principal.is_administrator:
        raise Problem("forbidden", "only the user who runs the server may check the whole audit")
    found = await check(app_state.log.audit)
    return AuditCheck(found.records, head_text(found.head), found.problems)


ROUTES = (list_audit, check_audit)
