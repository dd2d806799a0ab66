"""What is wrong with a settings file is said in its own terms: the line, the setting, and what it may be."""

from pathlib import Path

import pytest

from assent.config import BadSettings, parse_settings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model = 'x'\n\nfoo = [\n", "line 3: invalid value (at the end of the file)"),
        ("a = 1\na = 2\n", "line 2: cannot overwrite a value (column "),
        ("a = 1\na = 2", "line 2: cannot overwrite a value (at the end of the file)"),
        ("# a\nmax_turns = 'x'", "line 2: `max_turns` must be a whole number, not text"),
        ("approval_ttl = 'soon'", "line 1: `approval_ttl` must be a number, not text"),
        ("allowed_tools = 'x'", "line 1: `allowed_tools` must be a list: […], not text"),
        ("[commands]\n\nidle_seconds = -3", "line 3: `commands.idle_seconds` must be a number, at least 0"),
        ("commands.idle_seconds = -3", "`commands.idle_seconds` must be a number, at least 0"),
        ("enter = 1\n[terminal]\nenter = 'x'", "line 1: there is no setting `enter`"),
        ("[terminal]\nenter = 'x'", "line 2: `terminal.enter` must be one of no, select, not 'x'"),
        (
            "[terminal]\nnotify = ['osc7']",
            "line 2: `terminal.notify[0]` must be one of bell, title, osc9, osc777, osc99, not 'osc7'",
        ),
        (
            "[sandbox]\napproved = 'x'",
            "line 2: `sandbox.approved` must be one of off, read-only, workspace, network, not 'x'",
        ),
        (
            "[commands]\nidle_second = 1",
            "line 2: there is no setting `commands.idle_second`; did you mean `idle_seconds`?",
        ),
        ("bogus = 1", "line 1: there is no setting `bogus`"),
        ("[prices.x]\ninput = 1", "line 1: `prices[...].output` is missing"),
        ("[keys]\nopenai = 3", "line 1: `keys[...]` must be text in quotes or a table, not a whole number"),
        (
            "[mcp.servers.a]\nurl='http://x'\ntype = 'x'",
            "mcp.servers.a: `type` must be one of stdio, http, sse, not 'x'",
        ),
        (
            "[[webhooks]]\nurl = 'https://a'\n\n[[webhooks]]\nurl = 'https://b'\ndelay = -1",
            "line 6: `webhooks[1].delay` must be a number, at least 0",
        ),
        ("[[webhooks]]\nurl = 'https://a'\n[[webhooks]]\nowner = 'x'", "line 3: `webhooks[1].url` is missing"),
        ("approval_mode = 'yolo'", "use --approval-mode yolo at every start"),
    ],
)
def test_a_wrong_setting_is_named_with_its_line_and_what_it_may_be(text: str, said: str):
    with pytest.raises(BadSettings) as caught:
        parse_settings(text.encode(), Path("settings.toml"))
    assert str(caught.value).startswith("settings.toml: ") and said in str(caught.value)


def test_a_file_that_is_not_text_is_said_to_be_none():
    with pytest.raises(BadSettings, match="not UTF-8 text"):
        parse_settings(b"model = '\xff'", Path("settings.toml"))
