"""Small checks of the gate, one by one: what each of them keeps from being allowed, and what it says."""

import pytest

from assent.approval import AskDetails, Details, EditDetails, ExecDetails, Grant, InfoDetails, McpDetails, Mode
from assent.policy.action import Action
from assent.policy.grants import covers, is_live, proposed
from assent.policy.policy import Policy
from assent.policy.rules import BadRule, Rule, check_domain, check_tool, parse_allowed, split_allowed

SHELL = "run_shell_command"
EDIT = EditDetails("/w/src/a.py", "", "old", "new")
WEB = InfoDetails("look", ("https://docs.example.org/a",))
MCP = McpDetails("notes", "add", {})


def action(details: Details | None, tool: str = "t", *, server: str = "", main: str = "") -> Action:
    return Action(tool, {}, details, main=main, server=server)


def ruling(one: Action, *rules: Rule, mode: Mode = "default") -> str:
    return Policy(rules, mode).judge(one).ruling


# --- what is said ---


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        (EDIT, "changes to files are asked in this mode"),
        (EditDetails("/w/.git/x", "", None, "", "it decides"), "it is a protected file: it decides"),
        (EditDetails("/w/Makefile", "", None, "", "", "it runs"), "an edit of this file is always asked: it runs"),
        (WEB, "requests to the outside are asked in this mode"),
        (InfoDetails("x", warnings=("a look-alike",)), "look at the address: a look-alike"),
        (MCP, "the server notes is not trusted by any rule"),
        (McpDetails("notes", "add", {}, unseen="it changed"), "it changed"),
    ],
)
def test_a_question_says_why_it_is_asked(details: Details, reason: str) -> None:
    assert Policy().judge(action(details)).reason == reason


def test_only_commands_are_assessed() -> None:
    assert Policy().assess(EDIT) is EDIT
    assert Policy().assess(None) is None


def test_uses_are_counted_in_the_given_table() -> None:
    uses = {"g": 1}
    policy = Policy(grants=[Grant("g", "tool", "t", "", max_uses=2)], uses=uses)
    assert policy.judge(action(MCP)).ruling == "allow"
    policy.used("g")
    assert uses == {"g": 2}
    assert policy.judge(action(MCP)).ruling == "ask"


# --- grants ---


@pytest.mark.parametrize(
    ("grant", "one", "covered"),
    [
        (Grant("g", "server", "x", "", "notes"), action(MCP, server="notes"), True),
        (Grant("g", "server", "x", "", "notes"), action(MCP, server="other"), False),
        (Grant("g", "server", "x", "", ""), action(MCP), False),
        (Grant("g", "tool", "t", ""), action(MCP), True),
        (Grant("g", "tool", "u", ""), action(MCP), False),
        (Grant("g", "file", "t", "", "/w/src/a.py"), action(EDIT), True),
        (Grant("g", "file", "t", "", "/w/src/b.py"), action(EDIT), False),
        (Grant("g", "folder", "t", "", "/w/src"), action(EDIT), True),
        (Grant("g", "folder", "t", "", "/w/sr"), action(EDIT), False),
        (Grant("g", "folder", "t", "", "/w"), action(EditDetails("/w/.git/x", "", None, "", "why")), False),
        (Grant("g", "file", "t", "", "/w/x"), action(EditDetails("/w/x", "", None, "", "why")), False),
        (Grant("g", "domain", "t", "", "docs.example.org"), action(WEB), True),
        (Grant("g", "domain", "t", "", "example.org"), action(WEB), False),
        (Grant("g", "domain", "t", "", "docs.example.org"), action(InfoDetails("no address")), False),
        (Grant("g", "exact", "t", "", "/w"), action(EDIT), False),
    ],
)
def test_a_grant_covers_what_it_is_for_and_nothing_else(grant: Grant, one: Action, covered: bool) -> None:
    assert covers(grant, one) is covered


def test_a_domain_grant_needs_every_address_to_be_of_that_host() -> None:
    both = action(InfoDetails("x", ("https://docs.example.org/", "https://evil.net/")))
    assert not covers(Grant("g", "domain", "t", "", "docs.example.org"), both)
    assert proposed(both, "c") == ()
    assert proposed(action(InfoDetails("x", ("no address",))), "c") == ()


