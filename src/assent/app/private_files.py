"""Our own files and folders, which nobody else may read."""

from assent.files.locks import take_lock
from assent.files.log_file import LogFile
from assent.files.private_folder import make_private, save_private

__all__ = (
    "LogFile",
    "make_private",
    "save_private",
    "take_lock",
)
