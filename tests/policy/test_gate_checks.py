"""Small checks of the gate, one by one: what each of them keeps from being allowed, and what it says."""

import pytest

from assent.approval import AskDetails, Details, EditDetails, ExecDetails, Grant, InfoDetails, McpDetails, Mode
from assent.policy.action import Action
from assent.policy.grants import covers, is_live, proposed
from assent.policy.policy import Policy
from assent.policy.rules import BadRule, Rule, check_domain, check_tool, parse_allowed, split_allowed

SHELL = "run_shell_command"
EDIT = EditDetails(path="/w/src/a.py", diff="", old="old", new="new")
WEB = InfoDetails("look", ("https://docs.example.org/a",))
MCP = McpDetails(server="notes", tool="add", args={})


def action(details: Details | None, tool: str = "t", *, server: str = "", main: str = "") -> Action:
    return Action(tool=tool, args={}, details=details, main=main, server=server)


def ruling(one: Action, *rules: Rule, mode: Mode = "default") -> str:
    return Policy(rules, mode, roots=("/w",)).judge(one).ruling


# --- what is said ---


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        (EDIT, "changing files needs approval in this mode"),
        (
            EditDetails(path="/w/.git/x", diff="", old=None, new="", protected="it decides"),
            "it is a protected file: it decides",
        ),
        (
            EditDetails(path="/w/Makefile", diff="", old=None, new="", protected="", runs="it runs"),
            "editing this file always needs approval: it runs",
        ),
        (WEB, "web requests need approval in this mode"),
        (InfoDetails("x", warnings=("a look-alike",)), "check the address: a look-alike"),
        (MCP, "no rule trusts the server notes"),
        (McpDetails(server="notes", tool="add", args={}, unseen="it changed"), "it changed"),
    ],
)
def test_a_question_says_why_it_is_asked(details: Details, reason: str) -> None:
    assert Policy(roots=("/w",)).judge(action(details)).reason == reason


def test_a_file_of_secrets_is_called_one() -> None:
    reading = action(InfoDetails("Read .env"), tool="read_file")
    assert Policy(roots=("/w",)).judge(reading).reason == "files of this name usually hold secrets"


def test_only_commands_are_assessed() -> None:
    assert Policy(roots=("/w",)).assess(EDIT) is EDIT
    assert Policy(roots=("/w",)).assess(None) is None


def test_uses_are_counted_in_the_given_table() -> None:
    uses = {"g": 1}
    policy = Policy(grants=[Grant(id="g", kind="tool", tool="t", reach="", max_uses=2)], uses=uses, roots=("/w",))
    assert policy.judge(action(MCP)).ruling == "allow"
    policy.used("g")
    assert uses == {"g": 2}
    assert policy.judge(action(MCP)).ruling == "ask"


# --- grants ---


@pytest.mark.parametrize(
    ("grant", "one", "covered"),
    [
        (Grant(id="g", kind="server", tool="x", reach="", value="notes"), action(MCP, server="notes"), True),
        (Grant(id="g", kind="server", tool="x", reach="", value="notes"), action(MCP, server="other"), False),
        (Grant(id="g", kind="server", tool="x", reach="", value=""), action(MCP), False),
        (Grant(id="g", kind="tool", tool="t", reach=""), action(MCP), True),
        (Grant(id="g", kind="tool", tool="u", reach=""), action(MCP), False),
        (Grant(id="g", kind="file", tool="t", reach="", value="/w/src/a.py"), action(EDIT), True),
        (Grant(id="g", kind="file", tool="t", reach="", value="/w/src/b.py"), action(EDIT), False),
        (Grant(id="g", kind="folder", tool="t", reach="", value="/w/src"), action(EDIT), True),
        (Grant(id="g", kind="folder", tool="t", reach="", value="/w/sr"), action(EDIT), False),
        (
            Grant(id="g", kind="folder", tool="t", reach="", value="/w"),
            action(EditDetails(path="/w/.git/x", diff="", old=None, new="", protected="why")),
            False,
        ),
        (
            Grant(id="g", kind="file", tool="t", reach="", value="/w/x"),
            action(EditDetails(path="/w/x", diff="", old=None, new="", protected="why")),
            False,
        ),
        (Grant(id="g", kind="domain", tool="t", reach="", value="docs.example.org"), action(WEB), True),
        (Grant(id="g", kind="domain", tool="t", reach="", value="example.org"), action(WEB), False),
        (
            Grant(id="g", kind="domain", tool="t", reach="", value="docs.example.org"),
            action(InfoDetails("no address")),
            False,
        ),
        (Grant(id="g", kind="exact", tool="t", reach="", value="/w"), action(EDIT), False),
    ],
)
def test_a_grant_covers_what_it_is_for_and_nothing_else(grant: Grant, one: Action, covered: bool) -> None:
    assert covers(grant, one) is covered


