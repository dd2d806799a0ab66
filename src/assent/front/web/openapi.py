"""The API's description (OpenAPI 3.1): what the framework knows about the routes, and what it cannot know."""

from typing import Any

import msgspec

from assent.events import Event
from assent.front.web.problems import MEDIA_TYPE, ProblemShape

Json = dict[str, Any]
REF = "#/components/schemas/{name}"
TAGS = {
    "sessions": "Creating, reading, prompting and changing sessions, and the stream of their events.",
    "approvals": "Calls, and everything that waits for a person.",
    "access": "Logging in and out, and who has access.",
    "audit": "Who decided what.",
    "server": "Models, health and metrics.",
}
PUBLIC = ("/api/v1/login", "/healthz", "/readyz")


def describe(schema: Json) -> bytes:
    schema["openapi"] = "3.1.0"
    components = schema.setdefault("components", {})
    shapes: Json = components.setdefault("schemas", {})
    shapes.update(_own_shapes())
    components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    for path, item in schema["paths"].items():
        for method, operation in item.items():
            if isinstance(operation, dict):
                _complete(path, operation)  # pyright: ignore[reportUnknownArgumentType]
                if method == "get":
                    _without_key(operation)  # pyright: ignore[reportUnknownArgumentType]
    schema["tags"] = [{"name": name, "description": about} for name, about in TAGS.items()]
    schema["paths"]["/api/v1/stream"] = {"get": _stream()}
    return msgspec.json.encode(schema)


def _tag_of(path: str) -> str:
    """What a generated client groups its methods by."""
    match path.removeprefix("/api/v1/").split("/"):
        case ["sessions", _, "calls", *_] | ["approvals"]:
            return "approvals"
        case ["sessions" | "files", *_]:
            return "sessions"
        case ["tokens" | "login" | "logout" | "login-codes" | "push" | "me", *_]:
            return "access"
        case ["audit", *_]:
            return "audit"
        case _:
            return "server"


def _own_shapes() -> Json:
    _, shapes = msgspec.json.schema_components([Event, ProblemShape], ref_template=REF)
    kinds = sorted(name for name, shape in shapes.items() if "type" in shape.get("properties", {}) and _tag(shape))
    shapes["Event"] = {
        "description": "The envelope's fields (seq, ts, session, v), then those of one of these.",
        "anyOf": [{"$ref": REF.format(name=name)} for name in kinds],
    }
    return shapes


def _tag(shape: Json) -> bool:
    names = shape["properties"]["type"].get("enum", ())
    return any("." in name for name in names)


def _complete(path: str, operation: Json) -> None:
    responses: Json = operation.setdefault("responses", {})
    responses.pop("400", None)
    problem = {"content": {MEDIA_TYPE: {"schema": {"$ref": REF.format(name="ProblemShape")}}}}
    responses["4XX"] = {"description": "A problem.", **problem}
    responses["503"] = {"description": "The log cannot be used, or the session cannot be opened.", **problem}
    taken: Json | None = responses.get("200", {}).get("content")
    if taken is not None and "Taken" in str(taken):
        responses["202"] = {"description": "Recorded; the session has not taken it yet.", "content": taken}
    if path.endswith("/events"):
        events = {"type": "array", "items": {"$ref": REF.format(name="Event")}}
        responses["200"]["content"] = {
            "application/json": {"schema": {"type": "object", "properties": {"events": events}}}
        }
    if path == "/metrics":
        responses["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}
    operation["tags"] = [_tag_of(path)]
    operation["security"] = [] if path in PUBLIC else [{"bearer": []}]


def _without_key(operation: Json) -> None:
    """Reading twice changes nothing."""
    if "parameters" in operation:
        operation["parameters"] = [one for one in operation["parameters"] if one["name"] != "Idempotency-Key"]


def _stream() -> Json:
    text = {"type": "string"}
    return {
        "summary": "Stream",
        "operationId": "stream",
        "tags": ["sessions"],
        "description": "Server-sent events of several sessions; see docs/api.md.",
        "security": [{"bearer": []}],
        "parameters": [
            {"name": "session", "in": "query", "schema": {"type": "array", "items": text}, "description": "ID:SEQ"},
            {"name": "cursor", "in": "query", "schema": text},
            {"name": "overview", "in": "query", "schema": {"enum": ["0", "1"]}},
        ],
        "responses": {
            "200": {"description": "A stream of frames.", "content": {"text/event-stream": {"schema": text}}},
            "4XX": {"description": "A problem."},
            "503": {"description": "Too many streams."},
        },
    }
