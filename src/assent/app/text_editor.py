"""The person's own editor."""

from assent.process.editor import EditorFailed, available_editors, default_editor, edit_text

__all__ = (
    "EditorFailed",
    "available_editors",
    "default_editor",
    "edit_text",
)
