"""A login for another browser of the same person, such as the one on their phone."""

from litestar import post

from assent.front.web.access_tokens import CODE_SECONDS
from assent.front.web.api_types import LoginCode
from assent.front.web.params import TheAppState, TheCaller
from assent.front.web.problems import Problem


@post("/login-codes", status_code=201, opt={"role": "operator"})
async def login_code(app_state: TheAppState, caller: TheCaller) -> LoginCode:
    """A code as in the printed address. It gives the rights of the user who runs the server, so only they get one."""
    if caller.principal.owner or caller.principal.name != app_state.setup.user:
        raise Problem("forbidden", "only the user who runs this server can log in another browser")
    return LoginCode(app_state.access.codes.issue(), CODE_SECONDS)


ROUTES = (login_code,)