def test_a_domain_grant_needs_every_address_to_be_of_that_host() -> None:
    both = action(InfoDetails("x", ("https://docs.example.org/", "https://evil.net/")))
    assert not covers(Grant(id="g", kind="domain", tool="t", reach="", value="docs.example.org"), both)
    assert proposed(both, "c") == ()
    assert proposed(action(InfoDetails("x", ("no address",))), "c") == ()


def test_a_grant_ends_at_its_last_use_and_at_its_time() -> None:
    assert is_live(Grant(id="g", kind="tool", tool="t", reach="", expires_at=10.0), 9.9, 0)
    assert not is_live(Grant(id="g", kind="tool", tool="t", reach="", expires_at=10.0), 10.0, 0)
    assert is_live(Grant(id="g", kind="tool", tool="t", reach="", max_uses=2), 0, 1)
    assert not is_live(Grant(id="g", kind="tool", tool="t", reach="", max_uses=2), 0, 2)
    assert not is_live(Grant(id="g", kind="tool", tool="t", reach="", max_uses=2, expires_at=1.0), 5, 0)


@pytest.mark.parametrize("text", ["cd x; ls", "ls && cd x && ls", "true & cd x", "cd x", "bash -c 'cd x'; ls"])
def test_no_grant_is_proposed_or_used_for_a_line_that_may_run_elsewhere(text: str) -> None:
    details = ExecDetails(command=text, roots=(), directory="/w", risk="low", risk_reason="")
    assert proposed(action(details, SHELL), "c") == ()
    grant = Grant(id="g", kind="program", tool=SHELL, reach="", value="/w", prefixes=(("touch",),))
    moved = ExecDetails(command="cd x && touch y", roots=(), directory="/w", risk="low", risk_reason="")
    assert Policy(grants=[grant], roots=("/w",)).judge(action(moved, SHELL)).ruling == "ask"
    assert (
        Policy(grants=[grant], roots=("/w",))
        .judge(action(ExecDetails(command="touch y", roots=(), directory="/w", risk="low", risk_reason=""), SHELL))
        .ruling
        == "allow"
    )


def test_nothing_standing_is_proposed_for_a_protected_file_or_for_nothing() -> None:
    assert proposed(action(EditDetails(path="/w/.git/x", diff="", old=None, new="", protected="why")), "c") == ()
    assert proposed(action(None), "c") == ()


# --- rules ---


@pytest.mark.parametrize(
    ("rule", "one", "matches"),
    [
        (Rule(ruling="deny", tool="t"), action(EDIT), True),
        (Rule(ruling="deny", tool="u"), action(EDIT), False),
        (Rule(ruling="deny", tool="*"), action(EDIT), True),
        (Rule(ruling="deny", tool="mcp_*"), action(MCP, "mcp_notes_add"), True),
        (Rule(ruling="deny", server="notes"), action(MCP, server="notes"), True),
        (Rule(ruling="deny", server="notes"), action(MCP, server="other"), False),
        (Rule(ruling="deny", argument="/w/*"), action(EDIT, main="/w/src/a.py"), True),
        (Rule(ruling="deny", argument="/x/*"), action(EDIT, main="/w/src/a.py"), False),
        (Rule(ruling="deny", domain="example.org"), action(WEB), True),
        (Rule(ruling="deny", domain="example.org"), action(EDIT), False),
        (Rule(ruling="deny", domain="example.org"), action(InfoDetails("no address")), False),
        (Rule(ruling="deny", command=("ls",)), action(EDIT), False),
        (Rule(ruling="deny", command=("ls",), argument="x*"), action(EDIT, main="xy"), True),
        (Rule(ruling="deny", path="src/**"), action(EDIT), False),
    ],
)
def test_a_rule_matches_only_when_all_that_it_names_does(rule: Rule, one: Action, matches: bool) -> None:
    assert (ruling(one, rule) == "deny") is matches


