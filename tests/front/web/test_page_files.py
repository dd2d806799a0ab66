"""The page's files: few, small, kept by browsers; and a bundle that is the same program as its modules."""

import gzip
import re
from importlib.resources import files

import pytest
from playwright.sync_api import Browser, Route, expect

from assent.front.web.page_bundle import CannotBundle, bundle
from assent.front.web.page_files import PageFiles
from assent.front.web.security import Message
from support.page import Served, Windows, a_server, needs_browser
from support.program import says

KEPT = """async () => {
    const opened = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
    return (await Promise.all(opened.map((cache) => cache.keys()))).flat().map(({ url }) => url);
}"""
CREATE = """([token, title]) => fetch("api/v1/sessions", {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: JSON.stringify({ title }),
})"""
MAX_REQUESTS = 15
MAX_BYTES = 120_000
"""Of everything that the first visit loads: 3 Mbit/s are 375 kB a second."""


async def got(page: PageFiles, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    await page({"type": "http", "path": path, "method": "GET", "headers": given}, send)
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, sent[1]["body"]


@pytest.mark.spec("H2")
async def test_the_page_loads_two_files_that_are_compressed_and_kept_for_good() -> None:
    page = PageFiles()
    status, index, body = await got(page, "/")
    assert status == 200 and "cache-control" not in index
    paths = re.findall(r'(?:src|href)="(page/app\.[0-9a-f]+\.\w+)"', body.decode())
    assert len(paths) == 2 and not re.search(r'(?:src|href)="/', body.decode())  # relative: also below a path
    total = 0
    for path in paths:
        status, headers, zipped = await got(page, f"/{path}", accept_encoding="gzip, br")
        assert (status, headers["content-encoding"]) == (200, "gzip") and "immutable" in headers["cache-control"]
        assert gzip.decompress(zipped) == (await got(page, f"/{path}"))[2]
        total += len(zipped)
    assert total < MAX_BYTES


async def test_a_file_that_the_browser_has_is_not_sent_again() -> None:
    page = PageFiles()
    _, headers, _ = await got(page, "/")
    status, again, body = await got(page, "/", if_none_match=headers["etag"])
    assert (status, body, again["etag"]) == (304, b"", headers["etag"])
    assert (await got(page, "/", if_none_match='"other"'))[0] == 200


def test_modules_are_put_in_the_order_in_which_they_need_each_other() -> None:
    modules = {
        "js/main.js": 'import { two as deux } from "./b.js";\nimport one from "../vendor/a.js";\nuse(deux, one);\n',
        "js/b.js": '/** Two. */\nexport const two = 2;\nexport { three } from "../vendor/a.js";\n',
        "vendor/a.js": "var n=1,t=3;export{t as three};export default n",
    }
    made = bundle(modules, "js/main.js")
    assert made.index("_vendor_a_js =") < made.index("_js_b_js =") < made.index("_js_main_js =")
    assert "const { two: deux } = _js_b_js;" in made and "const { default: one } = _vendor_a_js;" in made
    assert "Two." not in made and not re.search(r"^(import|export)\b", made, re.M)


@pytest.mark.parametrize(
    "modules",
    [
        {"js/main.js": 'import { a } from "./a.js";', "js/a.js": 'import { b } from "./main.js";'},
        {"js/main.js": "export let changes = 1;"},
        {"js/main.js": 'import * as all from "./a.js";'},
    ],
    ids=["circle", "variable", "namespace"],
)
def test_what_cannot_be_bundled_is_an_error_at_the_start(modules: dict[str, str]) -> None:
    with pytest.raises(CannotBundle):
        bundle(modules, "js/main.js")


def test_the_manifest_and_the_worker_are_there() -> None:
    page = PageFiles()
    assert "/page/assent.webmanifest" in page and "/worker.js" in page
    assert (files("assent.front.web") / "page" / "icon.svg").is_file()


@needs_browser
@pytest.mark.spec("H2")
def test_a_first_visit_takes_few_requests_and_a_second_one_loads_no_file_again(
    served: Served, windows: Windows, browser: Browser
) -> None:
    token = served.token("ann", "operator")
    page = browser.new_context().new_page()
    page.add_init_script(f"localStorage.setItem('assent.token', '{token}')")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url.removeprefix(served.address)))
    page.goto(served.address)
    expect(page.get_by_label("What should be done?")).to_be_visible()
    page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
    assert len(requests) <= MAX_REQUESTS
    assert sum(path.startswith("/page/js") for path in requests) == 0
    page.context.close()


@needs_browser
@pytest.mark.spec("H2")
def test_the_lists_are_there_before_the_stream_is_and_are_read_once(served: Served, windows: Windows) -> None:
    tab = windows.open("lisa", owner="lisa")
    tab.begin(served.play(says("Hello.")), served.project(), "listed words")
    tab.sees("Hello.")
    expect(tab.page.get_by_text("Ready")).to_be_visible()
    held: list[Route] = []
    tab.page.route("**/stream*", lambda route: held.append(route))
    read: list[str] = []
    tab.page.on("request", lambda request: read.append(request.url.partition("/api/v1")[2].partition("?")[0]))
    tab.page.goto(f"{served.address}/?again#/inbox")
    expect(tab.page.get_by_role("link", name="listed words")).to_be_visible()
    tab.sees("Nothing is waiting")
    while not held:
        tab.page.evaluate("0")
    held[0].continue_()
    tab.page.evaluate(CREATE, [tab.token, "a new one"])
    expect(tab.page.get_by_role("link", name="a new one")).to_be_visible()  # the stream said that there is one
    assert read.count("/approvals") == 1


@needs_browser
@pytest.mark.spec("H4")
def test_the_worker_keeps_the_page_for_a_start_without_the_server_and_nothing_private(browser: Browser) -> None:
    with a_server() as served:
        windows = Windows(served, browser)
        tab = windows.open()
        tab.begin(served.play(says("A private answer.")), served.project())
        tab.sees("A private answer.")
        tab.page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
        for query in ("?one", "?two", "?three"):
            tab.page.goto(f"{served.address}/{query}#/")
            expect(tab.page.get_by_label("What should be done?")).to_be_visible()
        kept: list[str] = tab.page.evaluate(KEPT)
        names = sorted(url.removeprefix(served.address).rpartition(".")[2] for url in kept)
        assert names == ["/", "css", "js"]
        served.kill()
        tab.page.reload()
        tab.sees("Connecting …")
        windows.close()