def test_a_grant_ends_at_its_last_use_and_at_its_time() -> None:
    assert is_live(Grant("g", "tool", "t", "", expires_at=10.0), 9.9, 0)
    assert not is_live(Grant("g", "tool", "t", "", expires_at=10.0), 10.0, 0)
    assert is_live(Grant("g", "tool", "t", "", max_uses=2), 0, 1)
    assert not is_live(Grant("g", "tool", "t", "", max_uses=2), 0, 2)
    assert not is_live(Grant("g", "tool", "t", "", max_uses=2, expires_at=1.0), 5, 0)


@pytest.mark.parametrize("text", ["cd x; ls", "cd x&&ls", "ls|cd x", "true & cd x"])
def test_no_grant_is_proposed_or_used_for_a_line_that_moves(text: str) -> None:
    details = ExecDetails(text, (), "/w", "low", "")
    assert proposed(action(details, SHELL), "c") == ()
    grant = Grant("g", "program", SHELL, "", "/w", prefixes=(("touch",),))
    moved = ExecDetails("cd x && touch y", (), "/w", "low", "")
    assert Policy(grants=[grant]).judge(action(moved, SHELL)).ruling == "ask"
    assert Policy(grants=[grant]).judge(action(ExecDetails("touch y", (), "/w", "low", ""), SHELL)).ruling == "allow"


def test_nothing_standing_is_proposed_for_a_protected_file_or_for_nothing() -> None:
    assert proposed(action(EditDetails("/w/.git/x", "", None, "", "why")), "c") == ()
    assert proposed(action(None), "c") == ()


# --- rules ---


@pytest.mark.parametrize(
    ("rule", "one", "matches"),
    [
        (Rule("deny", "t"), action(EDIT), True),
        (Rule("deny", "u"), action(EDIT), False),
        (Rule("deny", "*"), action(EDIT), True),
        (Rule("deny", "mcp_*"), action(MCP, "mcp_notes_add"), True),
        (Rule("deny", server="notes"), action(MCP, server="notes"), True),
        (Rule("deny", server="notes"), action(MCP, server="other"), False),
        (Rule("deny", argument="/w/*"), action(EDIT, main="/w/src/a.py"), True),
        (Rule("deny", argument="/x/*"), action(EDIT, main="/w/src/a.py"), False),
        (Rule("deny", domain="example.org"), action(WEB), True),
        (Rule("deny", domain="example.org"), action(EDIT), False),
        (Rule("deny", domain="example.org"), action(InfoDetails("no address")), False),
        (Rule("deny", command=("ls",)), action(EDIT), False),
        (Rule("deny", command=("ls",), argument="x*"), action(EDIT, main="xy"), True),
        (Rule("deny", path="src/**"), action(EDIT), False),
    ],
)
def test_a_rule_matches_only_when_all_that_it_names_does(rule: Rule, one: Action, matches: bool) -> None:
    assert (ruling(one, rule) == "deny") is matches


def test_an_allow_by_domain_needs_every_address_and_a_deny_one() -> None:
    both = action(InfoDetails("x", ("https://example.org/", "https://evil.net/")))
    assert ruling(both, Rule("allow", domain="example.org")) == "ask"
    assert ruling(action(WEB), Rule("allow", domain="example.org")) == "allow"
    assert ruling(both, Rule("deny", domain="evil.net")) == "deny"


def test_an_unusual_address_belongs_to_no_host() -> None:
    assert ruling(action(InfoDetails("x", ("https://[",))), Rule("allow", domain="example.org")) == "ask"
    assert ruling(action(InfoDetails("x", ("https://EXAMPLE.org./",))), Rule("allow", domain="example.org")) == "allow"


def test_a_rule_says_what_it_is_about_and_where_it_stands() -> None:
    said = [
        Rule("deny", "t", argument="a b").describe(),
        Rule("deny", "t", domain="d").describe(),
        Rule("deny", "t", path="p").describe(),
        Rule("deny", "t", server="s", place="f:3", tier="user").describe(),
        Rule("deny", "t").describe(),
    ]
    assert said == [
        "the session rule deny t(a b)",
        "the session rule deny t(d)",
        "the session rule deny t(p)",
        "the user rule deny t(s) (f:3)",
        "the session rule deny t",
    ]


