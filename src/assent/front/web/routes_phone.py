"""A login for another browser of the same person, such as the one on their phone."""

from litestar import post

from assent.front.web.access_tokens import CODE_SECONDS
from assent.front.web.api_types import LoginCode
from assent.front.web.params import TheAppState, TheCaller


@post("/login-codes", status_code=201, opt={"role": "operator"})
async def login_code(app_state: TheAppState, caller: TheCaller) -> LoginCode:
    """A code as in the printed address. It gives the rights of the user who runs the server, so only they get one."""
    return LoginCode(app_state.access.new_code(caller.principal), CODE_SECONDS)


ROUTES = (login_code,)
