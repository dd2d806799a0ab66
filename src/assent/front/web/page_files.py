"""The page's own files: `/` is its index, `/page/…` the rest. They are listed at startup; nothing else is served."""

import mimetypes
from importlib.resources import files
from importlib.resources.abc import Traversable

from assent.front.web.problems import Problem
from assent.front.web.security import Scope, Send

KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
EMPTY = b"<!doctype html><title>Assent</title><p>This installation does not include the page, only the API.</p>"


class PageFiles:
    def __init__(self, folder: Traversable | None = None) -> None:
        found = dict(_walk(folder or files("assent.front.web") / "page"))
        self._files = {f"/page/{name}": data for name, data in found.items()}
        self._files["/"] = found.get("index.html", EMPTY)

    async def __call__(self, scope: Scope, send: Send) -> None:
        data = self._files.get(scope["path"])
        if data is None:
            raise Problem("not-found", "there is no such page")
        if scope["method"] not in ("GET", "HEAD"):
            raise Problem("method-not-allowed", "the page's files are read-only")
        name = "index.html" if scope["path"] == "/" else scope["path"]
        headers = [(b"content-type", _kind(name).encode()), (b"content-length", str(len(data)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": data if scope["method"] == "GET" else b""})


def _walk(folder: Traversable, prefix: str = "") -> list[tuple[str, bytes]]:
    if not folder.is_dir():
        return []
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        elif not entry.name.startswith("."):
            found.append((prefix + entry.name, entry.read_bytes()))
    return found


def _kind(name: str) -> str:
    ending = "." + name.rpartition(".")[2]
    kind = KINDS.get(ending) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
