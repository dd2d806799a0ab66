"""web_fetch: which addresses it names, what it refuses before anyone is asked, and what the model gets."""

from pathlib import Path
from typing import Any

import pytest

from assent.app.question_text import question_lines
from assent.app.style import Style
from assent.approval import Grant, InfoDetails, Mode
from assent.commands import Answer
from assent.files.workspace import Workspace
from assent.parts import PlainDisplay
from assent.policy.decision import Verdict
from assent.policy.policy import Policy
from assent.policy.rules import BadRule, Rule, parse_allowed
from assent.scheduler.approvals import make_approval
from assent.scheduler.call import AwaitingApproval
from assent.scheduler.scheduler import Scheduler
from assent.scheduler.transitions import make_action
from assent.tools.builtin import builtin_tools
from assent.tools.registry import Registry
from assent.tools.support.fetched_pages import MODEL_CHARACTERS
from assent.tools.tool import InvalidParams, ToolFailed, ToolResult
from assent.tools.web_fetch import WebFetchTool
from support.doubles import ListJournal
from support.fake_web import FakeWeb, page, sends_to
from support.scheduler_harness import SchedulerHarness
from tools.toolkit import PERMIT, LiveRecorder

DOCS = "https://docs.example.org/a"


async def run(fake: FakeWeb, prompt: str) -> ToolResult:
    invocation = WebFetchTool(fake.web).build({"prompt": prompt})
    await invocation.should_confirm()
    return await invocation.execute(PERMIT, LiveRecorder())


async def details(prompt: str) -> InfoDetails:
    found = await WebFetchTool().build({"prompt": prompt}).should_confirm()
    assert isinstance(found, InfoDetails)
    return found


async def urls(prompt: str) -> tuple[str, ...]:
    return (await details(prompt)).urls


# --- which addresses ---


@pytest.mark.spec("E3")
@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("Read https://example.org/a?b=c#d, please.", ["https://example.org/a?b=c"]),
        (
            "(see https://example.org/x_(y)) and <http://Example.ORG>",
            ["https://example.org/x_(y)", "http://example.org/"],
        ),
        ("[docs](https://example.org/a).", ["https://example.org/a"]),
        ("https://example.org/a https://EXAMPLE.org/a#x", ["https://example.org/a"]),
        ("https://bücher.example/ü", ["https://xn--bcher-kva.example/%C3%BC"]),
        (
            "https://github.com/o/r/blob/main/src/a.py?plain=1#L3",
            ["https://raw.githubusercontent.com/o/r/main/src/a.py"],
        ),
        ("https://github.com.evil.net/o/r/blob/main/a", ["https://github.com.evil.net/o/r/blob/main/a"]),
    ],
)
async def test_the_addresses_of_a_prompt_are_shown_in_their_one_spelling(prompt: str, found: list[str]) -> None:
    assert list(await urls(prompt)) == found


@pytest.mark.spec("E3")
@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("Read the docs.", "at least one address"),
        ("http://localhost:8080/", "localhost is a name for this machine"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://[::1]/", "::1"),
        ("http://169.254.169.254/latest/", "169.254.169.254"),
        ("https://user:secret@example.org/", "user name"),
        ("ftp://example.org/", "only http and https"),
        ("https://example.org/ and file:///etc/passwd", "only http and https"),
        ("https://example.org\\@evil.net/", "backslash"),
        ("https://example.org/\u200bx", "hidden"),
        ("https://example.org:22/", "port 22"),
        (" ".join(f"https://example.org/{n}" for n in range(21)), "at most 20"),
    ],
)
def test_a_forbidden_address_is_refused_before_anyone_is_asked(prompt: str, why: str) -> None:
    with pytest.raises(InvalidParams) as refused:
        WebFetchTool().build({"prompt": prompt})
    assert why in str(refused.value)


async def test_nothing_is_looked_up_before_the_call_runs() -> None:
    async with FakeWeb(page("hello")) as fake:
        invocation = WebFetchTool(fake.web).build({"prompt": DOCS})
        await invocation.should_confirm()
        assert (fake.looked_up, fake.dialled) == ([], [])


