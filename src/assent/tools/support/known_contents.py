"""What the model knows of each file: the content that it last read, was given or wrote. It opens no file itself."""


class KnownContents:
    """The tools of a session and what loads the mentions of its prompts share one. A session that is opened again
    starts anew: the model reads a file once more before it replaces it unseen.
    """

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def note(self, path: str, data: bytes) -> None:
        """The model has read this content, or has written all of it."""
        self._digests[path] = _digest(data)

    def note_changed(self, path: str, before: bytes | None, after: bytes) -> None:
        """The model has changed a part: it knows the rest only if it knew the file before."""
        if before is None or self.covers(path, before):
            self.note(path, after)

    def covers(self, path: str, data: bytes) -> bool:
        return self._digests.get(path) == _digest(data)

    def is_outdated(self, path: str, data: bytes) -> bool:
        return path in self._digests and not self.covers(path, data)


def _digest(data: bytes) -> str:
    from assent.files.openat import digest_of  # not needed before the first file is read

    return digest_of(data)
