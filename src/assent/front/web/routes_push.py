"""Web push: a browser subscribes to notices about waiting questions, for as long as its login lasts."""

from litestar import delete, get, post
from litestar.params import JSONBody

from assent.app.push_messages import BadSubscription, PushTarget, check
from assent.front.web.api_types import PushState, PushSubscription
from assent.front.web.params import TheAppState, TheCaller
from assent.front.web.problems import Problem

APPROVER = {"role": "approver"}


@get("/push", opt=APPROVER)
async def push_state(app_state: TheAppState, caller: TheCaller) -> PushState:
    """The key that browsers subscribe with; empty if this server cannot push."""
    return PushState(await app_state.push.public_key(), app_state.push.has(caller.principal))


@post("/push", status_code=201, opt=APPROVER)
async def subscribe(app_state: TheAppState, caller: TheCaller, data: JSONBody[PushSubscription]) -> PushState:
    """Replaces the subscription of this login, if there is one."""
    if not await app_state.push.public_key():
        raise Problem("refused", "this server cannot push: install assent[push] where it runs")
    target = PushTarget(data.endpoint, data.p256dh, data.auth)
    try:
        check(target)
    except BadSubscription as error:
        raise Problem("invalid", str(error)) from error
    if not app_state.push.accepts(target.endpoint):
        raise Problem("invalid", "this server does not know that push service; see push.services in the settings")
    await app_state.push.add(caller.principal, target)
    return PushState(await app_state.push.public_key(), True)


@delete("/push", opt=APPROVER)
async def unsubscribe(app_state: TheAppState, caller: TheCaller) -> None:
    """Ends the subscription of this login."""
    app_state.push.remove(caller.principal.token_id)


ROUTES = (push_state, subscribe, unsubscribe)