def test_a_mode_does_what_it_says_for_each_kind_of_action() -> None:
    modes: tuple[Mode, ...] = ("default", "auto_edit", "plan", "yolo")
    table = {
        "edit": [Policy(mode=mode).judge(action(EDIT)).ruling for mode in modes],
        "web": [Policy(mode=mode).judge(action(WEB)).ruling for mode in modes],
        "mcp": [Policy(mode=mode).judge(action(MCP)).ruling for mode in modes],
        "reading": [Policy(mode=mode).judge(action(None)).ruling for mode in modes],
    }
    assert table == {
        "edit": ["ask", "allow", "deny", "allow"],
        "web": ["ask", "ask", "ask", "allow"],
        "mcp": ["ask", "ask", "deny", "allow"],
        "reading": ["allow", "allow", "allow", "allow"],
    }


# --- the short form, and several roots ---


@pytest.mark.parametrize("text", ["", "(x)", "read file", "t()", "t( )", "web_fetch(nothing)", "web_fetch(a b.org)"])
def test_a_short_rule_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadRule):
        parse_allowed(text)


def test_a_short_rule_says_what_it_is_about() -> None:
    assert parse_allowed("t") == Rule("allow", "t")
    assert parse_allowed("web_fetch(docs.example.org)") == Rule("allow", "web_fetch", domain="docs.example.org")
    assert parse_allowed("t(a b)") == Rule("allow", "t", argument="a b*", command=("a", "b"))
    assert parse_allowed("web_fetch(https://a.org/x)").domain == ""


@pytest.mark.parametrize("domain", ["", "com", "=com", "*.com", "a b.org"])
def test_a_domain_that_would_match_nothing_is_refused(domain: str) -> None:
    with pytest.raises(BadRule):
        check_domain(domain, "here")
    check_domain("*.example.org", "here")
    check_domain("[::1]", "here")


def test_rules_are_quoted_by_tier_then_by_priority() -> None:
    tiers = ("admin", "user", "workspace", "session", "built-in")
    rules = [Rule("deny", tier=tier, message=tier) for tier in reversed(tiers)]
    assert [rule.tier for rule in Policy(rules).rules] == list(tiers)
    low, high = Rule("deny", priority=1, message="low"), Rule("deny", priority=2, message="high")
    assert Policy([low, high]).judge(action(EDIT)).reason == "high"


def test_a_rule_by_path_guards_in_every_root() -> None:
    def search(tree: str) -> str:
        one = Action("grep_search", {}, None, paths=(tree,))
        return Policy([Rule("deny", path="secrets/**")], roots=("/w", "/v")).judge(one).ruling

    below = Action("grep_search", {}, None, paths=("/w/secrets/deep/",))
    assert Policy([Rule("deny", path="secrets/**/*.key")], roots=("/w",)).judge(below).ruling == "ask"
    assert [search(tree) for tree in ("/w/", "/v/", "/v/src/", "/w/secrets/", "/v/secrets/")] == [
        *("ask", "ask", "allow", "deny", "deny"),
    ]


@pytest.mark.parametrize("text", ["a,b", " a , b ,", "a,,b"])
def test_a_list_of_short_rules_is_split_outside_brackets(text: str) -> None:
    assert split_allowed(text) == ["a", "b"]
    assert split_allowed("t(a,b),u") == ["t(a,b)", "u"]
    assert split_allowed("a),b") == ["a)", "b"]


# --- what "always" may grant ---


def for_command(text: str) -> list[tuple[str, tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]]:
    found = proposed(action(ExecDetails(text, (), "/w", "low", ""), SHELL), "c")
    assert {grant.value for grant in found} <= {"/w"}
    return [(grant.kind, grant.exact, grant.prefixes) for grant in found]


def test_a_command_is_granted_word_for_word_or_by_its_first_words() -> None:
    assert for_command("ls -l") == [("exact", (("ls", "-l"),), ()), ("program", (), (("ls",),))]
    assert for_command("git log -5") == [("exact", (("git", "log", "-5"),), ()), ("subcommand", (), (("git", "log"),))]
    assert for_command("./build.sh") == [("exact", (("./build.sh",),), ())]
    assert for_command("ls | ./filter") == [
        ("exact", (("ls",), ("./filter",)), ()),
        ("program", (("./filter",),), (("ls",),)),
    ]


@pytest.mark.parametrize("text", ["ls && bash -c x", "sudo ls; ls", "ls $(x)", ""])
def test_nothing_is_granted_for_a_line_of_which_a_part_cannot_be(text: str) -> None:
    assert for_command(text) == []