def test_an_allow_by_domain_needs_every_address_and_a_deny_one() -> None:
    both = action(InfoDetails("x", ("https://example.org/", "https://evil.net/")))
    assert ruling(both, Rule(ruling="allow", domain="example.org")) == "ask"
    assert ruling(action(WEB), Rule(ruling="allow", domain="example.org")) == "allow"
    assert ruling(both, Rule(ruling="deny", domain="evil.net")) == "deny"


def test_an_unusual_address_belongs_to_no_host() -> None:
    assert ruling(action(InfoDetails("x", ("https://[",))), Rule(ruling="allow", domain="example.org")) == "ask"
    assert (
        ruling(action(InfoDetails("x", ("https://EXAMPLE.org./",))), Rule(ruling="allow", domain="example.org"))
        == "allow"
    )


def test_a_rule_says_what_it_is_about_and_where_it_stands() -> None:
    said = [
        Rule(ruling="deny", tool="t", argument="a b").describe(),
        Rule(ruling="deny", tool="t", domain="d").describe(),
        Rule(ruling="deny", tool="t", path="p").describe(),
        Rule(ruling="deny", tool="t", server="s", place="f:3", tier="user").describe(),
        Rule(ruling="deny", tool="t").describe(),
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
        "edit": [Policy(mode=mode, roots=("/w",)).judge(action(EDIT)).ruling for mode in modes],
        "web": [Policy(mode=mode, roots=("/w",)).judge(action(WEB)).ruling for mode in modes],
        "mcp": [Policy(mode=mode, roots=("/w",)).judge(action(MCP)).ruling for mode in modes],
        "reading": [Policy(mode=mode, roots=("/w",)).judge(action(None)).ruling for mode in modes],
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
    assert parse_allowed("t") == Rule(ruling="allow", tool="t")
    assert parse_allowed("web_fetch(docs.example.org)") == Rule(
        ruling="allow", tool="web_fetch", domain="docs.example.org"
    )
    assert parse_allowed("t(a b)") == Rule(ruling="allow", tool="t", argument="a b*", command=("a", "b"))
    assert parse_allowed("web_fetch(https://a.org/x)").domain == ""


@pytest.mark.parametrize("domain", ["", "com", "=com", "*.com", "a b.org"])
def test_a_domain_that_would_match_nothing_is_refused(domain: str) -> None:
    with pytest.raises(BadRule):
        check_domain(domain, "here")
    check_domain("*.example.org", "here")
    check_domain("[::1]", "here")


def test_rules_are_quoted_by_tier_then_by_priority() -> None:
    tiers = ("admin", "user", "workspace", "session", "built-in")
    rules = [Rule(ruling="deny", tier=tier, message=tier) for tier in reversed(tiers)]
    assert [rule.tier for rule in Policy(rules, roots=("/w",)).rules] == list(tiers)
    low, high = Rule(ruling="deny", priority=1, message="low"), Rule(ruling="deny", priority=2, message="high")
    assert Policy([low, high], roots=("/w",)).judge(action(EDIT)).reason == "high"


def test_a_rule_by_path_guards_in_every_root() -> None:
    def search(tree: str) -> str:
        one = Action(tool="grep_search", args={}, details=None, paths=(tree,))
        return Policy([Rule(ruling="deny", path="secrets/**")], roots=("/w", "/v")).judge(one).ruling

    below = Action(tool="grep_search", args={}, details=None, paths=("/w/secrets/deep/",))
    assert Policy([Rule(ruling="deny", path="secrets/**/*.key")], roots=("/w",)).judge(below).ruling == "ask"
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
    found = proposed(
        action(ExecDetails(command=text, roots=(), directory="/w", risk="low", risk_reason=""), SHELL), "c"
    )
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
    assert proposed(Action(tool="t", args={}, details=search, paths=("/w/x",)), "c") == ()
    assert proposed(action(InfoDetails("x", warnings=("w",))), "c") == ()
    assert proposed(action(InfoDetails("x", WEB.urls, ("w",))), "c") == ()
    grant, *_ = proposed(action(MCP), "c")
    assert (grant.kind, grant.reach) == ("tool", "Every call of add of the server notes, for this session.")


def test_a_rule_for_a_tool_that_is_not_there_is_refused_with_the_nearest() -> None:
    check_tool("mcp_notes_add", "here", ("read_file",))
    check_tool("read_*", "here", ("read_file",))
    with pytest.raises(BadRule, match=r"here: there is no tool 'raed_file'; did you mean 'read_file'\?"):
        check_tool("raed_file", "here", ("read_file", "write_file"))
    with pytest.raises(BadRule, match=r"there is no tool 'bogus'$"):
        check_tool("bogus", "here", ("read_file", "write_todos"))
    with pytest.raises(BadRule, match=r"there is no tool 'x'$"):
        check_tool("x", "here", ())


@pytest.mark.parametrize(
    ("rule", "one", "expected"),
    [
        (Rule(ruling="allow", argument="https://docs.example.org/*"), action(WEB), "allow"),
        (Rule(ruling="allow", argument="https://docs.example.org/b*"), action(WEB), "ask"),
        (Rule(ruling="allow", argument="https://*"), action(WEB), "ask"),
        (Rule(ruling="allow", argument="https://docs.example.org*"), action(WEB), "ask"),
        (Rule(ruling="allow", argument="https://a.org/*"), action(InfoDetails("x", ("https://a.org/x/../y",))), "ask"),
        (Rule(ruling="allow", argument="https://a.org/*"), action(InfoDetails("x", ("https://a.org/%2E./y",))), "ask"),
        (
            Rule(ruling="allow", argument="https://a.org/*"),
            action(InfoDetails("x", ("https://a.org/", "https://b/"))),
            "ask",
        ),
        (Rule(ruling="allow", argument="how*"), action(InfoDetails("x"), main="how to"), "allow"),
        (Rule(ruling="deny", argument="https://docs.*"), action(WEB), "deny"),
        (Rule(ruling="deny", argument="https://other.*"), action(WEB), "ask"),
        (Rule(ruling="deny", argument="look*"), action(WEB, main="look at it"), "deny"),
        (Rule(ruling="allow", domain="example.org"), action(InfoDetails("no address")), "ask"),
        (Rule(ruling="allow", path="src/**"), action(EDIT), "ask"),
        (Rule(ruling="deny", tool="t"), action(MCP, server="notes"), "deny"),
        (Rule(ruling="deny", tool="*"), action(MCP, "any", server="notes"), "deny"),
        (
            Rule(ruling="deny", argument="ls"),
            action(ExecDetails(command="ls", roots=(), directory="/w", risk="low", risk_reason="")),
            "deny",
        ),
        (Rule(ruling="deny", modes=("yolo",)), action(EDIT), "ask"),
    ],
)
def test_a_rule_about_an_argument_or_an_address(rule: Rule, one: Action, expected: str) -> None:
    assert ruling(one, rule) == expected


def test_a_question_of_the_model_is_asked_whatever_is_allowed() -> None:
    question = action(AskDetails(()))
    assert ruling(question, Rule(ruling="allow"), mode="yolo") == "ask"
    assert Policy(mode="yolo", roots=("/w",)).judge(question).reason == "the model has a question for you"


def test_an_ask_rule_holds_where_the_mode_would_allow() -> None:
    assert ruling(action(EDIT), Rule(ruling="ask"), mode="auto_edit") == "ask"
    assert ruling(action(None), Rule(ruling="ask")) == "ask"


def test_plan_mode_asks_about_what_only_reads_elsewhere() -> None:
    assert ruling(action(McpDetails(server="notes", tool="list", args={}, read_only=True)), mode="plan") == "ask"
    assert (
        ruling(action(McpDetails(server="notes", tool="list", args={}, unseen="new", read_only=True)), mode="plan")
        == "deny"
    )


def test_no_rule_or_grant_covers_what_a_person_should_look_at() -> None:
    odd = action(InfoDetails("x", WEB.urls, ("it carries much data",)))
    changed = action(McpDetails(server="notes", tool="add", args={}, unseen="it changed"))
    grant = Grant(id="g", kind="tool", tool="t", reach="")
    for one in (odd, changed):
        assert ruling(one, Rule(ruling="allow")) == "ask"
        assert Policy(grants=[grant], roots=("/w",)).judge(one).ruling == "ask"
