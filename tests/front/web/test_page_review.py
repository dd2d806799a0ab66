"""Reviewing in the page: what changed within a line, context, two columns, several questions at once, whole outputs."""

import re

import pytest
from playwright.sync_api import Route, expect

from support.page import Served, Windows, needs_browser
from support.program import asks_for, says, shell, write

pytestmark = needs_browser
OLD = "".join(f"value_{number} = {number}\n" for number in range(60))
NEW = OLD.replace("value_30 = 30\n", "value_30 = thirty\n")


@pytest.mark.spec("H2")
def test_a_change_shows_what_changed_within_a_line_with_more_context_and_in_two_columns(
    served: Served, windows: Windows
) -> None:
    tab = windows.open(viewport={"width": 1440, "height": 900})
    tab.begin(served.play(asks_for(write("a.txt", NEW)), says("Done.")), served.project(a__txt=OLD))
    card = tab.card("Change a.txt")  # relative to the folder of the session
    expect(card.locator(".removed mark")).to_have_text("30")
    expect(card.locator(".added mark")).to_have_text("thirty")
    expect(card.get_by_text("value_20 = 20")).to_have_count(0)
    card.get_by_role("button", name="More lines around part 1").click()
    expect(card.get_by_text("value_20 = 20")).to_be_visible()
    expect(card.get_by_text("value_40 = 40")).to_be_visible()
    card.get_by_role("button", name="Side by side").click()
    old, new = card.locator(".half.removed"), card.locator(".half.added")
    assert (old.bounding_box() or {})["y"] == (new.bounding_box() or {})["y"]
    tab.page.reload()  # the choice stays
    expect(card.locator(".half.added")).to_be_visible()
    card.get_by_role("button", name="One column").click()
    expect(card.locator(".half")).to_have_count(0)
    tab.yes()
    tab.sees("Done.")


@pytest.mark.spec("H2")
def test_a_change_is_in_two_columns_only_where_there_are_two_sides_and_the_room(
    served: Served, windows: Windows
) -> None:
    tab = windows.open(viewport={"width": 1440, "height": 900})
    calls = (write("a.txt", NEW, "a"), write("new.txt", "one\ntwo\n", "b"))
    tab.begin(served.play(asks_for(*calls)), served.project(a__txt=OLD))
    tab.card("Change a.txt").get_by_role("button", name="Side by side").click()
    expect(tab.card("Change a.txt").locator(".half.added")).to_be_visible()
    tab.page.reload()
    created = tab.card("Create new.txt")
    expect(created.locator(".line-of.added")).to_have_count(2)
    expect(created.get_by_role("button", name="One column")).to_have_count(0)
    expect(created.get_by_role("button", name="More lines around")).to_have_count(0)  # there are none
    tab.page.set_viewport_size({"width": 390, "height": 844})
    expect(tab.card("Change a.txt").locator(".line-of.added")).to_be_visible()
    expect(tab.card().locator(".half")).to_have_count(0)


@pytest.mark.spec("C2")
@pytest.mark.spec("H2")
def test_yes_to_all_answers_only_what_was_shown_to_its_end(served: Served, windows: Windows) -> None:
    project = served.project()
    long = "".join(f"line {number}\n" for number in range(200))
    calls = (shell("touch one", "a"), shell("touch two", "b"), write("long.txt", long, "c"))
    tab = windows.open()
    tab.begin(served.play(asks_for(*calls), says("Done.")), project)
    expect(tab.card()).to_have_count(3)
    expect(tab.card("touch one")).to_be_in_viewport()  # the first one, not the last
    every = tab.page.get_by_role("button", name="Yes to all 2 that were shown")
    expect(every).to_be_visible()
    every.click()
    expect(tab.card()).to_have_count(1)
    expect(tab.card()).to_contain_text("long.txt")
    expect(tab.card().get_by_role("button", name="Yes, once")).to_be_disabled()
    expect(tab.page.get_by_role("button", name="Yes to all")).to_have_count(0)


@pytest.mark.spec("H2")
def test_a_long_output_shows_its_end_and_the_whole_by_a_link(served: Served, windows: Windows) -> None:
    tab = windows.open()
    tab.begin(served.play(asks_for(shell("seq 5000")), says("Done.")), served.project())
    tab.sees("Done.")
    shown = tab.page.get_by_role("region", name="Output")
    expect(shown).to_contain_text("5000")
    tab.page.get_by_role("link", name="Whole output").click()
    whole = tab.page.get_by_role("region", name="Whole output")
    expect(whole).to_contain_text(re.compile(r"^1\n2\n"))
    expect(whole).to_contain_text("5000")
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("button", name="Save as a file").click()
    assert saved.value.path().read_text().splitlines()[-1] == "5000"
    tab.page.get_by_role("link", name="Back to the conversation").click()
    tab.sees("Done.")