def test_a_search_is_granted_as_a_tool_and_a_file_that_is_sent_is_not() -> None:
    search = InfoDetails("how to")
    assert [grant.kind for grant in proposed(action(search), "c")] == ["tool"]
    assert proposed(Action("t", {}, search, paths=("/w/x",)), "c") == ()
    assert proposed(action(InfoDetails("x", warnings=("w",))), "c") == ()
    assert proposed(action(InfoDetails("x", WEB.urls, ("w",))), "c") == ()
    (grant,) = proposed(action(MCP), "c")
    assert (grant.kind, grant.reach) == ("tool", "Every call of add of the server notes, for this session.")


def test_a_rule_for_a_tool_that_is_not_there_is_refused_with_the_nearest() -> None:
    check_tool("mcp_notes_add", "here", ("read_file",))
    check_tool("read_*", "here", ("read_file",))
    with pytest.raises(BadRule, match=r"here: there is no tool 'raed_file'; did you mean 'read_file'\?"):
        check_tool("raed_file", "here", ("read_file", "write_file"))
    with pytest.raises(BadRule, match=r"there is no tool 'x'$"):
        check_tool("x", "here", ())


@pytest.mark.parametrize(
    ("rule", "one", "expected"),
    [
        (Rule("allow", argument="https://docs.example.org/*"), action(WEB), "allow"),
        (Rule("allow", argument="https://docs.example.org/b*"), action(WEB), "ask"),
        (Rule("allow", argument="https://*"), action(WEB), "ask"),
        (Rule("allow", argument="https://docs.example.org*"), action(WEB), "ask"),
        (Rule("allow", argument="https://a.org/*"), action(InfoDetails("x", ("https://a.org/x/../y",))), "ask"),
        (Rule("allow", argument="https://a.org/*"), action(InfoDetails("x", ("https://a.org/%2E./y",))), "ask"),
        (Rule("allow", argument="https://a.org/*"), action(InfoDetails("x", ("https://a.org/", "https://b/"))), "ask"),
        (Rule("allow", argument="how*"), action(InfoDetails("x"), main="how to"), "allow"),
        (Rule("deny", argument="https://docs.*"), action(WEB), "deny"),
        (Rule("deny", argument="https://other.*"), action(WEB), "ask"),
        (Rule("deny", argument="look*"), action(WEB, main="look at it"), "deny"),
        (Rule("allow", domain="example.org"), action(InfoDetails("no address")), "ask"),
        (Rule("allow", path="src/**"), action(EDIT), "ask"),
        (Rule("deny", "t"), action(MCP, server="notes"), "deny"),
        (Rule("deny", "*"), action(MCP, "any", server="notes"), "deny"),
        (Rule("deny", argument="ls"), action(ExecDetails("ls", (), "/w", "low", "")), "deny"),
        (Rule("deny", modes=("yolo",)), action(EDIT), "ask"),
    ],
)
def test_a_rule_about_an_argument_or_an_address(rule: Rule, one: Action, expected: str) -> None:
    assert ruling(one, rule) == expected


def test_a_question_of_the_model_is_asked_whatever_is_allowed() -> None:
    question = action(AskDetails(()))
    assert ruling(question, Rule("allow"), mode="yolo") == "ask"
    assert Policy(mode="yolo").judge(question).reason == "the model asks you something"


def test_an_ask_rule_holds_where_the_mode_would_allow() -> None:
    assert ruling(action(EDIT), Rule("ask"), mode="auto_edit") == "ask"
    assert ruling(action(None), Rule("ask")) == "ask"


def test_plan_mode_asks_about_what_only_reads_elsewhere() -> None:
    assert ruling(action(McpDetails("notes", "list", {}, read_only=True)), mode="plan") == "ask"
    assert ruling(action(McpDetails("notes", "list", {}, unseen="new", read_only=True)), mode="plan") == "deny"


def test_no_rule_or_grant_covers_what_a_person_should_look_at() -> None:
    odd = action(InfoDetails("x", WEB.urls, ("it carries much data",)))
    changed = action(McpDetails("notes", "add", {}, unseen="it changed"))
    grant = Grant("g", "tool", "t", "")
    for one in (odd, changed):
        assert ruling(one, Rule("allow")) == "ask"
        assert Policy(grants=[grant]).judge(one).ruling == "ask"
