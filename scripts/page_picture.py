"""Makes docs/page.png: starts the real server with the tour's model, opens the page, and waits for the question."""

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.page import Windows, a_browser, a_server  # noqa: E402

TOUR = ROOT / "src/assent/front/tour"
PROMPT = "A test of this project fails. Find out why, fix it, and show me that it works."


def main() -> None:
    with a_browser() as browser, a_server() as served:
        shutil.copy(TOUR / "scenario.json", served.folder.parent / "tour")
        shutil.copytree(TOUR / "sample", served.folder / "cart")
        windows = Windows(served, browser)
        tab = windows.open(viewport={"width": 1200, "height": 840}, color_scheme="light")
        tab.begin(f"scripted:{served.folder.parent / 'tour'}", served.folder / "cart", PROMPT)
        tab.yes("Run a command")
        tab.sees("Start the discount at exactly")
        tab.page.screenshot(path=ROOT / "docs/page.png")
        windows.close()


main()
