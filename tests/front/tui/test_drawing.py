"""Drawing without an app: the story of a session, calls, diffs, terminal output, lines that never break the screen."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from assent.app.call_states import ToolCall
from assent.app.settled_output import settled
from assent.approval import ExecDetails
from assent.events import CallOutput, ModelReplied, ModelRetry, ThoughtDelta, TrialStarted
from assent.front.tui.call_view import draw_call
from assent.front.tui.diff_view import draw_hunks, plain_header
from assent.front.tui.display_view import draw_display
from assent.front.tui.render import ItemRenderer
from assent.front.tui.text_style import TextStyler
from assent.front.tui.themes import LOOKS
from assent.front.tui.transcript_model import CallItem, NoteItem, ReplyItem, ThoughtItem, TranscriptModel
from assent.hunks import hunks
from assent.parts import MarkdownDisplay, PlainDisplay, TerminalDisplay, Text
from assent.process.output_buffer import omission
from assent.tools.support.diff import diff
from support.complexity import grows_in_proportion
from support.recorded_session import PROMPT, RecordedClient, RecordedSession

INK = TextStyler(LOOKS["dark"].palette)


def story_of(recording: RecordedSession) -> TranscriptModel:
    transcript_model = TranscriptModel()
    for envelope in recording.envelopes:
        transcript_model.apply(envelope)
    return transcript_model


def kinds(transcript_model: TranscriptModel) -> list[str]:
    return [type(item).__name__ for item in transcript_model.items]


# --- the story ---


def test_what_came_in_bit_by_bit_is_kept_when_the_whole_reply_is_the_same():
    recording = RecordedSession().prompt("hi").happens(ThoughtDelta(PROMPT, "A", "b")).streams("Hel").streams("lo.")
    transcript_model = story_of(recording)
    reply = transcript_model.items[-1]
    for envelope in recording.reply("Hello.", "**A**\nb").envelopes[-1:]:
        transcript_model.apply(envelope)
    assert kinds(transcript_model) == ["PromptItem", "ThoughtItem", "ReplyItem"]
    assert (
        transcript_model.items[-1] is reply
        and isinstance(reply, ReplyItem)
        and reply.finished
        and reply.text == "Hello."
    )


def test_the_whole_reply_replaces_what_came_in_when_it_differs():
    transcript_model = story_of(RecordedSession().prompt("hi").streams("Half").reply("Whole."))
    assert [item.text for item in transcript_model.items if isinstance(item, ReplyItem)] == ["Whole."]


def test_a_stream_that_broke_is_dropped_and_said():
    recording = (
        RecordedSession()
        .prompt("hi")
        .streams("Half a se")
        .happens(ModelRetry(PROMPT, 1, "The connection broke (no quota).", 2.0))
    )
    transcript_model = story_of(recording)
    assert kinds(transcript_model) == ["PromptItem", "NoteItem"]
    note = transcript_model.items[-1]
    assert isinstance(note, NoteItem) and note.text == "The connection broke (no quota); trying again in 2 s"


def test_a_note_stands_before_a_reply_that_is_still_coming():
    transcript_model = story_of(RecordedSession().prompt("hi").streams("Still com"))
    transcript_model.add(NoteItem("by the way"))
    transcript_model.apply(RecordedSession().streams("ing").envelopes[-1])
    assert kinds(transcript_model) == ["PromptItem", "NoteItem", "ReplyItem"]


def test_parts_of_a_reply_that_belong_together_are_one_item():
    parts = (Text("One, "), Text("two."))
    transcript_model = story_of(
        RecordedSession().prompt("hi").happens(ModelReplied(prompt_id=PROMPT, model="m", parts=parts, finish="stop"))
    )
    assert [item.text for item in transcript_model.items if isinstance(item, ReplyItem)] == ["One, two."]


def test_every_change_of_a_call_makes_it_be_drawn_again():
    recording = RecordedSession().prompt("hi").call("c", "run_shell_command", command="ls").runs("c")
    transcript_model = story_of(recording)
    item = transcript_model.call("c")
    assert isinstance(item, CallItem)
    before = item.version
    transcript_model.apply(recording.happens(CallOutput("c", "x")).envelopes[-1])
    assert item.version > before


def drawn(renderer: ItemRenderer, item: ReplyItem) -> list[str]:
    return [strip.text.rstrip() for strip in renderer.lines(item, 60)]


def drawn_while_it_grows(text: str) -> list[str]:
    renderer, growing = ItemRenderer(INK, dict), ReplyItem()
    for character in text:
        growing.add(character)
        renderer.lines(growing, 60)
    return drawn(renderer, growing)


def test_a_growing_reply_is_drawn_like_the_whole():
    text = "# Title\n\nSome *words* and\nmore.\n\n- one\n- two\n\n```py\nx = 1\n\ny = 2\n```\n\n"
    text += "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert drawn_while_it_grows(text) == drawn(ItemRenderer(INK, dict), ReplyItem(text))


@pytest.mark.parametrize("text", ["| a |\n|---|\n**b**", "- one\n**two**\n", "> one\n**two**", "1. a\n2 is more"])
def test_a_line_that_has_only_begun_settles_nothing(text: str):
    """A `*` alone is an item of a list; two of them begin something bold that belongs to what is above."""
    assert drawn_while_it_grows(text) == drawn(ItemRenderer(INK, dict), ReplyItem(text))


def test_thoughts_show_their_newest_subject_until_they_are_opened():
    item = ThoughtItem([("First", "one"), ("Second", "two")])
    renderer = ItemRenderer(INK, dict)
    assert [strip.text.strip() for strip in renderer.lines(item, 60)] == ["✻ Second"]
    item.unfolded = True
    assert [strip.text.strip() for strip in renderer.lines(item, 60)] == ["✻ First", "one", "Second", "two"]


# --- calls ---


async def calls_of(recording: RecordedSession) -> dict[str, object]:
    client = RecordedClient(recording)
    await client.history()
    return dict(client.state.calls)


async def test_live_output_shows_its_newest_lines_and_what_was_written_over_as_it_is_now():
    lines = "".join(f"line {number}\n" for number in range(20))
    recording = (
        RecordedSession()
        .prompt("go")
        .call("c", "run_shell_command", command="make")
        .runs("c", f"{lines}10%\r50% of it\r90%\x1b[K\r")
    )
    call = (await calls_of(recording))["c"]
    shown = [strip.text.rstrip() for strip in draw_call(INK, call, 60, unfolded=False)]  # type: ignore[arg-type]
    assert shown[-1] == "  │ 90%" and shown[-2] == "  │ line 19" and len(shown) == 9


@pytest.mark.parametrize("unfolded", [False, True])
async def test_the_output_of_a_trial_is_live_and_marked(unfolded: bool):
    lines = "".join(f"line {number}\n" for number in range(100))
    details = ExecDetails(command="make", roots=("make",), directory="/w", risk="medium", risk_reason="it writes")
    recording = RecordedSession().prompt("go").asks("c", "run_shell_command", details, command="make")
    recording.happens(TrialStarted("c", "q-c", "ann"))
    before = (await calls_of(recording))["c"]
    assert "printed in a trial" not in str(draw_call(INK, before, 60, unfolded=unfolded))  # type: ignore[arg-type]
    call = (await calls_of(recording.happens(CallOutput("c", f"{lines}\x1b]52;c;aGk=\x0710%\r50%"))))["c"]
    shown = [strip.text.rstrip() for strip in draw_call(INK, call, 60, unfolded=unfolded)]  # type: ignore[arg-type]
    assert shown[0].endswith("being tried")
    assert shown[1] == "  │ printed in a trial, in a copy of the workspace:"
    assert shown[-2:] == ["  │ line 99", "  │ 50%"] and len(shown) <= 42


async def test_lines_that_were_not_kept_are_not_counted_as_if_there_were_none():
    recording = RecordedSession().prompt("go").call("c", "run_shell_command", command="seq 9000000").runs("c")
    kept = "1\n2\n3\n" + omission(61_888_000) + "".join(f"{n}\n" for n in range(8_999_990, 9_000_000))
    call = (await calls_of(recording.ends("c", TerminalDisplay(kept, ""))))["c"]
    shown = [strip.text.rstrip() for strip in draw_call(INK, call, 60, unfolded=False)]  # type: ignore[arg-type]
    assert shown[1].startswith("  │ … more than ") and shown[1].endswith(" lines above")


async def test_a_command_that_failed_says_so_on_its_line():
    recording = RecordedSession().prompt("go").call("c", "run_shell_command", command="make").runs("c")
    call = (await calls_of(recording.ends("c", TerminalDisplay("no rule\n", "exit 2"))))["c"]
    line = draw_call(INK, call, 60, unfolded=False)[0].text  # type: ignore[arg-type]
    assert line.startswith("! run_shell_command  make") and "exit 2" in line


async def test_output_that_is_no_text_is_counted():
    recording = RecordedSession().prompt("go").call("c", "run_shell_command", command="cat x").runs("c")
    call = (await calls_of(recording.happens(CallOutput("c", "", 12_345))))["c"]
    shown = [strip.text.rstrip() for strip in draw_call(INK, call, 60, unfolded=False)]  # type: ignore[arg-type]
    assert shown[1] == "  │ 12,345 bytes of binary output"


# --- output of terminals ---


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ntext\n", "plain\ntext\n"),
        ("10%\r20%\r30%\ndone", "30%\ndone"),
        ("abc\x08\x08X", "aXc"),
        ("one\ntwo\x1b[1A\rone!", "one!\ntwo"),
        ("gone\x1b[2K\rhere", "here"),
        ("\x1b[1mbold\x1b(B\x1b[m and \x0fplain", "\x1b[1mbold\x1b[m and plain"),
        ("\x1b[31mred\x1b[0m\rRED", "\x1b[31m\x1b[0mRED"),
    ],
)
def test_what_was_written_over_is_gone(text: str, shown: str):
    assert settled(text).replace("\x1b[31m\x1b[0m", "") == shown.replace("\x1b[31m\x1b[0m", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("10%\r100% \u2714\ufe0f done, 3 files written", "100% \u2714\ufe0f done, 3 files written"),
        ("x\r\U0001f469\u200d\U0001f467 are here", "\U0001f469\u200d\U0001f467 are here"),
        ("x\r\u202eabc\u202c zero\u200bwidth", "\u202eabc\u202c zero\u200bwidth"),
        ("x\rcafe\u0301 au lait", "caf\u00e9 au lait"),
        ("x\rone\x85two", "one\x85two"),
        ("one\ntwo\x1b[1A\r\ufeffone!", "\ufeffone!\ntwo"),
    ],
)
def test_a_character_without_width_takes_no_text_with_it(text: str, shown: str):
    assert settled(text) == shown


@pytest.mark.parametrize(
    "clear", ["\x1b[H\x1b[2J\x1b[3J", "\x1b[2J", "\x1b[H\x1b[J", "\x1bc", "\x1b[3J\x1b[1;1H\x1b[2J"]
)
def test_what_a_command_printed_before_it_cleared_the_screen_stays(clear: str):
    assert settled(f"secret plan\n{clear}all is well\n") == "secret plan\nall is well\n"
    assert settled(f"{clear}built\n{clear}") == "built\n"


def test_of_a_program_that_clears_the_screen_again_and_again_the_last_screen_is_shown():
    frames = "".join(f"\x1b[H\x1b[2JEvery 2 s: {number}\n" for number in range(30))
    assert settled(frames) == "[29 earlier screens, which the command cleared]\nEvery 2 s: 29\n"


@pytest.mark.parametrize("back", ["\x1b[1A\x1b[2K", "\x1b[F\x1b[K", "\x1bM\x1b[2K", "\x1b[1A\r\x1b[J"])
def test_a_line_that_a_command_erased_is_shown_as_such(back: str):
    assert settled(f"start\nsecret plan\n{back}all is well\n") == "[overwritten] secret plan\nstart\nall is well"


@pytest.mark.parametrize("erase", ["\x1b[11X", "\x1b[11P", "\x1b[200@", "\x1b[M", "\x1b[L"])
def test_what_a_command_erased_within_a_line_is_shown_if_the_model_gets_it(erase: str):
    assert settled(f"secret plan\r{erase}\nall is well\n") == "[overwritten] secret plan\n\nall is well\n"
    assert settled(f"secret plan\r{erase}", running=True) == ""


@pytest.mark.parametrize("down", ["\x0b", "\x0c", "\x1bD", "\x1bE"])
def test_what_moves_down_within_a_line_hides_nothing(down: str):
    assert settled(f"\rsecret plan{down}\nall is well\n") == "secret plan\nall is well\n"


def test_text_far_to_the_right_stays_in_its_line():
    assert settled("\rUnits\x1b[60G[ OK ]\n") == "Units".ljust(59) + "[ OK ]\n"
    assert settled("\r" + "字" * 50 + "\x1b[K\n") == "字" * 50 + "\n"


def test_the_first_and_last_states_of_a_progress_display_are_shown_and_the_others_counted():
    frames = "".join(f"layer 1: {number} %\nlayer 2: {number} %\n\x1b[2A" for number in range(0, 101, 10))
    assert settled(frames).split("\n") == [
        *("[overwritten] layer 1: 0 %", "[overwritten] layer 2: 0 %"),
        "[16 more lines that were overwritten; not shown here, but the model may see them]",
        *("[overwritten] layer 1: 90 %", "[overwritten] layer 2: 90 %"),
        *("layer 1: 100 %", "layer 2: 100 %"),
    ]


@pytest.mark.parametrize("place", [0, 1, -1])
def test_other_overwritten_lines_do_not_hide_the_first_and_the_last_ones(place: int):
    lines = [f"junk {number}" for number in range(6)]
    lines[place] = "secret plan"
    assert "[overwritten] secret plan\n" in settled("\n".join(lines) + "\n\x1b[6A\x1b[Jall is well\n")


def test_the_same_line_again_and_again_is_shown_once():
    assert settled("Waiting\n\x1b[1A\x1b[2K" * 30 + "done") == "[overwritten] Waiting\ndone"


@pytest.mark.parametrize("ends", ["x\n\x1b[1A\x1b[2K", "x\n\x1b[1A\x1b[2K" * 2_000])
def test_what_scrolled_off_stays(ends: str):
    crates = [f"\x1b[1;32mCompiling\x1b[0m crate{number}" for number in range(2_500)]
    lines = settled("\n".join(crates) + f"\n{ends}done\n").split("\n")
    assert lines == ["[overwritten] x", *crates, "done"]


@pytest.mark.parametrize("line", ["cafe\u0301", "a\u0301\u0301" + "\u0301" * 30, "y" * 300, "字" * 100])
def test_a_line_that_looks_different_on_the_screen_is_not_taken_for_an_overwritten_one(line: str):
    shown = settled(f"{line}\nold\n\x1b[1Anew\n")
    assert shown.startswith("[overwritten] old\n") and shown.count("[overwritten]") == 1


def test_a_line_with_many_tabs_keeps_all_its_words():
    words = [f"w{number}" for number in range(40)]
    assert settled("\t".join(words) + "\nend\n\x1b[1Aend\n").split() == [*words, "end"]
    assert settled("\r" + "\t".join(words)).split() == words


@pytest.mark.parametrize("moved", ["\x1b[A", ""])
def test_where_it_would_take_long_to_find_what_is_missing_it_is_said_that_some_may_be(moved: str):
    text = "x" * 100_000 + "\x1b[1K" * 5_000 + moved
    assert settled(text).startswith("[some of this output may not be shown here]\nxxx")
    assert settled(text, running=True).startswith("xxx")


def test_a_long_line_that_is_wrapped_is_not_taken_for_an_overwritten_one():
    assert settled("x" * 300 + "\nabc\n\x1b[1Aabc\n").startswith("x")


def test_an_image_in_the_output_is_not_shown_as_text():
    assert settled("x\rbefore \x1bPq#0;2;0;0;0~~\x1b\\after") == "before after"


def test_a_letter_with_very_many_marks_is_drawn_with_some_of_them():
    assert len(settled("x\ra" + "\u0301" * 1_000_000 + "b")) < 50


def test_colours_survive_and_nothing_else_that_a_terminal_obeys():
    strips = draw_display(INK, TerminalDisplay("\x1b[32mok\x1b[0m \x1b]0;title\x07\x1b[5n\u202e"), 60)
    text = "".join(strip.text for strip in strips)
    assert not any(character in text for character in "\x1b\x07\u202e")
    green = next(segment for strip in strips for segment in strip if "ok" in segment.text)
    assert green.style is not None and green.style.color is not None


@pytest.mark.parametrize(
    "said",
    [
        "It returns Promise<void> and a List<String>.",
        "Use <div> and </div>, or <br/>. Replace <your-name> with it.",
        "<summary>Important</summary>",
        "<div>\nblock with instructions\n</div>",
        "<!-- a comment -->",
    ],
)
def test_html_in_a_reply_is_text(said: str):
    strips = INK.markdown(said, 100)
    assert " ".join("".join(strip.text for strip in strips).split()).replace(" ", "") == said.replace("\n", "").replace(
        " ", ""
    )


def test_what_is_decided_about_is_read_as_markdown():
    said = "We **move** the `cart`:\n\n- first\n\n## Why\n\n```python\nprint(1)\n```\n\n1. Add\n2. Change"
    lines = [strip.text.strip() for strip in INK.prose(said, 40)]
    assert [line for line in lines if line] == ["We move the cart:", "• first", "Why", "print(1)", "1 Add", "2 Change"]


@pytest.mark.parametrize(
    "said",
    [
        "[here](http://x 'and a title')",
        "Fine.\n\n[//]: # (hidden)",
        "![a picture](http://x)",
        "|a|\n|-|\n|b|too many cells|",
        "Change __init__.py and ~/.profile **now**",
        "```sh and more\ncode\n```",
        "&amp; **bold**",
    ],
)
def test_what_is_decided_about_is_shown_as_written_if_markdown_would_hide_or_change_any_of_it(said: str):
    assert [strip.text.rstrip() for strip in INK.prose(said, 60)] == said.split("\n")


def test_a_step_shows_its_markdown():
    step = INK.inline("Add `cart.py` with **Cart** *now*")
    assert step.plain == "Add cart.py with Cart now"
    assert [step.plain[span.start : span.end] for span in step.spans] == ["cart.py", "Cart", "now"]
    assert INK.inline("__init__ ![a](http://x)").plain == "__init__ ![a](http://x)"


def test_the_lines_of_a_reply_stay_lines():
    said = "Send it to:\nACME Ltd.\n**High\nStreet** 1\n\n1. one\n   more of it\n2. two"
    lines = [strip.text.strip() for strip in INK.markdown(said, 60)]
    assert lines == ["Send it to:", "ACME Ltd.", "High", "Street 1", "", "1 one", "more of it", "2 two"]


def test_a_numeric_entity_hides_nothing_and_those_of_prose_are_read():
    (strip,) = INK.markdown("R&amp;D &lt;b&gt; &#x202e;abc &#8203;", 60)
    assert strip.text.strip() == "R&D <b> &#x202e;abc &#8203;"


@pytest.mark.parametrize("display", [PlainDisplay, MarkdownDisplay, TerminalDisplay])
def test_no_escape_reaches_the_screen_by_any_display(display: type):
    strips = draw_display(INK, display("a \x1b[31mred\x1b[0m \x1b[2J [bold]b[/bold] \x9b31m"), 60)
    text = "".join(strip.text for strip in strips)
    assert "\x1b" not in text and "\x9b" not in text and "[bold]b[/bold]" in text


# --- widths ---

WIDE = "新的一行，更长一些 🙂 👩‍💻 e\u0301 ｆｕｌｌ " * 12 + "无空格的很长的一行" * 20


@pytest.mark.parametrize("width", [20, 59, 60, 79, 120])
def test_no_line_is_wider_than_the_screen(width: int):
    parts = hunks(diff("a.py", f"x = '{WIDE}'\n", f"y = '{WIDE}'\n").text)
    drawn = [
        strip
        for view in ("unified", "split")
        for part in draw_hunks(INK, parts, "a.py", width, view, plain_header(INK))
        for strip in part.strips
    ]  # type: ignore[arg-type]
    drawn += INK.text(WIDE, "", width) + INK.markdown(WIDE, width) + INK.terminal(WIDE, width)
    for look in LOOKS.values():
        drawn += TextStyler(look.palette).markdown(f"```py\n{WIDE}\n```\n\n- {WIDE}", width)
    assert max(cell_len(strip.text) for strip in drawn) <= width


# --- hostile output ---

ESCAPES = st.sampled_from(
    ["\x1b[", "\x1b", "\x1b]", "\x9b", "\x9d", "?", ";", ">", "$", "1", "99999", "²", "\r", "\n", "\b"]
)
PIECES = st.one_of(ESCAPES, st.sampled_from("ABCDEFGHJKLMPSTXZ@`abcdefghijklmnopqrstuvwxyz#()%^_P\\\x07\x18é字\u0301"))


@given(st.lists(PIECES, max_size=40).map("".join))
@example("\x1b[?4m")  # vim
@example("\x1b[1;2;3;4;5H")
@example("\x1b[?1;1H")
@example("\x1b[²m")
def test_whatever_a_program_prints_can_be_shown(printed: str):
    shown = draw_display(INK, TerminalDisplay(f"before\n\ra\x1b[K{printed}\nafter\n"), 60)
    assert shown


@pytest.mark.parametrize(
    "sequence", ["\x1b[?4m", "\x1b[?5A", "\x1b[?1000r", "\x1b[?1;1H", "\x1b[1;2;3;4;5H", "\x1b[?9d"]
)
def test_a_sequence_that_is_not_known_is_skipped(sequence: str):
    assert settled(f"one\n\ra{sequence}b\n").rstrip("\n") == "one\nab"


@pytest.mark.parametrize("piece", ["x\n", "\x0b", "\x9b2J", "\x1bc", "\x1b#8"])
def test_long_output_takes_no_time_out_of_proportion(piece: str):
    def work(size: int) -> str:
        return settled("x\n" * 500 + "\x1b[H" + piece * size)

    assert grows_in_proportion(work, 4_000)


@pytest.mark.parametrize("piece", ["10 %\x1b[K\r", "x\x1b[1K", "\x1b[4hx"])
def test_a_long_line_takes_no_time_out_of_proportion(piece: str):
    assert grows_in_proportion(lambda size: settled("\r" + piece * size), 16_000)


def test_what_cannot_be_drawn_does_not_keep_the_rest_from_being_shown():
    def no_calls() -> dict[str, ToolCall]:
        raise TypeError("nobody expected this")

    renderer = ItemRenderer(INK, no_calls)
    assert "cannot be shown (TypeError)" in renderer.lines(CallItem("c1"), 60)[0].text
    assert renderer.lines(NoteItem("after"), 60)[0].text.rstrip() == "· after"
