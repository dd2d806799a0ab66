"""What a person does with whole sessions in the page: rename, copy, delete, take back, compress, find."""

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Route, expect

from support.page import Served, Tab, Windows, a_server, needs_browser
from support.program import asks_for, says, shell, write

pytestmark = needs_browser
LONG = "Many words about the matter at hand. " * 120


def menu(tab: Tab, entry: str, name: str | re.Pattern[str] = "Menu of this session") -> None:
    """Opens a menu and chooses."""
    tab.page.get_by_role("button", name=name).click()
    tab.page.get_by_role("menuitem", name=entry).click()


def window(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("dialog", name=name)


def finished(served: Served, tab: Tab, prompt: str = "go", *, project: Path | None = None) -> str:
    session = tab.begin(served.play(says("Hello."), says("And again.")), project or served.project(), prompt)
    tab.sees("Hello.")
    return session


def rows(tab: Tab) -> Locator:
    return tab.page.get_by_role("navigation").get_by_role("listitem")


ASK = """async ([token, method, path, body]) => {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
    const answer = await fetch(`/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
    return answer.status;
}"""


def behind(tab: Tab, method: str, path: str, body: object = None) -> None:
    """Someone else does it, behind the back of the page."""
    assert tab.page.evaluate(ASK, [tab.token, method, path, body or {}]) < 300


PROMPTS = """async ([token, session]) => {
    const path = `/api/v1/sessions/${session}/events`;
    const { events } = await (await fetch(path, { headers: { Authorization: `Bearer ${token}` } })).json();
    return events.filter(({ type }) => type === "prompt.submitted").map(({ prompt_id }) => prompt_id);
}"""


@pytest.mark.spec("H2")
def test_what_someone_went_back_from_is_no_longer_shown_as_part_of_the_conversation(
    served: Served, windows: Windows
) -> None:
    tab = windows.open()
    session = finished(served, tab, "first words")
    expect(tab.page.get_by_text("Ready")).to_be_visible()
    tab.page.get_by_label("Message").fill("second words")
    tab.page.keyboard.press("Enter")
    tab.sees("And again.")
    expect(tab.page.get_by_text("Ready")).to_be_visible()
    last = tab.page.evaluate(PROMPTS, [tab.token, session])[-1]
    behind(tab, "POST", f"/sessions/{session}/commands", {"type": "rewind", "prompt_id": last})
    tab.sees("You went back to here; the log keeps what came after.")
    expect(tab.page.get_by_text("And again.")).to_have_count(0)
    expect(tab.page.get_by_label("Prompt", exact=True)).to_have_count(1)


# --- names, copies, the end ---


@pytest.mark.spec("H2")
def test_an_archived_session_leaves_the_list_is_found_and_restored(served: Served, windows: Windows) -> None:
    tab = windows.open("arno", owner="arno")
    archived = finished(served, tab, "old words")
    for number in range(8):
        behind(tab, "POST", "/sessions", {"title": f"other {number}", "folder": str(served.folder)})
    expect(rows(tab)).to_have_count(9)
    menu(tab, "Archive", "Menu of old words")
    expect(rows(tab).filter(has_text="old words")).to_have_count(0)
    tab.sees("Archived: old words.")
    tab.page.get_by_label("Find a session").fill("old words")
    expect(rows(tab).filter(has_text="old words")).to_contain_text("archived")
    tab.page.get_by_label("Find a session").fill("")
    expect(rows(tab)).to_have_count(8)
    tab.page.get_by_role("button", name="Archived (1)").click()
    expect(rows(tab)).to_have_count(1)
    rows(tab).get_by_role("link").click()
    tab.page.wait_for_url(f"**/#/s/{archived}")
    tab.sees("Hello.")
    menu(tab, "Restore")
    expect(rows(tab)).to_have_count(0)
    tab.page.get_by_role("button", name="Back to the sessions").click()
    expect(rows(tab).filter(has_text="old words")).to_have_count(1)
    assert tab.complaints == []


@pytest.mark.spec("H2")
def test_a_session_is_renamed_from_its_menus_and_a_refusal_is_told(served: Served, windows: Windows) -> None:
    tab = windows.open("rena", owner="rena")
    session = finished(served, tab, "first words")
    menu(tab, "Rename")
    field = window(tab, "Rename the session").get_by_label("Name of the session")
    expect(field).to_be_focused()
    expect(field).to_have_value("first words")
    tab.page.keyboard.type("A better name")  # what was there is selected
    tab.page.keyboard.press("Enter")
    expect(rows(tab)).to_contain_text("A better name")
    expect(tab.page).to_have_title(re.compile("A better name"))
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    menu(tab, "Rename", "Menu of A better name")
    field.fill("too late")
    behind(tab, "DELETE", f"/sessions/{session}")
    tab.page.get_by_role("button", name="Rename", exact=True).click()
    expect(window(tab, "Rename the session").get_by_role("alert")).to_contain_text("There is no session")


@pytest.mark.spec("H2")
def test_a_copy_goes_its_own_way(served: Served, windows: Windows) -> None:
    tab = windows.open("cora", owner="cora")
    session = finished(served, tab, "the original")
    menu(tab, "Continue in a copy")
    tab.page.wait_for_url(lambda url: "#/s/" in url and session not in url)
    tab.sees("This is a copy.")
    tab.sees("Hello.")
    expect(rows(tab)).to_have_count(2)
    expect(rows(tab).first).to_contain_text("the original (copy)")
    tab.page.get_by_label("Message").fill("only here")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_label("Prompt")).to_have_count(2)
    tab.go(f"#/s/{session}")
    tab.sees("Hello.")
    expect(tab.page.get_by_label("Prompt")).to_have_count(1)


