"""What a front end shows of a folder: its files, for completion and for reading, and its branch."""

MAX_SHOWN = 5_000_000
MAX_LOOKED_AT = 8_000
"""Bytes at the start of a file that show whether it is text."""


async def list_paths(folder: str) -> list[str]:
    """Relative paths; folders end with a slash; ignored files are left out."""
    from assent.files.listing import list_paths

    return await list_paths(folder)


def current_branch(folder: str) -> str:
    """Empty if there is none."""
    from assent.process.git_branch import current_branch

    return current_branch(folder)


def read_text(folder: str, path: str) -> str:
    """A file of the folder, for the person to look at; raises OSError if it cannot be shown."""
    from assent.files.access import FileAccess
    from assent.files.errors import WorkspaceError
    from assent.files.workspace import Workspace

    try:
        data = FileAccess(Workspace([folder], folder)).read_bytes(path, MAX_SHOWN, protected_ok=True).data
    except WorkspaceError as error:
        raise OSError(str(error)) from error
    if b"\0" in data[:MAX_LOOKED_AT]:
        raise OSError(f"{path} is not text.")
    return data.decode("utf-8", "replace")
