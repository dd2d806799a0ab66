"""Opens the log that sessions are kept in. No other module knows which backend it is."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from assent.config import data_folder
from assent.session.log import SessionLog
from assent.session.sqlite_log import SqliteLog

if TYPE_CHECKING:
    from assent.secrets.mask import Masker


def open_log(env: Mapping[str, str], *, read_only: bool = False, busy: bool = False) -> SessionLog:
    """Returns at once; a thread opens the file. `read_only` writes nothing at all; `busy` is for servers, where many
    sessions write at once.
    """
    return SqliteLog(data_folder(env), read_only=read_only, busy=busy, mask=_mask(env))


def _mask(env: Mapping[str, str]) -> Callable[[str], str]:
    """Made when there is something to mask: many runs record nothing."""
    from functools import cache

    @cache
    def masker() -> "Masker":
        from assent.app.secret_masking import export_masker
        from assent.config import Settings

        return export_masker(env, Settings())

    return lambda text: masker().text(text) if text else text
