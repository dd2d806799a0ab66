"""What a front end shows of a folder: its files, for completion, and its branch."""


async def list_paths(folder: str) -> list[str]:
    """Relative, folders with a slash at the end, ignored ones left out."""
    from assent.files.listing import list_paths

    return await list_paths(folder)


async def list_files(folder: str) -> list[str]:
    """Those that the tools would list: what git ignores is left out, and nothing outside the folder is shown."""
    from assent.files.workspace import Workspace
    from assent.tools.files import Files
    from assent.tools.walk import list_files

    return await list_files(Files(Workspace([folder], folder)), folder)


def current_branch(folder: str) -> str:
    """Empty when there is none."""
    from assent.process.branch import current_branch

    return current_branch(folder)