@pytest.mark.spec("H2")
def test_deleting_asks_first_and_everyone_who_looks_is_told(served: Served, windows: Windows) -> None:
    tab = windows.open("dora", owner="dora")
    session = finished(served, tab, "not for long")
    other = windows.beside(tab, f"#/s/{session}")
    other.sees("Hello.")
    menu(tab, "Delete", "Menu of not for long")
    asked = window(tab, "Delete this session?")
    expect(asked).to_contain_text("not for long and its whole history will be deleted permanently.")
    expect(asked.get_by_role("button", name="Keep it")).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(asked).to_have_count(0)
    expect(rows(tab)).to_have_count(1)
    menu(tab, "Delete")
    asked.get_by_role("button", name="Delete", exact=True).click()
    expect(rows(tab)).to_have_count(0)
    tab.page.wait_for_url(re.compile("#/$"))
    other.sees("This session cannot be shown")
    other.sees("It was deleted.")
    assert tab.complaints == []


def test_a_session_that_another_program_has_open_is_not_deleted_and_says_why(served: Served, windows: Windows) -> None:
    tab = windows.open()
    model = served.play(asks_for(shell("touch x")), says("Done."))
    with served.start("-p", "not yours", "-m", model, "--ask", "wait", "-o", "stream-json") as running:
        session = running.until_type("approval.requested")["session"]
        tab.go(f"#/s/{session}")
        expect(tab.card()).to_be_visible()
        menu(tab, "Delete")
        asked = window(tab, "Delete this session?")
        asked.get_by_role("button", name="Delete", exact=True).click()
        expect(asked.get_by_role("alert")).to_contain_text("open in another process")
        asked.get_by_role("button", name="Keep it").click()
        expect(tab.card()).to_be_visible()


