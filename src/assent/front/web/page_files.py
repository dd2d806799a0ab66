"""The page's own files: `/` is its index, `/page/…` the rest. They are listed at startup; nothing else is served.

Modules and styles are served as two files, whose URLs change with their content: a browser that has them does not ask
again. All other files have an ETag. Each file is compressed once.
"""

import gzip
import hashlib
import mimetypes
import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from msgspec import Struct

from assent.front.web.page_bundle import bundle
from assent.front.web.problems import Problem
from assent.front.web.security import Scope, Send

KINDS = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
EMPTY = b"<!doctype html><title>Assent</title><p>This installation does not include the page, only the API.</p>"
IMMUTABLE = b"max-age=31536000, immutable"
NAME = "/page/app."
_STYLE = re.compile(r'\s*<link rel="stylesheet" href="page/(css/\w+\.css)">')
_SCRIPT = 'src="page/js/main.js"'


class PageFile(Struct, frozen=True):
    data: bytes
    compressed: bytes
    etag: bytes
    kind: bytes
    immutable: bool = False


class PageFiles:
    def __init__(self, folder: Traversable | None = None) -> None:
        found = dict(_walk(folder or files("assent.front.web") / "page"))
        found = _combined(found) if "js/main.js" in found else found
        self._files = {f"/page/{name}": _page_file(name, data) for name, data in found.items()}
        self._files["/"] = _page_file("index.html", found.get("index.html", EMPTY))
        if worker := self._files.get("/page/worker.js"):
            self._files["/worker.js"] = worker  # what a service worker may serve is below its own URL

    def __contains__(self, path: str) -> bool:
        return path in self._files

    async def __call__(self, scope: Scope, send: Send) -> None:
        file = self._files.get(scope["path"])
        if file is None:
            raise Problem("not-found", "there is no such page")
        if scope["method"] not in ("GET", "HEAD"):
            raise Problem("method-not-allowed", "the page's files are read-only")
        asked = dict(scope["headers"])
        known = file.etag in asked.get(b"if-none-match", b"")
        zipped = b"gzip" in asked.get(b"accept-encoding", b"")
        body = b"" if known else file.compressed if zipped else file.data
        headers = _headers(file, len(body), zipped=zipped and not known)
        await send({"type": "http.response.start", "status": 304 if known else 200, "headers": headers})
        await send({"type": "http.response.body", "body": body if scope["method"] == "GET" else b""})


def _headers(file: PageFile, length: int, *, zipped: bool) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", file.kind),
        (b"content-length", str(length).encode()),
        (b"etag", file.etag),
        (b"vary", b"accept-encoding"),
        *([(b"content-encoding", b"gzip")] if zipped else []),
        *([(b"cache-control", IMMUTABLE)] if file.immutable else []),
    ]


def _page_file(name: str, data: bytes) -> PageFile:
    etag = f'"{hashlib.sha256(data).hexdigest()[:20]}"'.encode()
    immutable = f"/page/{name}".startswith(NAME)
    return PageFile(data, gzip.compress(data, 9, mtime=0), etag, _kind(name).encode(), immutable)


def _combined(found: Mapping[str, bytes]) -> dict[str, bytes]:
    """All modules as one script, all styles as one sheet, and an index that loads these two."""
    index = found["index.html"].decode()
    script = bundle({name: data.decode() for name, data in found.items() if name.endswith(".js")}, "js/main.js")
    style = "\n".join(found[name].decode() for name in _STYLE.findall(index))
    made = {_hashed("js", script): script.encode(), _hashed("css", style): style.encode()}
    index = _STYLE.sub("", index).replace(_SCRIPT, f'src="page/{_hashed("js", script)}"')
    index = index.replace("</title>", f'</title>\n    <link rel="stylesheet" href="page/{_hashed("css", style)}">', 1)
    return {**found, **made, "index.html": index.encode()}


def _hashed(ending: str, text: str) -> str:
    return f"app.{hashlib.sha256(text.encode()).hexdigest()[:16]}.{ending}"


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
