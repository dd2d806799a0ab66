"""Entries for servers in the settings: what they may say, and what is told when they say it wrong."""

from pathlib import Path

import pytest

from assent.app.server_entries import WrongName, with_server, without_server
from assent.app.session_environment import open_environment
from assent.config import BadSettings, Settings, parse_settings
from assent.mcp_config import MissingVariable, Servers, expand

FILE = Path("settings.toml")


def settings(text: str) -> Settings:
    return parse_settings(text.encode(), FILE)


@pytest.mark.spec("E5")
@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("[mcp.servers.my_server]\ncommand = 'x'", "mcp.servers.my_server: a server name"),
        ("[mcp.servers.a]", "give either `command`"),
        ("[mcp.servers.a]\ncommand = 'x'\nurl = 'https://x'", "give either `command`"),
        ("[mcp.servers.a]\ncommand = 5", "mcp.servers.a: `command` must be text in quotes, not a whole number$"),
        ("[mcp.servers.a]\ncommand = 'x'\ntrusted = true", "there is no setting `trusted`; did you mean `trust`"),
        ("[mcp.servers.a]\ncommand = 'x'\ntimeout = 0", "more than 0"),
        ("[mcp.servers.a]\ncommand = 'x'\n[mcp.servers.A]\ncommand = 'x'", "another server already has this name"),
        ("[mcp.servers.a]\nurl = 'ftp://x'", "must be http"),
        ("[mcp.servers.a]\nurl = 'https://me:pw@x'", "without a user name"),
        ("[mcp.servers.a]\nurl = 'http://example.org'\nheaders = {A = 'b'}", "unencrypted"),
        ("[mcp.servers.a]\nurl = 'https://x'\nheaders = {A = \"b\\r\\nC: d\"}", "not a valid header"),
        ("[mcp.servers.a]\nurl = 'https://x'\nargs = ['y']", "only for a server with `command`"),
        ("[mcp.server.a]\ncommand = 'x'", "there is no setting `mcp.server`"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_file_and_key(entry: str, problem: str):
    with pytest.raises(BadSettings, match=problem) as caught:
        settings(entry)
    assert str(caught.value).startswith("settings.toml: ")


def test_variables_are_filled_in_and_a_missing_one_is_named():
    assert expand({"A": "Bearer ${T}!", "B": "$T-$U"}, {"T": "t", "U": "u"}) == {"A": "Bearer t!", "B": "t-u"}
    with pytest.raises(MissingVariable, match="NOPE is not set"):
        expand({"A": "$NOPE"}, {})


def test_an_entry_is_added_and_removed_without_touching_other_lines():
    before = '# mine\nmodel = "x" # good\n\n[mcp.servers.old]\ncommand = "o"\n\n[mcp.servers.old.env]\nA = "1"\n'
    entry = {"command": "npx", "args": ["-y", 'a "b"'], "env": {"K": "v\\"}, "trust": True}
    added = with_server(before, FILE, "new", entry)
    assert added.startswith(before)
    assert settings(added).mcp.servers["new"] == entry
    assert without_server(added, FILE, "new").rstrip() == before.rstrip()
    assert without_server(added, FILE, "old").startswith('# mine\nmodel = "x" # good\n\n[mcp.servers.new]')
    with pytest.raises(WrongName, match="already"):
        with_server(before, FILE, "old", entry)
    with pytest.raises(BadSettings, match="edit it by hand"):
        without_server("[mcp]\nservers = { a = { command = 'x' } }\n", FILE, "a")


@pytest.mark.spec("I4")
def test_a_server_of_the_user_goes_before_one_of_the_folder_with_the_same_name(tmp_path: Path):
    from assent.app.rule_sources import trust_store

    folder, env = tmp_path / "project", {"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    (folder / ".assent").mkdir(parents=True)
    (folder / ".assent/settings.toml").write_text("[mcp.servers.docs]\ncommand = 'evil'\ntrust = true\n")
    own = Settings(mcp=Servers({"Docs": {"command": "good"}}))
    environment = open_environment(env, str(folder), own)
    assert [server.entry.command for server in environment.servers] == ["good"]
    assert "is not used: the folder is untrusted" in environment.problems[0]
    trust_store(env).trust(folder, trust_store(env).look(folder))
    environment = open_environment(env, str(folder), own)
    assert [server.entry.command for server in environment.servers] == ["good"]
    assert "you already have a server with this name" in environment.problems[0]
    assert environment.rules() == ()
