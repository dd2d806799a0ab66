"""Exports what happens in the sessions of this process through OpenTelemetry, if the environment asks for it.

Without `OTEL_*` variables, this module is not imported. Telemetry never stops a session: failures are logged, and the
session continues.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from assent.app.secret_masking import export_masker
from assent.config import Settings
from assent.events import Envelope
from assent.otel.otel_switch import Content, Wanted, wanted
from assent.otel.turn_projection import TurnProjection

if TYPE_CHECKING:
    from assent.otel.sdk_pipeline import SdkPipeline

_log = logging.getLogger("opentelemetry.assent")


class Telemetry:
    """Of one process. Sessions share its connections and threads."""

    def __init__(self, pipeline: "SdkPipeline", content: Content) -> None:
        self._pipeline = pipeline
        self._content = content

    def listener(
        self, session: str, past: Iterable[Envelope], env: Mapping[str, str], settings: Settings
    ) -> Callable[[Envelope], None]:
        """Exports the events it is called with. The past only says what they belong to: it was exported before."""
        projection = TurnProjection(session, self._content, export_masker(env, settings))
        for envelope in past:
            for _ in projection.observe(envelope):
                pass

        def observe(envelope: Envelope) -> None:
            try:
                for record in projection.observe(envelope):
                    self._pipeline.emit(record)
            except Exception:
                _log.exception("an event could not be exported")

        return observe


def telemetry(env: Mapping[str, str]) -> Telemetry | None:
    """The same for all sessions of the process; None if it is off, or if the extra is not installed."""
    found = wanted(env)
    return None if found is None else _open(found)


@cache
def _open(wanted: Wanted) -> Telemetry | None:
    try:
        from assent.otel.sdk_pipeline import NoExporter, keep_off_the_screen, open_pipeline
    except ImportError:
        _log.warning("OTEL_* variables are set, but there is no SDK: install assent[otel]")
        return None
    keep_off_the_screen()
    try:
        return Telemetry(open_pipeline(wanted), wanted.content)
    except (NoExporter, ValueError) as error:
        _log.error("%s", error)
        return None
