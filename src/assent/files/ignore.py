"""What git ignores, while walking down a tree: the .gitignore files of the folders on the way.

It reads no files itself; the caller passes their text. `.git` itself is always left out.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class IgnoreRules:
    """The rules for one folder: its own and those of the folders above, the nearest taking precedence."""

    def __init__(
        self, folder: str = "", above: "IgnoreRules | None" = None, spec: "GitIgnoreSpec | None" = None
    ) -> None:
        self._folder = folder
        self._above = above
        self._spec = spec

    def below(self, folder: str, gitignore: str | None) -> "IgnoreRules":
        """The rules inside `folder`, a path relative to the start of the walk, ending in `/` (or empty)."""
        if not gitignore:
            return self
        from pathspec import GitIgnoreSpec

        return IgnoreRules(folder, self, GitIgnoreSpec.from_lines(gitignore.splitlines()))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        if path.rpartition("/")[2] == ".git":
            return True
        rules: IgnoreRules | None = self
        while rules is not None:
            if (verdict := rules._verdict(path, is_folder)) is not None:
                return verdict
            rules = rules._above
        return False

    def _verdict(self, path: str, is_folder: bool) -> bool | None:
        if self._spec is None:
            return None
        relative = path[len(self._folder) :] + ("/" if is_folder else "")
        return self._spec.check_file(relative).include