# --- the question ---


@pytest.mark.spec("C9")
async def test_the_question_shows_the_whole_address_and_what_it_stands_for() -> None:
    prompt = "Look\u202e at https://xn--pypal-4ve.example/%D0%B0?q=%3Ctag%3E"
    tool = WebFetchTool()
    invocation = tool.build({"prompt": prompt})
    action = await make_action(Policy(roots=("/w",)), tool, {"prompt": prompt}, invocation)
    call = AwaitingApproval(
        request=SchedulerHarness().call("web_fetch"),
        started_at=0.0,
        approval=make_approval("s", "c", action, invocation, "why", None),
    )
    lines = list(question_lines(call, Style(colour=False)))
    assert lines[0] == "? Fetch from the web"
    assert "  https://xn--pypal-4ve.example/%D0%B0?q=%3Ctag%3E" in lines
    assert any(line.startswith("  host: p") for line in lines)
    assert any(line.startswith("  decoded: https://") and line.endswith("?q=<tag>") for line in lines)
    assert any("international host name" in line for line in lines)
    assert "\u202e" not in "".join(lines)
    assert call.approval.options == ("proceed_once", "cancel"), "no always for an address with something odd about it"


# --- policy ---


async def judged(prompt: str, *rules: Rule, mode: Mode = "default", grants: tuple[Grant, ...] = ()) -> Verdict:
    tool = WebFetchTool()
    policy = Policy(rules, mode, grants, roots=("/w",))
    return policy.judge(await make_action(policy, tool, {"prompt": prompt}, tool.build({"prompt": prompt})))


@pytest.mark.spec("C7")
async def test_a_host_can_be_allowed_for_a_run_and_covers_only_itself_and_below() -> None:
    rule = parse_allowed("web_fetch(example.org)")
    assert (await judged(DOCS, rule)).ruling == "allow"
    assert (await judged(f"{DOCS} https://other.net/", rule)).ruling == "ask"
    assert (await judged("https://example.org.evil.net/", rule)).ruling == "ask"
    assert (await judged(DOCS, rule, Rule(ruling="deny", domain="=docs.example.org"), mode="yolo")).ruling == "deny"
    assert (await judged(DOCS)).ruling == "ask"
    assert (await judged(DOCS, mode="plan")).ruling == "ask", "it only reads"


@pytest.mark.parametrize("text", ["web_fetch(com)", "web_fetch(https://example.org)", "web_fetch(a b.c)"])
def test_a_rule_for_something_that_is_not_a_host_is_refused(text: str) -> None:
    with pytest.raises(BadRule, match="is not a domain"):
        parse_allowed(text)


async def test_the_beginning_of_an_address_allows_only_with_its_whole_host() -> None:
    rule = parse_allowed("web_fetch(https://example.org/docs/)")
    assert (await judged("Look: https://example.org/docs/a", rule)).ruling == "allow"
    for other in (
        "https://example.org/",
        "https://example.org/docs/%2E./x",
        "https://example.org/docs/ https://b.net/",
    ):
        assert (await judged(other, rule)).ruling == "ask"
    open_ended = Rule(ruling="allow", tool="web_fetch", argument="https://example.org*")
    assert (await judged("https://example.org.evil.net/", open_ended)).ruling == "ask"
    assert (await judged(DOCS, Rule(ruling="deny", tool="web_fetch", argument="*docs.example*"))).ruling == "deny"


async def test_an_address_that_may_carry_data_is_asked_about_even_on_an_allowed_host() -> None:
    carrying = f"{DOCS}?q={'c2VjcmV0IGRhdGEgdGhhdCBsZWF2ZXMgdGhlIGhvdXNl'}"
    grant = Grant(id="g", kind="domain", tool="web_fetch", reach="", value="docs.example.org")
    assert (await judged(DOCS, grants=(grant,))).ruling == "allow"
    for verdict in (
        await judged(carrying, grants=(grant,)),
        await judged(carrying, Rule(ruling="allow", tool="web_fetch")),
    ):
        assert (verdict.ruling, "may carry encoded data" in verdict.reason) == ("ask", True)


