"""How `make docs` builds the site: Sphinx with MyST for Markdown and the theme Furo.

The site is made of the very files that are read in the repository, so a link must hold in both places. Its source
folder is therefore the root of the repository, and the table of contents stands here and not in one of the files.
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
    "Use it": ("docs/guide", "docs/policy", "docs/api", "SECURITY", "CHANGELOG"),
    "Work on it": ("CONTRIBUTING", "docs/architecture", "docs/glossary", "docs/spec"),
    "How to": ("docs/howto/add-a-tool", "docs/howto/add-a-provider", "docs/howto/add-a-front-end"),
}
TRANSLATIONS = sorted(path.stem for path in ROOT.glob("README.*.md"))
include_patterns = [
    f"{name}.md" for name in (root_doc, *TRANSLATIONS, *(page for pages in CONTENTS.values() for page in pages))
]
exclude_patterns = [".venv", "build", "src", "tests", "bench", "scripts", "examples"]  # not even looked into

myst_heading_anchors = 4  # `page.md#a-heading` is checked, too
myst_links_external_new_tab = True
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]  # shapes in docs/api.md are almost JSON

html_theme = "furo"
html_title = "Assent"
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "native"


def add_contents(app: Any, name: str, source: list[str]) -> None:
    """Puts the table of contents below the first page; it is shown at the side."""
    if name == root_doc:
        readme = {"": TRANSLATIONS} if TRANSLATIONS else {}
        source[0] += "".join(f"\n\n{toctree(title, pages)}" for title, pages in {**readme, **CONTENTS}.items())


def toctree(title: str, pages: "list[str] | tuple[str, ...]") -> str:
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {title}" if title else "", "", *pages, "```", ""])


def make_index(app: Any, error: Exception | None) -> None:
    """Whoever asks for the folder gets the first page."""
    if error is None and app.builder.name == "html":
        shutil.copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", add_contents)
    app.connect("build-finished", make_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
