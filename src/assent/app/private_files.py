"""Our own files and folders, which nobody else may read."""

from assent.files.locks import take_lock
from assent.files.private_folder import make_private, save_private

__all__ = (
    "make_private",
    "save_private",
    "take_lock",
)