@pytest.mark.spec("J4")
async def test_always_for_a_host_lets_the_next_page_of_it_through_and_no_other_host() -> None:
    async with FakeWeb(page("hello")) as fake:
        journal, harness = ListJournal(), SchedulerHarness()
        scheduler = Scheduler("s", Registry([WebFetchTool(fake.web)]), Policy(roots=("/w",)), journal)
        first = scheduler.schedule(harness.call("web_fetch", prompt="http://docs.example.org/a"))
        await harness.settle()
        (waiting,) = scheduler.waiting()
        assert waiting.approval.scopes[0].reach == "Requests by web_fetch to docs.example.org, for this session."
        assert fake.looked_up == []
        await scheduler.answer(
            Answer(call_id=waiting.request.call_id, outcome="proceed_always", digest=waiting.approval.digest)
        )
        results = await first.results()
        results += await scheduler.schedule(harness.call("web_fetch", prompt="http://docs.example.org/b")).results()
        scheduler.schedule(harness.call("web_fetch", prompt="http://other.example.org/"))
        await harness.settle()
        assert [type(call).__name__ for call in results] == ["Success", "Success"]
        assert len(scheduler.waiting()) == 1
        assert fake.looked_up == ["docs.example.org"] * 2
        await scheduler.park()


# --- results ---


@pytest.mark.spec("D5")
async def test_the_model_gets_the_text_and_the_person_a_line() -> None:
    async with FakeWeb({"docs.example.org/": page("<h1>Hi</h1><script>x</script>", "text/html")}) as fake:
        result = await run(fake, "http://docs.example.org")
    line = "http://docs.example.org/ (status 200, 29 bytes)"
    assert result == ToolResult(f"--- {line} ---\n# Hi", PlainDisplay(line))


async def test_one_failure_among_several_leaves_the_others_and_all_failures_fail_the_call() -> None:
    pages = {
        "a.example/": page("A"),
        "b.example/": page(b"\0", "image/png"),
        "c.example/": sends_to("http://d.example/x"),
    }
    async with FakeWeb(pages) as fake:
        result = await run(fake, "http://a.example http://b.example http://c.example")
        assert isinstance(result.content, str) and result.failure is None
        assert "http://a.example/ (status 200, 1 bytes) ---\nA" in result.content
        assert "http://b.example/ was not fetched: " in result.content
        assert "has moved to another host: http://d.example/x ---\nNothing was fetched." in result.content
        assert set(fake.looked_up) == {"a.example", "b.example", "c.example", "d.example"}
        missing = await run(fake, "http://a.example/missing")
        assert missing.failure is not None and "no such page" in str(missing.content)
        with pytest.raises(ToolFailed, match=r"b\.example/ was not fetched: .* it is not text but image/png, 1 bytes"):
            await run(fake, "http://b.example")


async def test_long_pages_share_the_room_and_say_that_they_were_cut() -> None:
    pages = {"a.example/": page("a" * 200_000), "b.example/": page("b" * 200_000), "c.example/": page("c" * 10_000)}
    async with FakeWeb(pages) as fake:
        content = (await run(fake, "http://a.example http://b.example http://c.example")).content
    assert isinstance(content, str)
    assert [content.count(letter * 100) for letter in "abc"] == [1200, 1200, 100]
    assert "[Cut after 120,000 of 200,000 characters.]" in content
    assert len(content) < MODEL_CHARACTERS + 1000


def test_the_tool_belongs_to_the_built_in_ones(tmp_path: Path) -> None:
    tools: dict[str, Any] = {tool.name: tool for tool in builtin_tools(Workspace([str(tmp_path)], str(tmp_path)))}
    assert (tools["web_fetch"].kind, tools["web_fetch"].display_name) == ("fetch", "WebFetch")
