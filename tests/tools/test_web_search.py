"""web_search: what it asks, and the two faces of what it found."""

import pytest

from assent.approval import InfoDetails
from assent.parts import PlainDisplay, SearchAnswer, Source
from assent.policy.grants import proposed
from assent.policy.policy import Policy
from assent.scheduler.transitions import make_action
from assent.tools.tool import InvalidParams, ToolFailed
from assent.tools.web_search import WebSearchTool
from tools.toolkit import PERMIT, LiveRecorder


def tool(answer: SearchAnswer) -> WebSearchTool:
    async def search(query: str) -> SearchAnswer:
        return answer

    return WebSearchTool(search)


FOUND = tool(SearchAnswer("8848 m.[1]", (Source("a.example", "https://a.example/x"),)))


@pytest.mark.spec("E3")
async def test_a_search_is_asked_about_and_gives_an_answer_with_sources() -> None:
    invocation = FOUND.build({"query": " how high\n is it? "})
    assert await invocation.should_confirm() == InfoDetails("Search the web for: how high is it?")
    result = await invocation.execute(PERMIT, LiveRecorder())
    assert result.content == (
        'Web search results for "how high is it?":\n\n8848 m.[1]\n\nSources:\n[1] a.example (https://a.example/x)'
    )
    assert result.display == PlainDisplay('Searched the web for "how high is it?": 1 sources')


@pytest.mark.spec("J4")
async def test_a_search_may_be_granted_as_a_whole_for_the_session() -> None:
    policy, args = Policy(roots=("/w",)), {"query": "x"}
    action = await make_action(policy, FOUND, args, FOUND.build(args))
    assert policy.judge(action).ruling == "ask"
    (grant,) = proposed(action, "c")
    assert grant.reach == "Every call of web_search, for this session."
    policy.add_grant(grant)
    assert policy.judge(action).ruling == "allow"


async def test_an_empty_query_is_refused_and_an_empty_answer_is_a_failure() -> None:
    with pytest.raises(InvalidParams, match="must not be empty"):
        FOUND.build({"query": " \n"})
    with pytest.raises(ToolFailed, match='No results for "x"'):
        await tool(SearchAnswer(" ")).build({"query": "x"}).execute(PERMIT, LiveRecorder())
