"""Text for the screen: the one place that makes untrusted text safe to show. It knows no terminal and no policy."""

from assent.screen.safe import LABEL_LENGTH, Context, SafeStream, SafeText, check_text, make_safe

__all__ = ["LABEL_LENGTH", "Context", "SafeStream", "SafeText", "check_text", "make_safe"]
