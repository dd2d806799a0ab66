"""What is told of a crash, on a screen or in the log of a server: where it happened, without variables and secrets."""

import os


def trace_of(error: BaseException) -> str:
    import traceback

    return _masked("".join(traceback.format_exception(error)))


def mask_log() -> None:
    """From now on what libraries and forgotten tasks log is masked, too: warnings and errors, on standard error."""
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
