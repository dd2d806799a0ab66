"""A picture or PDF that is dropped on the terminal: terminals paste its path, and the prompt mentions it with `@`.

Whether the file may be read is decided when the prompt is sent, as for every mention.
"""

import os
import re
from urllib.parse import unquote, urlsplit

_KINDS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")
_QUOTED = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"")


def dropped_file(pasted: str) -> str:
    """The path that the pasted text consists of, if it is one of a picture or a PDF here; otherwise empty."""
    path = _path(pasted.strip())
    is_kind = path.startswith("/") and path.lower().endswith(_KINDS)
    return path if is_kind and os.path.isfile(path) else ""


def _path(text: str) -> str:
    """Terminals quote a dropped path, escape it, or write it as a URL; a path copied elsewhere is plain."""
    if text.startswith("file://"):
        return unquote(urlsplit(text).path)
    if quoted := _QUOTED.fullmatch(text):
        return quoted[1] or quoted[2]
    return text if re.search(r"(?<!\\)\s", text) else re.sub(r"\\(.)", r"\1", text)
