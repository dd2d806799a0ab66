"""Events and commands on the wire: closed, versioned, flat."""

from typing import Any, get_args

import msgspec
import pytest

from assent import events
from assent.commands import Command, Submit, decode_command, encode_command
from assent.events import DurableEvent, Envelope, Event, NewerFormat, PromptSubmitted, from_wire, to_wire, type_of

ENVELOPE_NAMES = {"seq", "ts", "session", "v", "type"}


def kinds(union: Any) -> list[type[Any]]:
    return list(get_args(union))


def test_an_event_on_the_wire_is_one_flat_object_and_comes_back_the_same():
    envelope = Envelope(7, 1.5, "s", PromptSubmitted("s########0", "hi", "ann"))
    wire = to_wire(envelope)
    assert msgspec.json.decode(wire) == {
        "seq": 7,
        "ts": 1.5,
        "session": "s",
        "v": 1,
        "type": "prompt.submitted",
        "prompt_id": "s########0",
        "text": "hi",
        "by": "ann",
    }
    assert from_wire(wire) == envelope


@pytest.mark.parametrize("kind", kinds(Event), ids=lambda kind: kind.__name__)
def test_no_event_uses_a_name_of_the_envelope(kind: type[Any]):
    assert not ENVELOPE_NAMES & set(kind.__struct_fields__)


@pytest.mark.parametrize("kind", kinds(Event), ids=lambda kind: kind.__name__)
def test_every_event_is_frozen_and_has_its_own_name(kind: type[Any]):
    assert kind.__struct_config__.frozen
    names = [other.__struct_config__.tag for other in kinds(Event)]
    assert names.count(kind.__struct_config__.tag) == 1


def test_the_union_holds_every_event_class_of_the_module():
    classes = {
        value for value in vars(events).values() if isinstance(value, type) and issubclass(value, events.EventBase)
    }
    assert classes - {events.EventBase} == set(kinds(Event))
    assert set(kinds(DurableEvent)) < set(kinds(Event))


def test_an_event_of_a_newer_format_is_refused_not_guessed():
    wire = to_wire(Envelope(1, 1.0, "s", PromptSubmitted("p", "hi", "ann"))).replace(b'"v":1', b'"v":2')
    with pytest.raises(NewerFormat, match="newer Assent"):
        from_wire(wire)


@pytest.mark.parametrize("wire", [b"", b"{}", b'{"type":"nothing.known"}', b'{"type":"prompt.submitted"}', b"[1]"])
def test_anything_but_an_event_is_refused(wire: bytes):
    with pytest.raises(msgspec.MsgspecError):
        events.decode_event(wire)


@pytest.mark.parametrize("kind", kinds(Command), ids=lambda kind: kind.__name__)
def test_every_command_says_who_asks(kind: type[Any]):
    assert "by" in kind.__struct_fields__


def test_commands_survive_the_wire():
    command = Submit("hi\x00\ud7ff", by="ann")
    assert decode_command(encode_command(command)) == command


def test_the_type_of_an_event_is_its_name_on_the_wire():
    assert type_of(PromptSubmitted("p", "t", "b")) == "prompt.submitted"
