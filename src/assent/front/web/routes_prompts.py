"""What the page completes and offers: prompts chosen by name, files to mention in a prompt, folders to work in."""

from contextlib import suppress
from typing import Annotated

from litestar import Response, get, post
from litestar.params import JSONBody, QueryParameter

from assent.front.web.api_types import FileList, FolderList, PromptChoice, PromptList, Using
from assent.front.web.app_state import wanted_folder
from assent.front.web.folder_listing import list_folders
from assent.front.web.params import SessionId, TheAppState, TheCaller
from assent.front.web.problems import Problem

OPERATOR = {"role": "operator"}
Wanted = Annotated[str, QueryParameter(name="query", max_length=500)]
Limit = Annotated[int, QueryParameter(ge=1, le=200)]


@get("/files", opt=OPERATOR)
async def files_of_folder(
    app_state: TheAppState,
    caller: TheCaller,
    folder: Annotated[str | None, QueryParameter(max_length=4_000)] = None,
    wanted: Wanted = "",
    limit: Limit = 20,
) -> FileList:
    """For completion before a session exists; only in folders where one may work."""
    return FileList(await app_state.completion.find(wanted_folder(app_state.setup, folder), wanted, limit))


@get("/folders", opt=OPERATOR)
async def folders(
    app_state: TheAppState, caller: TheCaller, path: Annotated[str, QueryParameter(max_length=4_000)] = ""
) -> FolderList:
    """The folders inside a folder where sessions may work."""
    return await list_folders(app_state.setup, path)


@get("/sessions/{session_id:str}/files")
async def files(
    app_state: TheAppState, caller: TheCaller, session_id: SessionId, wanted: Wanted = "", limit: Limit = 20
) -> FileList:
    """For completion; what git ignores is left out."""
    info = await app_state.gateway.find(caller, session_id)
    return FileList(await app_state.completion.find(info.folder, wanted, limit))


@get("/sessions/{session_id:str}/prompts", opt=OPERATOR)
async def prompts(app_state: TheAppState, caller: TheCaller, session_id: SessionId) -> PromptList:
    """Opens the session here if possible, because its servers say what they offer once they are connected."""
    info = await app_state.gateway.find(caller, session_id)
    with suppress(Problem):
        await app_state.gateway.open_here(session_id)
    return await app_state.prompts.list(info)


@post("/sessions/{session_id:str}/prompts", status_code=200, opt=OPERATOR)
async def use_prompt(
    app_state: TheAppState, caller: TheCaller, session_id: SessionId, data: JSONBody[PromptChoice]
) -> Response[Using]:
    """Fills it in and sends it. What it runs or reads is judged, and approved if needed, like the model's calls."""
    info = await app_state.gateway.find(caller, session_id)
    key = app_state.gateway.inbox_key(caller, f"prompt {session_id}", data)
    using = await app_state.prompts.use(info, key, data, caller.by)
    return Response(using, status_code=200 if using.state == "sent" else 202)


ROUTES = (files_of_folder, folders, files, prompts, use_prompt)
