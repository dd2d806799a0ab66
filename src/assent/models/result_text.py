"""A tool's result as the text that a model reads. Pure."""

from assent.models.wire_json import encode_json
from assent.parts import Media, Result


def result_text(result: Result) -> str:
    """The output if there is nothing else; otherwise everything as JSON, so that an error can be recognised as one."""
    match result.response:
        case {"output": str(output), **rest} if not rest:
            return output
        case response:
            return encode_json(response).decode()


def is_error(result: Result) -> bool:
    return "error" in result.response


def left_out(media: Media) -> str:
    """What replaces a file that the provider does not accept."""
    return f"(A file of type {media.mime} was left out: this model does not accept it.)"
