"""Prompts by name and files by `@`, completed in the page, also in the window for a new session. Rows G1, G5."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from support.page import Served, Tab, Windows, needs_browser
from support.program import says

pytestmark = needs_browser


def command(served: Served, name: str, prompt: str) -> None:
    path: Path = served.home / "commands" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'description = "does {name}"\nprompt = """{prompt}"""\n')


def options(tab: Tab) -> Locator:
    return tab.page.get_by_role("listbox").get_by_role("option")


@pytest.mark.spec("G1")
def test_a_file_is_completed_in_the_window_for_a_new_session_from_the_folder_named_there(
    served: Served, windows: Windows
) -> None:
    project = served.project(main__py="one\n", other__txt="x")
    tab = windows.open()
    window = tab.start(served.play(says("Seen.")), project)
    box = window.get_by_label("What should be done?")
    box.press_sequentially("look at @mai")
    expect(options(tab)).to_have_text(["@main.py"])
    box.press("Escape")
    expect(options(tab)).to_have_count(0)
    expect(window).to_be_visible()
    box.press_sequentially("n")
    expect(options(tab)).to_have_text(["@main.py"])
    box.press("Enter")
    expect(box).to_have_value("look at @main.py ")
    box.press("Enter")
    tab.sees("With main.py (1 line).")


@pytest.mark.spec("G5")
def test_a_custom_command_is_completed_filled_and_sent_after_its_question_was_answered(
    served: Served, windows: Windows
) -> None:
    command(served, "greet", "Say !{touch made; echo hello} to {{args}}.")
    project = served.project()
    tab = windows.open()
    tab.begin(served.play(says("Ready."), says("Hello!")), project, "hi")
    tab.sees("Ready.")
    box = tab.page.get_by_label("Message")
    box.press_sequentially("/gree")
    expect(options(tab)).to_have_text(["/greetdoes greet  [ARGUMENTS]"])
    box.press("Enter")
    expect(box).to_have_value("/greet ")
    box.press_sequentially("Ann")
    box.press("Enter")
    expect(tab.card().get_by_text("touch made; echo hello").first).to_be_visible()
    expect(box).to_have_value("/greet Ann")
    assert list(project.iterdir()) == []
    tab.yes()
    tab.sees("Say hello to Ann.")
    tab.sees("Hello!")
    expect(box).to_have_value("")
    assert [path.name for path in project.iterdir()] == ["made"]


@pytest.mark.spec("G5")
def test_a_custom_command_in_the_window_for_a_new_session_is_filled_there(served: Served, windows: Windows) -> None:
    command(served, "welcome", "Say !{touch made; echo hello} to {{args}}.")
    project = served.project()
    tab = windows.open()
    tab.begin(served.play(says("Hello!")), project, "/welcome Ann")
    expect(tab.card().get_by_text("touch made; echo hello").first).to_be_visible()
    box = tab.page.get_by_label("Message")
    expect(box).to_have_value("/welcome Ann")
    tab.yes()
    tab.sees("Say hello to Ann.")
    tab.sees("Hello!")
    expect(box).to_have_value("")


@pytest.mark.spec("G5")
def test_a_command_that_is_not_there_is_not_sent_to_a_new_session_but_stays_to_be_mended(
    served: Served, windows: Windows
) -> None:
    tab = windows.open()
    tab.begin(served.play(says("Never.")), served.project(), "/nowhere Ann")
    tab.sees("There is no command /nowhere in the browser.")
    expect(tab.page.get_by_label("Message")).to_have_value("/nowhere Ann")
    tab.page.reload()
    expect(tab.page.get_by_label("Message")).to_have_value("/nowhere Ann")
    tab.sees("No messages yet.")


@pytest.mark.spec("G5")
def test_an_unknown_command_tells_of_a_broken_file_only_if_it_has_that_name(served: Served, windows: Windows) -> None:
    command(served, "git/broken", "!{never closed")
    tab = windows.open()
    tab.begin(served.play(says("Ready.")), served.project(), "hi")
    tab.sees("Ready.")
    box, told = tab.page.get_by_label("Message"), tab.page.locator("#composer-problem")
    unknown = "There is no command {} in the browser. /help lists them; to send this to the model, start with //."
    box.fill("/nowhere")
    box.press("Enter")
    expect(told).to_have_text(unknown.format("/nowhere"))
    box.fill("/git:broken")
    box.press("Enter")
    expect(told).to_contain_text(unknown.format("/git:broken"))
    expect(told).to_contain_text("/commands/git/broken.toml:2: !{ is never closed")


@pytest.mark.spec("G5")
def test_a_custom_command_that_is_refused_says_so_and_its_line_stays(served: Served, windows: Windows) -> None:
    command(served, "refused", "!{touch made}")
    tab = windows.open()
    tab.begin(served.play(says("Ready.")), served.project(), "hi")
    tab.sees("Ready.")
    box = tab.page.get_by_label("Message")
    box.press_sequentially("/refused")
    expect(options(tab)).to_have_count(1)
    box.press("Enter")
    tab.press("No")
    tab.page.get_by_role("button", name="Refuse").click()
    tab.sees("/refused was not sent: `touch made` was refused")
    expect(box).to_have_value("/refused ")
    box.fill("/nosuch")
    box.press("Enter")
    tab.sees("There is no command /nosuch in the browser.")
