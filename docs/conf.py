"""How `make docs` builds the site: Sphinx with MyST for Markdown and the theme Furo.

The site is built from the same files that people read in the repository, so every link must work in both places. That
is why the source folder is the root of the repository, and why the table of contents is here and not in a page.
"""

import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

project = "Assent"
copyright = "the authors of Assent"
release = re.findall(r'__version__ = "(.+)"', (ROOT / "src/assent/__init__.py").read_text())[0]
language = "en"

extensions = ["myst_parser"]
root_doc = "README"
CONTENTS = {
    "Using Assent": (
        "docs/guide",
        "docs/models",
        "docs/policy",
        "docs/api",
        "docs/operations",
        "docs/scaling",
        "docs/runbooks",
        "SECURITY",
        "CHANGELOG",
    ),
    "Developing Assent": ("CONTRIBUTING", "docs/architecture", "docs/glossary", "docs/spec"),
    "How-to guides": ("docs/howto/add-a-tool", "docs/howto/add-a-provider", "docs/howto/add-a-front-end"),
}
TRANSLATIONS = sorted(path.stem for path in ROOT.glob("README.*.md"))
include_patterns = [
    f"{name}.md" for name in (root_doc, *TRANSLATIONS, *(page for pages in CONTENTS.values() for page in pages))
]
exclude_patterns = [".venv", "build", "src", "tests", "bench", "scripts", "examples"]  # not searched at all

myst_heading_anchors = 4  # check `page.md#a-heading` too
myst_links_external_new_tab = True
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # the shapes in docs/api.md are not quite JSON

html_theme = "furo"
html_title = "Assent"
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "native"


def add_contents(app: Any, name: str, source: list[str]) -> None:
    """Appends the table of contents to the first page; the theme shows it in the sidebar."""
    if name == root_doc:
        readme = {"": TRANSLATIONS} if TRANSLATIONS else {}
        source[0] += "".join(f"\n\n{toctree(title, pages)}" for title, pages in {**readme, **CONTENTS}.items())


def toctree(title: str, pages: "list[str] | tuple[str, ...]") -> str:
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {title}" if title else "", "", *pages, "```", ""])


def make_index(app: Any, error: Exception | None) -> None:
    """Makes the first page the index of the folder."""
    if error is None and app.builder.name == "html":
        shutil.copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", add_contents)
    app.connect("build-finished", make_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
