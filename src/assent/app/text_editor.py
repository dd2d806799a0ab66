"""The person's own editor."""

from assent.process.editor import available_editors, default_editor, edit_text

__all__ = (
    "available_editors",
    "default_editor",
    "edit_text",
)
