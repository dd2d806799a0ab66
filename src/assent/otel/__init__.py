"""OpenTelemetry, following the GenAI conventions: projects a session's events to spans, measurements and log records.

Off by default. `otel_switch.py` reads the standard `OTEL_*` variables, `turn_projection.py` turns events into the
records of `otel_records.py`, and `sdk_pipeline.py` alone knows the SDK, which the extra `assent[otel]` installs.
"""
