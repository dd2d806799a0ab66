"""One conversation with everything in it, for the tests of what goes over the wire."""

from assent.models.model_protocol import Request
from assent.parts import Call, Declaration, Media, ModelMessage, ModelPart, Result, Text, UserMessage

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = Declaration("read_file", "Reads a file.", SCHEMA)
PNG = Media("image/png", "aGVsbG8=")
PDF = Media("application/pdf", "JVBERg==")
HELLO = Request(system="", messages=(UserMessage((Text("hello"),)),))


def talk(model: str, *thoughts: ModelPart) -> Request:
    """`model` made the calls, after these thoughts."""
    reply = (*thoughts, Text("Reading."), Call("c1", "read_file", {"path": "a.png"}), Call("c.2", "read_file", {}))
    return Request(
        system="Be brief.",
        messages=(
            UserMessage((Text("Read a.png"), PNG, PDF)),
            ModelMessage(reply, model),
            UserMessage(
                (
                    Result("c1", "read_file", {"output": "a picture"}, (PNG,)),
                    Result("c.2", "read_file", {"error": "no such file"}),
                )
            ),
        ),
        tools=(TOOL,),
        conversation="chat-7",
    )
