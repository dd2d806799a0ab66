"""Files that go with a prompt: kept on the server, and read when a prompt mentions them."""

import asyncio

from litestar import post
from litestar.params import JSONBody

from assent.app.prompt_files import keep_prompt_file, share_prompt_file
from assent.front.web.api_types import Upload, Uploaded
from assent.front.web.params import SessionId, TheAppState, TheCaller
from assent.front.web.problems import Problem


@post("/sessions/{session_id:str}/uploads", status_code=201, opt={"role": "operator"})
async def upload(app_state: TheAppState, caller: TheCaller, session_id: SessionId, data: JSONBody[Upload]) -> Uploaded:
    """Keeps a file for the session; a prompt includes it with `@` and the returned path. It goes with the session."""
    await app_state.gateway.find(caller, session_id)
    try:
        path = await asyncio.to_thread(keep_prompt_file, app_state.setup.env, session_id, data.name, data.data)
        if app_state.blobs is not None:
            await share_prompt_file(app_state.blobs, session_id, path, data.data)
    except OSError as error:
        raise Problem("unavailable", f"the file could not be stored: {error.strerror or error}") from error
    return Uploaded(path)


ROUTES = (upload,)
