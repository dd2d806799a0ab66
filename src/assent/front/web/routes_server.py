"""The server itself: logging in and out, who am I, is it well, its numbers."""

import time

from litestar import Response, get, post
from litestar.params import JSONBody

from assent import __version__
from assent.front.web.metrics import exposition, process_gauges
from assent.front.web.params import TheAsker, TheDesk
from assent.front.web.problems import Problem
from assent.front.web.shapes import Health, LoggedIn, Login, Me
from assent.front.web.tokens import BROWSER_SECONDS


@post("/login", status_code=200, opt={"role": None})
async def login(desk: TheDesk, data: JSONBody[Login]) -> LoggedIn:
    """Exchanges the code of the printed address for a token. A code works once."""
    if not desk.codes.redeem(data.code):
        raise Problem(
            "unauthenticated", "this code is wrong, used or too old; `assent serve` prints a new one on Enter"
        )
    token = desk.tokens.issue(desk.setup.user, "operator", seconds=BROWSER_SECONDS, kind="browser")
    return LoggedIn(token, desk.setup.user, "operator", time.time() + BROWSER_SECONDS)


@post("/logout", status_code=204)
async def logout(desk: TheDesk, asker: TheAsker) -> None:
    """The token holds no longer; its streams end."""
    desk.tokens.revoke(lambda record: record.hash.startswith(asker.principal.key))
    desk.streams.end_invalid()


@get("/me")
async def me(desk: TheDesk, asker: TheAsker) -> Me:
    setup = desk.setup
    mode = setup.settings.approval_mode
    who = asker.principal
    return Me(
        name=who.name,
        role=who.role,
        version=__version__,
        roots=setup.roots,
        folder=setup.folder,
        model=setup.model,
        mode=mode,
        by=asker.by,
        models=setup.settings.models,
    )


@get("/healthz", opt={"role": None})
async def health() -> Health:
    return Health("ok")


@get("/readyz", opt={"role": None})
async def ready(desk: TheDesk) -> Health:
    """The log was written to within the last second."""
    await desk.readiness.check()
    return Health("ok")


@get("/metrics")
async def metrics(desk: TheDesk, asker: TheAsker) -> Response[bytes]:
    waiting = sum((await desk.log.count_waiting()).values())
    gauges = {
        "open_sessions": ("Sessions that run in this process.", float(desk.engine.open_sessions)),
        "waiting_approvals": ("Approvals that wait for a person.", float(waiting)),
        "streams": ("Open event streams.", float(len(desk.streams))),
        "decisions_total": ("Decisions taken.", float(desk.office.decisions)),
    } | process_gauges()
    body = exposition(gauges, desk.answered)
    return Response(body, media_type="text/plain; version=0.0.4; charset=utf-8")


PUBLIC_ROUTES = (health, ready, metrics)
ROUTES = (login, logout, me)
