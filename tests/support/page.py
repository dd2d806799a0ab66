"""`assent serve` as a person starts it, and a browser that opens its page.

The server is a real process with its own home; it can be killed and started again on the same port. Nothing sleeps: the
page is watched through locators that wait.
"""

import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from support.program import Json, Program
from support.programs import find_program
from support.waiting import WAIT_LIMIT

WAIT_LIMIT_MS = WAIT_LIMIT * 1000
expect.set_options(timeout=WAIT_LIMIT_MS)
CHROMIUM = find_program("chromium")
needs_browser = pytest.mark.needs("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


CONTRAST = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([red, green, blue]) => [red, green, blue]
        .map((byte) => byte / 255)
        .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4))
        .reduce((sum, share, place) => sum + share * [0.2126, 0.7152, 0.0722][place], 0);
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = rgba(getComputedStyle(at).backgroundColor);
            if (colour[3] === 255) return colour;
        }
        return [255, 255, 255, 255];
    };
    const faint = (element) => element.closest(":disabled, .left-out, .unseen, [hidden]");
    const speaks = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
    const texts = [...document.querySelectorAll("body *")].filter(
        (element) => element.checkVisibility() && !faint(element) && [...element.childNodes].some(speaks));
    return texts.map((element) => {
        const [one, two] = [light(rgba(getComputedStyle(element).color)), light(behind(element))];
        const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
        return [Math.round(ratio * 100) / 100, element.className, element.textContent.slice(0, 30)];
    }).filter(([ratio]) => ratio < 4.5);
}"""
"""Texts with too little contrast to their background."""
UNNAMED = """() => [...document.querySelectorAll("button, a, input, select, textarea")]
    .filter((one) => !(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length))
    .map((one) => one.outerHTML)"""


class Served(Program):
    """A running server. Each test brings its own project folder and scenario."""

    def __init__(self, base: Path, *, has_key: bool = True, settings: str = "", env: Mapping[str, str] = {}) -> None:
        """With a key, there are models to choose from; none of them answers."""
        super().__init__(base)
        self.env.update(env)
        if settings:
            self.home.mkdir()
            (self.home / "settings.toml").write_text(settings)
        if has_key:
            self.env.update({"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9"})
        self._count = 0
        self._tokens: dict[str, str] = {}
        self.port = 0
        self.address = ""
        self.start_server()

    def start_server(self) -> None:
        self.process = subprocess.Popen(
            self.command("serve", "--port", str(self.port), "--allow-model", "scripted:*"),
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)$", self.process.stdout.readline().decode().strip())
        assert found is not None, "the server did not start"
        self.address, self.port = found[0], int(found[1])

    def code(self) -> str:
        """A new login code."""
        return self.run("serve", "login").out.strip().rpartition("#code=")[2]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self._over()

    def stop(self) -> None:
        self.process.terminate()
        self._over()

    def _over(self) -> None:
        self.process.wait(timeout=WAIT_LIMIT)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def token(self, name: str, role: str, owner: str = "") -> str:
        """A token as `assent serve token add` creates it; with an owner it sees only that owner's sessions."""
        if name not in self._tokens:
            args = ("serve", "token", "add", name, "--role", role, *(("--owner", owner) if owner else ()))
            self._tokens[name] = self.run(*args).out.strip()
        return self._tokens[name]

    def project(self, **files: str) -> Path:
        self._count += 1
        folder = self.folder / f"project{self._count}"
        folder.mkdir()
        for name, content in files.items():
            (folder / name.replace("__", ".")).write_text(content)
        return folder

    def play(self, *replies: Json) -> str:
        """A separate model for one session."""
        self._count += 1
        return self.scenario(*replies, name=f"play{self._count}")


class Tab:
    """One page, with the words a person would use for what is on it. Every console message is collected."""

    def __init__(self, served: Served, page: Page, token: str) -> None:
        self.served, self.page, self.token = served, page, token
        self.complaints: list[str] = []
        page.set_default_timeout(WAIT_LIMIT_MS)
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and "Failed to load resource" not in text:
            self.complaints.append(text)

    def enter(self, hash: str = "#/") -> Self:
        self.page.add_init_script(f"localStorage.setItem('assent.token', '{self.token}')")
        self.go(hash)
        return self

    def go(self, hash: str) -> None:
        self.page.goto(f"{self.served.address}/{hash}")

    def begin(self, model: str, folder: Path, prompt: str = "go") -> str:
        """Start a session as a person does; return its id."""
        page = self.page
        start = self.start(model, folder)
        start.get_by_label("What should be done?").fill(prompt)
        start.get_by_role("button", name="Start").click()
        page.wait_for_url(re.compile(r"#/s/[0-9a-f-]+$"))
        return page.url.rpartition("/")[2]

    def start(self, model: str = "", folder: Path | None = None) -> Locator:
        """Opens the form of a new session, and chooses a folder and a model."""
        if (self.page.viewport_size or {"width": 0})["width"] > 760:
            self.page.get_by_role("complementary").get_by_role("link", name="New session", exact=True).click()
        else:  # shows one thing at a time, and the start at first
            self.page.evaluate("location.hash = '#/new'")
        start = self.page.get_by_role("form", name="New session")
        if folder is not None:
            start.get_by_role("button", name="Choose the folder").click()
            start.get_by_role("textbox", name="Folder").fill(str(folder))
        if model:
            start.get_by_role("button", name="Choose the model").click()
            start.get_by_role("combobox", name="Model").fill(model)
        return start

    def card(self, title: str | re.Pattern[str] = "") -> Locator:
        cards = self.page.locator("article.card")
        return cards.filter(has_text=title) if title else cards

    def yes(self, title: str = "") -> None:
        self.press("Yes, once", title)

    def press(self, button: str | re.Pattern[str], title: str = "") -> None:
        """Press until the question accepts it: it ignores keys for a moment after it appeared."""
        found = self.card(title).get_by_role("button", name=button)
        expect(found).to_be_enabled()
        self.page.wait_for_timeout(450)
        found.click()

    def faint_texts(self) -> object:
        return self.page.evaluate(CONTRAST)

    def unnamed(self) -> object:
        """What a screen reader would have no word for."""
        return self.page.evaluate(UNNAMED)

    def sees(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()


class Windows:
    """Opens tabs; each in its own browser context, as if on another machine."""

    def __init__(self, served: Served, browser: Browser) -> None:
        self._served, self._browser = served, browser
        self._contexts: list[BrowserContext] = []

    def open(self, name: str = "ann", role: str = "operator", owner: str = "", hash: str = "#/", **look: Any) -> Tab:
        look.setdefault("viewport", {"width": 1280, "height": 900})
        context = self._browser.new_context(**look)
        self._contexts.append(context)
        return Tab(self._served, context.new_page(), self._served.token(name, role, owner)).enter(hash)

    def beside(self, tab: Tab, hash: str) -> Tab:
        """Another tab of the same browser."""
        return Tab(self._served, tab.page.context.new_page(), tab.token).enter(hash)

    def close(self) -> None:
        for context in self._contexts:
            context.close()


@contextmanager
def a_browser() -> Generator[Browser]:
    assert CHROMIUM is not None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def a_server(*, has_key: bool = True, settings: str = "", env: Mapping[str, str] = {}) -> Generator[Served]:
    base = Path(tempfile.mkdtemp(prefix="assent-served-"))
    served = Served(base, has_key=has_key, settings=settings, env=env)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.stop()
        shutil.rmtree(base, ignore_errors=True)
