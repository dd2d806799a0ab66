"""A tool's result as the text that a model reads. Pure."""

from assent.models.wire_json import encode_json
from assent.parts import Media, Result


def result_text(result: Result) -> str:
    """The output where there is nothing else; otherwise everything as JSON, so that an error says that it is one."""
    match result.response:
        case {"output": str(output), **rest} if not rest:
            return output
        case response:
            return encode_json(response).decode()


def is_error(result: Result) -> bool:
    return "error" in result.response


def left_out(media: Media) -> str:
    """What stands in the place of something that the provider does not take."""
    return f"(A file of type {media.mime} is left out: this model cannot be sent one.)"