@pytest.mark.spec("N5")
def test_a_link_opens_exactly_the_card_of_a_question(served: Served, windows: Windows) -> None:
    tab = windows.open()
    calls = [shell(f"touch file{number}", f"c{number}") for number in range(6)]
    session = tab.begin(served.play(asks_for(*calls), says("Done.")), served.project())
    expect(tab.card()).to_have_count(6)
    wanted = tab.card("touch file4").get_attribute("data-approval")
    other = windows.open("bob", hash=f"#/s/{session}/q/{wanted}")
    expect(other.card("touch file4")).to_be_focused()
    expect(other.card("touch file4")).to_be_in_viewport(ratio=1)
    late = windows.open("bob", hash=f"#/s/{session}/q/gone")
    late.sees("This question has already been answered.")


@pytest.mark.spec("H2")
def test_the_header_says_how_far_the_steps_are_and_a_folder_is_chosen_step_by_step(
    served: Served, windows: Windows
) -> None:
    project = served.project()
    (project / "inner").mkdir()
    steps = [{"description": "Read", "status": "completed"}, {"description": "Write", "status": "in_progress"}]
    todos = {"name": "write_todos", "args": {"todos": steps}, "id": "t"}
    tab = windows.open()
    start = tab.start(served.play(asks_for(todos), says("Done.")), project)
    start.get_by_role("button", name="Choose the folder").click()
    start.get_by_role("button", name="inner").click()
    expect(start.get_by_role("textbox", name="Folder")).to_have_value(str(project / "inner"))
    start.get_by_label("What should be done?").fill("go")
    start.get_by_label("What should be done?").press("Enter")
    tab.sees("Done.")
    expect(tab.page.get_by_role("button", name="To do: 1 of 2 done")).to_contain_text("Write")
    expect(tab.page.locator(".top")).to_contain_text("inner")


def test_code_in_a_reply_is_coloured_and_stays_the_same_text(served: Served, windows: Windows) -> None:
    code = "def f():  # <b>why</b>\n    return 'x' * 3"
    tab = windows.open()
    tab.begin(served.play(says(f"```python\n{code}\n```")), served.project())
    shown = tab.page.locator("pre.code code")
    expect(shown).to_have_text(code)
    expect(shown.locator(".tk").first).to_have_text("def")
    expect(shown.locator(".tc")).to_have_text("# <b>why</b>")


@pytest.mark.spec("H2")
def test_the_first_of_many_questions_stays_in_view_while_the_others_still_load(
    served: Served, windows: Windows
) -> None:
    tab = windows.open(viewport={"width": 1280, "height": 800})
    calls = (shell("rm -rf build", "c1"), write("a.txt", NEW, "c2"), shell("make deploy", "c3"))
    session = tab.begin(served.play(asks_for(*calls, text=" ".join(map(str, range(900))))), served.project(a__txt=OLD))
    expect(tab.card()).to_have_count(3)
    held: list[Route] = []
    tab.page.route(re.compile("/calls/c[23]$"), lambda route: held.append(route))
    tab.page.goto(f"{served.address}/?again#/s/{session}")
    first = tab.card("rm -rf build")
    expect(first.get_by_role("button", name="Yes, once")).to_be_visible()
    while len(held) < 2:
        tab.page.evaluate("0")
    for route in held:
        route.continue_()
    expect(tab.card("make deploy").get_by_role("button", name="Yes, once")).to_be_attached()
    expect(tab.card("thirty").locator(".added mark")).to_be_attached()
    expect(first.get_by_role("heading")).to_be_in_viewport(ratio=1)
    expect(first.get_by_role("button", name="Yes, once")).to_be_in_viewport(ratio=1)


INSIDE = """() => {
    const frame = document.querySelector(".composer").getBoundingClientRect();
    const parts = [...document.querySelectorAll(".composer button, .composer select")];
    return parts.filter((part) => part.getBoundingClientRect().right > frame.right + 1).map((part) => part.textContent);
}"""


@pytest.mark.spec("H2")
def test_on_a_phone_everything_of_the_message_box_is_within_it(served: Served, windows: Windows) -> None:
    tab = windows.open(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, hash="#/")
    tab.begin(served.play(asks_for(*(shell(f"make {n}", f"c{n}") for n in range(3)))), served.project())
    expect(tab.card()).to_have_count(3)
    assert tab.page.evaluate(INSIDE) == []
    tab.page.get_by_label("Message", exact=True).fill("and the docs")
    expect(tab.page.get_by_role("button", name="Steer")).to_be_visible()
    assert tab.page.evaluate(INSIDE) == []


@pytest.mark.spec("H2")
def test_the_way_to_the_newest_is_offered_only_where_there_is_one(served: Served, windows: Windows) -> None:
    tab = windows.open()
    short = tab.begin(served.play(says("Short.")), served.project())
    tab.sees("Short.")
    tab.begin(served.play(says("Many words. " * 2000)), served.project())
    tab.sees("Many words.")
    tab.page.mouse.move(700, 400)
    tab.page.mouse.wheel(0, -3000)
    expect(tab.page.get_by_role("button", name="Newest")).to_be_visible()
    tab.go(f"#/s/{short}")
    tab.sees("Short.")
    expect(tab.page.get_by_role("button", name="Newest")).to_have_count(0)
