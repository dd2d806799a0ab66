"""What a front end shows of a folder: its files, for completion, and its branch."""


async def list_paths(folder: str) -> list[str]:
    """Relative paths; folders end with a slash; ignored files are left out."""
    from assent.files.listing import list_paths

    return await list_paths(folder)


def current_branch(folder: str) -> str:
    """Empty if there is none."""
    from assent.process.branch import current_branch

    return current_branch(folder)
