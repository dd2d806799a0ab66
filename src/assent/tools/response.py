"""Converts a tool's result into the function response that the model receives.

| content                | response                                            |
|------------------------|-----------------------------------------------------|
| text                   | `{"output": text}`                                  |
| text parts             | joined by newlines in `output`                      |
| media parts            | beside the response; `output` says how many         |
| a ready-made object    | unchanged                                           |
| with a failure         | `{"error": message}`, and `output` if there is any  |
"""

from assent.parts import Failure, JsonObject, Media, Result, Text
from assent.tools.tool import ToolResult

_CANCELLED = "[Operation Cancelled] Reason: "


def to_result(call_id: str, tool: str, result: ToolResult) -> Result:
    response, media = _response(result.content)
    if result.failure is not None:
        response = {"error": result.failure.message} | {k: v for k, v in response.items() if v}
    return Result(call_id, tool, response, media)


def failure_result(call_id: str, tool: str, failure: Failure) -> Result:
    return Result(call_id, tool, {"error": failure.message})


def cancelled_result(call_id: str, tool: str, reason: str, output: str = "") -> Result:
    response: JsonObject = {"error": f"{_CANCELLED}{reason}"}
    if output:
        response["output"] = output
    return Result(call_id, tool, response)


def cancel_reason(result: Result) -> str:
    """The reason of a cancelled call, without the text around it that is for the model."""
    return str(result.response.get("error", "")).removeprefix(_CANCELLED)


def _response(content: str | tuple[Text | Media, ...] | JsonObject) -> tuple[JsonObject, tuple[Media, ...]]:
    match content:
        case str():
            return {"output": content}, ()
        case dict():
            return content, ()
        case parts:
            return _from_parts(parts)


def _from_parts(parts: tuple[Text | Media, ...]) -> tuple[JsonObject, tuple[Media, ...]]:
    texts = [part.text for part in parts if isinstance(part, Text)]
    media = tuple(part for part in parts if isinstance(part, Media))
    if media and not texts:
        return {"output": f"Binary content provided ({len(media)} item(s))."}, media
    return {"output": "\n".join(texts)} if texts else {}, media