@pytest.mark.spec("H2")
def test_the_menu_works_with_the_keyboard_alone(served: Served, windows: Windows) -> None:
    tab = windows.open("mia", owner="mia")
    finished(served, tab, "keys only")
    page = tab.page
    page.locator("body").press("m")
    entries = page.get_by_role("menu", name="Menu of this session").get_by_role("menuitem")
    expect(entries.first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(entries.last).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")  # no shortcut in here
    expect(entries.first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    expect(page.get_by_role("button", name="Menu of this session")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(entries.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(window(tab, "Rename the session")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Menu of this session")).to_be_focused()
    page.keyboard.press("Enter")
    expect(entries.first).to_be_focused()
    page.get_by_role("log").click()
    expect(page.get_by_role("menu")).to_have_count(0)


def test_a_window_belongs_to_the_place_where_it_was_opened(served: Served, windows: Windows) -> None:
    tab = windows.open()
    finished(served, tab)
    menu(tab, "Delete")
    expect(window(tab, "Delete this session?")).to_be_visible()
    tab.page.go_back()
    expect(tab.page).to_have_url(re.compile("#/new$"))
    expect(tab.page.get_by_role("dialog")).to_have_count(0)


def test_who_may_only_look_has_no_menus(served: Served, windows: Windows) -> None:
    tab, viewer = windows.open(), windows.open("vic", "viewer")
    session = finished(served, tab)
    viewer.go(f"#/s/{session}")
    viewer.sees("Hello.")
    expect(viewer.page.get_by_role("button", name=re.compile("^Menu of"))).to_have_count(0)
    expect(viewer.page.get_by_role("button", name="Model:")).to_have_count(0)
    expect(viewer.page.get_by_label("Mode")).to_have_count(0)


# --- taking back ---


def wrote(served: Served, tab: Tab, project: Path) -> None:
    writes = (write("a.txt", "new a\n", "a"), write("b.txt", "new b\n", "b"))
    model = served.play(asks_for(*writes), says("Written."))
    tab.begin(model, project, "change @a.txt")  # so that the model knows it, if it is there
    tab.page.get_by_label("Mode", exact=True).select_option("auto_edit")
    tab.sees("Written.")


@pytest.mark.spec("H2")
def test_a_change_is_seen_and_taken_back(served: Served, windows: Windows) -> None:
    project = served.project(a__txt="old a\n")
    tab = windows.open()
    wrote(served, tab, project)
    requests: list[str] = []
    tab.page.on("request", lambda request: requests.append(request.url))
    menu(tab, "Undo a change")
    asked = window(tab, "Undo a change")
    choices = asked.get_by_role("radio")
    expect(choices).to_have_count(2)
    expect(choices.first).to_be_checked()
    expect(asked.get_by_role("group", name="Change", exact=True)).to_contain_text("new b")
    asked.get_by_role("radio", name="a.txt").check()
    expect(asked.get_by_role("group", name="Change", exact=True)).to_contain_text("new a")
    asked.get_by_role("button", name="Undo").click()
    tab.sees("Undone: a.txt")
    assert (project / "a.txt").read_text() == "old a\n"
    assert (project / "b.txt").read_text() == "new b\n"
    menu(tab, "Undo a change")
    expect(asked.get_by_role("radio")).to_have_count(1)
    assert requests and not any("/sessions//" in url for url in requests)


@pytest.mark.spec("H2")
def test_a_file_that_was_changed_since_is_left_alone_and_the_page_says_so(served: Served, windows: Windows) -> None:
    project = served.project()
    tab = windows.open()
    wrote(served, tab, project)
    (project / "b.txt").write_text("mine\n")
    menu(tab, "Undo a change")
    window(tab, "Undo a change").get_by_role("button", name="Undo").click()
    tab.sees(re.compile("Not undone: b.txt was changed after this call"))
    assert (project / "b.txt").read_text() == "mine\n"


def test_where_nothing_was_written_there_is_nothing_to_take_back(served: Served, windows: Windows) -> None:
    tab = windows.open()
    finished(served, tab)
    menu(tab, "Undo a change")
    expect(window(tab, "Undo a change")).to_contain_text("No call of this session has changed a file")


# --- compressing ---


@pytest.mark.spec("H2")
def test_the_history_is_compressed_and_the_conversation_says_so(served: Served, windows: Windows) -> None:
    model = served.play(says(LONG), says("Short."), says("The notes."))
    tab = windows.open()
    tab.begin(model, served.project(), LONG)
    tab.sees("Ready")
    tab.page.get_by_label("Message").fill("and now?")
    tab.page.keyboard.press("Enter")
    tab.sees("Short.")
    tab.sees("Ready")
    menu(tab, "Compress the history")
    tab.sees(re.compile("The older part of the conversation was replaced with a summary: [0-9,]+ tokens .*became"))
    expect(tab.page.get_by_text("Compressing")).to_have_count(0)


@pytest.mark.spec("F6")
def test_the_page_shows_how_full_the_context_window_is_before_and_after(served: Served, windows: Windows) -> None:
    used = {"input": 30_000, "output": 2_000}
    story = " ".join(map(str, range(4_000)))
    model = served.play(says(story, usage=used), says("Short.", usage=used), says("The notes."))
    tab = windows.open()
    tab.begin(model, served.project(), "Tell me a story.")
    tab.sees("context 25%")
    tab.page.get_by_label("Message").fill("and now?")
    tab.page.keyboard.press("Enter")
    used_up = tab.page.locator(".used")
    expect(used_up).to_have_attribute(
        "title", re.compile("^32,000 of .* context window are used; 64,000 tokens in total")
    )
    tab.page.reload()
    expect(used_up).to_have_text("context 25%")
    menu(tab, "Compress the history")
    tab.sees(re.compile(r"[0-9,]+ tokens \([0-9<]+% of the context window\) became [0-9,]+ \([0-9<]+%\)\."))
    tab.sees(re.compile("context 2[0-3]%"))


def test_what_came_of_a_compression_that_took_long_is_told_when_it_is_known(served: Served, windows: Windows) -> None:
    """Here it has to wait for the turn; one that the model takes long for is answered in the same way."""
    model = served.play(says(LONG), asks_for(shell("touch x")), says("Short."), says("The notes."))
    tab = windows.open()
    tab.begin(model, served.project(), LONG)
    tab.sees("Ready")
    tab.page.get_by_label("Message").fill("and now?")
    tab.page.keyboard.press("Enter")
    expect(tab.card()).to_have_count(1)
    menu(tab, "Compress the history")
    tab.sees("The history will be compressed when this turn is over.")
    tab.yes()
    tab.sees("The history has been compressed.")
    expect(tab.page.get_by_text("Compressing")).to_have_count(0)


WRONG = {"type": "urn:assent:invalid", "detail": "Something is wrong."}


def test_notices_leave_the_header_free_and_belong_to_their_session(served: Served, windows: Windows) -> None:
    for size in ({"width": 1280, "height": 900}, {"width": 390, "height": 844}):
        tab = windows.open(viewport=size)
        session = finished(served, tab)
        tab.page.route(f"**/sessions/{session}", lambda route: route.fulfill(status=422, json=WRONG))
        tab.page.get_by_label("Mode", exact=True).select_option("plan")
        tab.sees("Something is wrong.")
        shown, header = (tab.page.locator(f".main {part}").bounding_box() for part in (".notice", ".top"))
        assert shown and header and shown["y"] >= header["y"] + header["height"]
        tab.page.evaluate("location.hash = '#/inbox'")
        expect(tab.page.get_by_text("Something is wrong.")).to_have_count(0)
        tab.page.evaluate(f"location.hash = '#/s/{session}'")
        tab.sees("Something is wrong.")


def test_why_nothing_was_compressed_stands_in_the_conversation(served: Served, windows: Windows) -> None:
    tab = windows.open()
    tab.start(served.play(says("never said"))).get_by_role("button", name="Start").click()
    tab.sees("No messages yet.")
    menu(tab, "Compress the history")
    tab.sees(re.compile("was not compressed: there is nothing to compress"))


# --- the model and the mode ---


@pytest.mark.spec("H2")
def test_a_model_is_chosen_from_a_list_or_by_name_and_a_wrong_one_is_told(served: Served, windows: Windows) -> None:
    tab = windows.open()
    finished(served, tab)
    tab.page.get_by_role("button", name="Model:").click()
    asked = window(tab, "Choose the model")
    use = asked.get_by_role("button", name="Use it")
    expect(asked.get_by_role("radio", checked=True)).to_have_count(1)
    expect(use).to_be_disabled()
    asked.get_by_label("Or another one").fill("scripted:/nowhere.json")
    expect(asked.get_by_role("radio", checked=True)).to_have_count(0)
    use.click()
    expect(asked.get_by_role("alert")).to_contain_text("nowhere")
    asked.get_by_role("radio", name="gemini-2.5-flash", exact=True).check()
    expect(asked.get_by_label("Or another one")).to_have_value("")
    if use.is_enabled():
        tab.page.keyboard.press("Escape")
    expect(asked).to_have_count(0)
    other = served.play(says("not my turn"), says("I am the other one."))
    tab.page.get_by_role("button", name="Model:").click()
    asked.get_by_label("Or another one").fill(other)
    use.click()
    expect(asked).to_have_count(0)
    tab.sees(re.compile("Model scripted:.*set by you"))
    tab.page.get_by_label("Message").fill("who are you?")
    tab.page.keyboard.press("Enter")
    tab.sees("I am the other one.")


@pytest.mark.spec("K2")
def test_without_a_model_the_page_says_so_before_anything_is_asked(browser: Browser) -> None:
    with a_server(has_key=False) as served:
        windows = Windows(served, browser)
        tab = windows.open()
        expect(tab.page.get_by_text("Three ways forward")).to_be_visible()
        tab.page.get_by_label("What should be done?").fill("hi")
        tab.page.keyboard.press("Enter")
        tab.sees("The key is needed where")
        expect(tab.page.get_by_text("Three ways forward")).to_have_count(1)  # not the same again
        expect(tab.page.get_by_role("code").get_by_text("assent login")).to_be_visible()
        windows.close()


@pytest.mark.spec("K1")
def test_the_effort_is_typed_like_a_command(served: Served, windows: Windows) -> None:
    tab = windows.open()
    finished(served, tab)
    tab.page.get_by_label("Message").fill("/effort much")
    tab.page.keyboard.press("Enter")
    tab.sees("The efforts are: default, none")
    tab.page.get_by_label("Message").fill("/effort max")
    tab.page.keyboard.press("Enter")
    tab.sees(re.compile("Effort max, set by you"))


@pytest.mark.spec("H2")
def test_running_everything_takes_a_second_word(served: Served, windows: Windows) -> None:
    tab = windows.open()
    finished(served, tab)
    mode = tab.page.get_by_label("Mode", exact=True)
    mode.select_option("yolo")
    asked = window(tab, "Run everything without asking?")
    asked.get_by_role("button", name="Keep asking").click()
    expect(asked).to_have_count(0)
    expect(mode).to_have_value("default")
    mode.select_option("yolo")
    asked.get_by_role("button", name="Run everything").click()
    tab.sees("In this session, everything runs without asking.")
    expect(mode).to_have_value("yolo")


# --- many sessions ---


@pytest.mark.spec("H2")
def test_one_session_among_many_is_found_by_words_of_its_name(served: Served, windows: Windows) -> None:
    tab = windows.open("mona", owner="mona")
    expect(tab.page.get_by_label("Find a session")).to_have_count(0)
    model = served.play(says("never said"))
    for number in range(103):
        title = {"title": f"task {number}"} if number in (9, 10, 100) else {}
        behind(tab, "POST", "/sessions", {"folder": str(served.folder), "model": model, **title})
    expect(tab.page.get_by_role("button", name="Show older 3 more")).to_be_visible()  # all were counted
    expect(rows(tab)).to_have_count(100)
    held: list[Route] = []  # what the page asked for before someone wanted more comes late
    tab.page.route("**/sessions?limit=100&*", lambda route: held.append(route))
    behind(tab, "POST", "/sessions", {"folder": str(served.folder), "model": model})
    while not held:
        tab.page.wait_for_timeout(10)
    tab.page.get_by_role("button", name="Show older 3 more").click()
    held[0].continue_()
    expect(rows(tab)).to_have_count(104)
    tab.page.unroute_all()
    expect(tab.page.get_by_role("button", name="Show older")).to_have_count(0)
    tab.page.locator("body").press("s")
    field = tab.page.get_by_label("Find a session")
    expect(field).to_be_focused()
    tab.page.keyboard.type("TASK 10")
    expect(rows(tab)).to_have_count(2)
    tab.page.keyboard.type("0")
    expect(rows(tab)).to_have_count(1)
    expect(rows(tab)).to_contain_text("task 100")
    field.fill("nothing like it")
    tab.sees("No matches.")
    field.press("Escape")
    expect(rows(tab)).to_have_count(100)


def test_lists_that_change_all_the_time_are_read_a_few_times_a_second(served: Served, windows: Windows) -> None:
    tab = windows.open("nele", owner="nele")
    tab.sees("None yet.")
    model, begun, read = served.play(says("never said")), time.monotonic(), list[str]()
    tab.page.on("request", lambda request: read.append(request.url) if "/sessions?limit=" in request.url else None)
    for _ in range(30):
        behind(tab, "POST", "/sessions", {"folder": str(served.folder), "model": model})
        tab.page.wait_for_timeout(30)
    expect(rows(tab)).to_have_count(30)
    assert 0 < len(read) <= (time.monotonic() - begun) / 0.25 + 2


# --- small screens and readers ---


def test_an_open_menu_stays_while_the_conversation_scrolls_and_goes_with_its_own_list(
    served: Served, windows: Windows
) -> None:
    tab = windows.open("ola", owner="ola", viewport={"width": 1000, "height": 420})
    lines = "\n\n".join(f"Paragraph {number}" for number in range(60))
    for number in range(6):
        behind(tab, "POST", "/sessions", {"folder": str(served.folder), "model": served.play(), "title": f"n{number}"})
    tab.begin(served.play(says(lines)), served.project(), "scroll")
    tab.sees("Paragraph 59")
    scroll = """async (area) => {
        const scrolled = new Promise((done) => area.addEventListener("scroll", done, { once: true }));
        area.scrollTop = area.scrollTop ? 0 : 50;
        await scrolled;
        await new Promise(requestAnimationFrame);
    }"""
    tab.page.get_by_role("button", name="Menu of this session").click()
    tab.page.locator(".scroll-area").evaluate(scroll)
    expect(tab.page.get_by_role("menu")).to_be_visible()
    tab.page.keyboard.press("Escape")
    tab.page.get_by_role("button", name="Menu of scroll").click()
    expect(tab.page.get_by_role("menu")).to_be_visible()
    tab.page.locator(".side nav").evaluate(scroll)
    expect(tab.page.get_by_role("menu")).to_have_count(0)


@pytest.mark.spec("H2")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_menus_and_windows_fit_the_screen_and_can_be_read(
    served: Served, windows: Windows, scheme: str, width: int
) -> None:
    project = served.project(a__txt="old a\n")
    me = f"fay{width}{scheme}"
    tab = windows.open(me, owner=me, viewport={"width": width, "height": 800}, color_scheme=scheme)
    expect(tab.page.get_by_role("textbox", name="What should be done?")).to_be_visible()
    if width < 760:  # it shows one thing at a time
        tab.page.get_by_role("link", name="All sessions").click()
    model = served.play(asks_for(write("a.txt", f"{'wide ' * 100}\n", "a")), says("```\n" + "wide " * 100 + "\n```"))
    behind(tab, "POST", "/sessions", {"folder": str(project), "model": model, "prompt": "go", "mode": "auto_edit"})
    tab.page.get_by_role("navigation").get_by_role("link").first.click()
    tab.page.get_by_role("button", name="Copy this code").wait_for()

    def fits() -> None:
        assert tab.page.evaluate("document.scrollingElement.scrollWidth") == width
        assert tab.page.evaluate(
            "[...document.querySelectorAll('dialog, .menu')].every(w => w.scrollWidth <= w.clientWidth)"
        )
        assert tab.faint_texts() == []
        assert tab.unnamed() == []

    fits()
    tab.page.get_by_role("button", name="Menu of this session").click()
    fits()
    tab.page.keyboard.press("Escape")
    for entry in ("Rename", "Undo a change", "Delete"):
        menu(tab, entry)
        expect(
            tab.page.get_by_role("dialog").get_by_role("button", name=re.compile("Back|Keep it")).last
        ).to_be_visible()
        fits()
        tab.page.keyboard.press("Escape")
    menu(tab, "Change the model")
    tab.page.get_by_label("Or another one").fill("scripted:/nowhere.json")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    fits()
    tab.page.keyboard.press("Escape")
    tab.page.get_by_label("Mode", exact=True).select_option("yolo")
    expect(tab.page.get_by_role("dialog")).to_be_visible()
    fits()
    tab.page.keyboard.press("Escape")
    tab.page.get_by_label("Message", exact=True).focus()
    tab.page.keyboard.type("/")
    expect(tab.page.get_by_role("listbox")).to_be_visible()
    fits()
    assert tab.complaints == []


@pytest.mark.spec("H2")
def test_sessions_are_found_by_what_was_said_in_them(served: Served, windows: Windows) -> None:
    tab = windows.open("sol", owner="sol")
    for number in range(9):
        wish = {
            "folder": str(served.project()),
            "model": served.play(says(f"Answer {number}: <b>basalt</b>.")),
            "prompt": f"task {number}",
        }
        behind(tab, "POST", "/sessions", wish)
    other = windows.open("eve", owner="eve")
    tab.page.reload()
    field = tab.page.get_by_role("searchbox", name="Find a session")
    field.fill("answer 4: BASALT")
    found = tab.page.get_by_role("region", name="In conversations").get_by_role("link")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("Answer 4: <b>basalt</b>.")
    found.click()
    expect(tab.page.get_by_role("log")).to_contain_text("Answer 4")
    token = {"Authorization": f"Bearer {other.token}"}
    reply = other.page.request.get(f"{served.address}/api/v1/search?query=basalt", headers=token)
    assert reply.json() == {"found": [], "complete": True}
