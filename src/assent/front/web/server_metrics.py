"""Everything that the server measures about itself, in one list."""

from assent.front.web.app_state import AppState
from assent.front.web.metrics import Metric, counter, counters, gauge, histograms, process_metrics


async def server_metrics(app_state: AppState) -> list[Metric]:
    return [
        *await _stored(app_state),
        *_running(app_state),
        *_requests(app_state),
        *app_state.model_metrics.metrics(),
        *process_metrics(),
    ]


async def _stored(app_state: AppState) -> list[Metric]:
    log = app_state.log
    waiting, oldest = await log.count_waiting(), await log.waiting(limit=1)
    return [
        gauge("assent_waiting_approvals", "Questions waiting for a person.", sum(waiting.values())),
        gauge(
            "assent_oldest_waiting_timestamp_seconds",
            "When the oldest waiting question was asked; 0 if none waits.",
            oldest[0].asked_at if oldest else 0.0,
        ),
        gauge("assent_inbox_sessions", "Sessions with commands that are not taken yet.", len(await log.pending())),
        counter("assent_audit_records_total", "Records of the audit.", await log.audit.last_id()),
    ]


def _running(app_state: AppState) -> list[Metric]:
    live = app_state.live
    return [
        gauge("assent_open_sessions", "Sessions running in this process.", app_state.engine.open_sessions),
        *([] if live is None else [gauge("assent_workers", "Workers that are connected.", live.connected)]),
        gauge("assent_streams", "Open event streams.", len(app_state.streams)),
        gauge("assent_write_queue_length", "Changes waiting to be written to the log.", app_state.log.backlog),
    ]


def _requests(app_state: AppState) -> list[Metric]:
    traffic = app_state.traffic
    answered = {str(status): float(count) for status, count in traffic.answered.items()}
    return [
        counters("assent_responses_total", "Responses, by status.", "status", answered),
        histograms(
            "assent_request_seconds", "Time from a request to its response, by route.", "route", traffic.seconds
        ),
        counter("assent_decisions_total", "Decisions taken.", traffic.decisions),
        histograms("assent_decision_seconds", "Time from an answer to its effect.", "state", traffic.decision_seconds),
        counter("assent_failed_logins_total", "Failed logins.", app_state.access.failed_logins),
        counter("assent_log_lines_dropped_total", "Log lines that were lost.", app_state.server_log.dropped),
    ]
