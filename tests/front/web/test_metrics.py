"""Metrics that a scraper accepts: read with Prometheus' own parser."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from assent import __version__
from assent.client import Api
from assent.events import Envelope, ModelFallback, ModelRetry, TurnFinished
from assent.front.web.histograms import BOUNDS, Histogram
from assent.front.web.metrics import counter, counters, exposition, gauge
from assent.front.web.model_metrics import ModelMetrics
from assent.parts import Failure
from support.served import Served, until_event, until_waiting

pytestmark = pytest.mark.spec("N1")
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parsed(text: bytes) -> Samples:
    """By name and labels. Two samples of the same name and labels are an error."""
    found: Samples = {}
    for family in text_string_to_metric_families(text.decode()):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def named(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, frozenset(labels.items())]


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


async def scraped(api: Api) -> Samples:
    reply = await api.http.request("GET", "/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return parsed(reply.body)


async def test_a_scraper_reads_what_happened(served: Served):
    api = served.api()
    session = (await api.create(prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    before = await scraped(api)
    assert named(before, "assent_waiting_approvals") == 1
    assert named(before, "assent_oldest_waiting_timestamp_seconds") == pytest.approx(waiting["asked_at"])  # pyright: ignore[reportUnknownMemberType]
    await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
    await until_event(api, session, "turn.finished")
    after = await scraped(api)
    assert named(after, "assent_waiting_approvals") == named(after, "assent_oldest_waiting_timestamp_seconds") == 0
    assert named(after, "assent_decisions_total") == 1
    assert named(after, "assent_decision_seconds_count", state="taken") == 1
    assert named(after, "assent_model_replies_total") == 2
    assert named(after, "assent_responses_total", status="200") >= 3
    for name in ("assent_inbox_sessions", "assent_write_queue_length", "assent_open_sessions", "assent_streams"):
        assert named(after, name) >= 0
    (build,) = [dict(labels) for name, labels in after if name == "assent_build_info"]
    assert build["version"] == __version__
    assert named(after, "process_start_time_seconds") > 1e9 and named(after, "process_cpu_seconds_total") > 0


async def test_latencies_are_counted_by_route_and_never_by_id(served: Served):
    api = served.api()
    session = (await api.create())["id"]
    for _ in range(3):
        await api.snapshot(session)
    for path in ("/nothing", "/nothing/else"):
        await api.http.request("GET", path)
    found = await scraped(api)
    route = "/api/v1/sessions/{session_id}"
    assert named(found, "assent_request_seconds_count", route=route) == 3
    assert named(found, "assent_request_seconds_bucket", route=route, le="+Inf") == 3
    routes = {dict(labels)["route"] for name, labels in found if name == "assent_request_seconds_count"}
    assert not [one for one in routes if session in one or "nothing" in one] and "other" in routes


def test_a_large_counter_keeps_all_its_digits():
    text = exposition([counter("a_total", "x", 12_345_678_901.0), gauge("b", "x", 1_790_000_000.25)])
    assert parsed(text) == {("a_total", frozenset()): 12_345_678_901.0, ("b", frozenset()): 1_790_000_000.25}
    assert b"a_total 12345678901\n" in text


def test_a_label_may_contain_anything():
    hostile = 'a"b\\c\nd} 5'
    found = parsed(exposition([counters("a_total", "x", "type", {hostile: 1.0})]))
    assert named(found, "a_total", type=hostile) == 1.0


def test_a_bucket_counts_what_is_not_longer():
    histogram = Histogram()
    for seconds in (0.0, BOUNDS[0], BOUNDS[0] + 0.001, 1e6):
        histogram.observe(seconds)
    buckets = dict(histogram.buckets())
    assert (buckets["0.005"], buckets["0.01"], buckets["10.0"], buckets["+Inf"]) == (2, 3, 3, 4)
    assert histogram.count == 4


def test_failures_of_models_are_counted_by_reason():
    models = ModelMetrics()
    for event in (
        ModelRetry("p", 1, "overloaded", 1.0),
        ModelFallback("p", "a", "b", "quota"),
        TurnFinished("p", "failed", Failure("quota", "used up")),
        TurnFinished("p", "failed"),
        TurnFinished("p", "completed"),
    ):
        models.on_event(Envelope(1, 0.0, "s", event))
    found = parsed(exposition(models.metrics()))
    assert named(found, "assent_model_errors_total", type="quota") == 1
    assert named(found, "assent_model_errors_total", type="other") == 1
    assert named(found, "assent_model_retries_total") == named(found, "assent_model_fallbacks_total") == 1
