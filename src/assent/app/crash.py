"""What is reported of a crash, on a screen or in a server's log: where it happened, without variables or secrets."""

import os


def trace_of(error: BaseException) -> str:
    import traceback

    return _masked("".join(traceback.format_exception(error)))


def mask_log() -> None:
    """Also masks what libraries and forgotten tasks log from now on: warnings and errors, on standard error."""
    import logging

    class Formatter(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return _masked(super().format(record))

    if logging.lastResort is not None:
        logging.lastResort.setFormatter(Formatter())


def _masked(text: str) -> str:
    from assent.app.secret_masking import export_masker
    from assent.config import Settings

    return export_masker(os.environ, Settings()).text(text)
